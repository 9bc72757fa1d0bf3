/** A property of judgeLog(): healthy runs of random shapes, on any scale of rewards, are not accused. */
import { assertEquals } from "@std/assert";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import {
  healthyRows,
  type Shape,
  uniforms,
  viewOf,
  type Writer,
  WRITERS,
} from "./synthetic_runs.ts";

/** A random shape in which nothing is wrong: entropy and lengths move far only where the reward does as well. */
function randomShape(seed: number, random: () => number): Shape & { readonly every: number } {
  const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)]!;
  const from = 0.02 + 0.85 * random();
  const to = random() < 0.7 ? Math.min(0.99, from + 0.15 + (0.95 - from) * random()) : from;
  const every = pick([1, 1, 5, 10]);
  const learnsMuch = to - from > 0.25;
  const groups = pick([1, 2, 4, 8, 32]);
  return {
    seed,
    every,
    from,
    to,
    steps: Math.floor(8 + 400 * random() ** 2) * every,
    half: 0.1 + 0.6 * random(),
    groups,
    groupSize: pick([2, 4, 8, 16]),
    gap: 0.003 + 0.015 * random(),
    lengthGrowth: learnsMuch ? -0.6 + 3 * random() : -0.3 + 0.6 * random(),
    // The more prompts a step has, the less the mean of their hardness wanders.
    wander: 0.3 * random() * Math.min(1, 2 / Math.sqrt(groups)),
    updates: pick([1, 4]),
    schedule: pick(["constant", "linear", "cosine"] as const),
    ...(random() < 0.5 ? { decimals: pick([3, 4]) } : {}),
    spikes: 0.04 * random() ** 2,
    entropyLeft: learnsMuch ? 0.05 + 1.2 * random() : 0.4 + random(),
  };
}

Deno.test("judgeLog() accuses no healthy run of a random shape", () => {
  const accused: string[] = [];
  for (let seed = 1; seed <= 150; seed++) {
    const random = uniforms(seed * 7919);
    const shape = randomShape(seed, random);
    const rows = healthyRows(shape);
    // Rewards from 0 to 1, from -3 to 2; with the period of an epoch, or without.
    const [scale, offset] = random() < 0.3 ? [5, -3] : [1, 0];
    const swing = random() < 0.3 ? 0.06 : 0;
    rows.forEach((row, i) => {
      const reward = Math.min(1, Math.max(0, row.reward! + swing * Math.sin(2 * Math.PI * i / 25)));
      row.reward = offset + scale * reward;
      row.rewardStd! *= scale;
    });
    const settings = shape.updates === 4 ? { updatesPerBatch: 4 } : {};
    for (const writer of Object.keys(WRITERS) as Writer[]) {
      const { every, decimals } = shape;
      for (const finding of judgeLog(viewOf(rows, { writer, every, decimals, settings }))) {
        if (finding.class !== "violated" && finding.class !== "suspect") continue;
        accused.push(`${writer} ${seed}: ${finding.sentence}`);
      }
    }
  }
  assertEquals(accused, []);
});
