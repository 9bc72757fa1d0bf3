/** Tests of tests/bench/step_table.ts: the table of docs/speed.md from documents of several sittings. */
import { assertEquals } from "@std/assert";
import { shortTime, type StepDocument, stepTable } from "./step_table.ts";

/** A sitting in which every time of ours is `scale` times that of the first one, and the peer's stay. */
function sitting(scale: number): StepDocument {
  const step = (ms: number) => ({ oursMs: scale * ms, peerMs: 2 * ms });
  const rollout = (ms: number) => ({ oursMsPerToken: scale * ms, peerMsPerToken: 4 * ms });
  return {
    ...{ cpu: "a CPU, 2 threads", adapter: "an adapter", rounds: 5, hostMs: 4 * scale },
    ...{ reinforce: step(100), grpo: step(110), healthyRun: step(2640), cloning: step(6510) },
    ...{ rollout256: rollout(0.0263), rollout1024: rollout(0.0217) },
  };
}

Deno.test("stepTable() has medians of times and of the sittings' own ratios", () => {
  const lines = stepTable([sitting(1), sitting(1.5), sitting(1.1)], [sitting(2)]);
  const cells = (line: string) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  assertEquals(cells(lines[2]).slice(1), ["200 ms", "110 ms", "200 ms", "0.55 (0.50-0.75)"]);
  assertEquals(cells(lines[4]).slice(1), ["5.28 s", "2.90 s", "5.28 s", "0.55 (0.50-0.75)"]);
  assertEquals(cells(lines[6]).slice(1), ["52.6 µs", "28.9 µs", "105 µs", "0.28 (0.25-0.38)"]);
  assertEquals(lines.at(-1)?.startsWith("3 sittings of 5 rounds on a CPU, 2 threads"), true);
});

Deno.test("stepTable() leaves out what no peer was asked for", () => {
  const alone = { ...sitting(1), grpo: { oursMs: 110, peerMs: null } };
  assertEquals(stepTable([alone])[3].split("|").map((cell) => cell.trim()).slice(2, -1), [
    "110 ms",
    "–",
    "–",
  ]);
});

Deno.test("shortTime() has three digits", () => {
  assertEquals([0.0217, 9.994, 109.4, 2640].map(shortTime), [
    "21.7 µs",
    "9.99 ms",
    "109 ms",
    "2.64 s",
  ]);
});
