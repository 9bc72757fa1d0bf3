/** Token dumps are judged by definitions: shifts, gaps, and what too few tokens cannot tell. */
import { assertEquals } from "@std/assert";
import { randomSequence, STREAM } from "../../../src/core/rng.ts";
import { judgeTokens } from "../../../src/diagnose/tokens/judge_tokens.ts";
import type { TokenSequence } from "../../../src/tokens/token_batch.ts";
import { dumpOf, made } from "./made_sequences.ts";

/** Sequences whose trainer differs from their sampler by noise, moved by an offset. */
function sequencesOf(
  { offset = 0, noise = 0.015, lengths = [60] }: {
    readonly offset?: number;
    readonly noise?: number;
    readonly lengths?: readonly number[];
  },
): TokenSequence[] {
  const random = randomSequence({ seed: 7, stream: STREAM.experiment });
  return lengths.map((length) => {
    const ids = Array.from({ length }, () => random.integer(1000));
    const truth = ids.map(() => Math.log(1 - random.uniform()));
    const trainer = truth.map((_, i) =>
      (truth[i - offset] ?? -1) + noise * Math.sqrt(Math.PI / 2) * random.normal()
    );
    const mask = ids.map((_, i) => Number(i >= 5));
    return made({ ids, mask, logProbs: { sampler: truth, trainer } });
  });
}

async function classesOf(sequences: readonly TokenSequence[]): Promise<Record<string, string>> {
  const findings = await judgeTokens(dumpOf(sequences));
  return Object.fromEntries(findings.map((finding) => [finding.id, finding.class]));
}

Deno.test("judgeTokens() names a shift in either direction from 60 tokens, and no shift without one", async () => {
  for (const offset of [-2, -1, 1, 2]) {
    const [first] = await judgeTokens(dumpOf(sequencesOf({ offset })));
    assertEquals([first.id, first.class, first.value], ["shifted_log_probs", "violated", offset]);
  }
  assertEquals((await classesOf(sequencesOf({})))["shifted_log_probs"], "holds");
  assertEquals(
    (await classesOf(sequencesOf({ lengths: [9] })))["shifted_log_probs"],
    "not-checkable",
  );
});

Deno.test("judgeTokens() calls bf16-sized noise right, ten times as much suspect, and too few tokens neither", async () => {
  const id = "sampler_trainer_gap_tokens";
  const lengths = [80, 80, 80];
  assertEquals((await classesOf(sequencesOf({ lengths })))[id], "holds");
  assertEquals((await classesOf(sequencesOf({ lengths, noise: 0.2 })))[id], "suspect");
  assertEquals((await classesOf(sequencesOf({ lengths: [20] })))[id], "not-checkable");
});
