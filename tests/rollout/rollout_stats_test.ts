/** Tests of src/rollout/rollout_stats.ts. */
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { wilsonInterval } from "../../src/core/statistics.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { rolloutStats, rolloutStatsBy } from "../../src/rollout/rollout_stats.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";

/** An episode with as many policy tokens as `policyTokens`, after two of the prompt. */
function episode(
  policyTokens: number,
  { reward = 0, ...info }: Partial<BugFixInfo> & { readonly reward?: number },
): Trajectory<BugFixInfo> {
  const owners = Uint8Array.from([1, 1, ...Array(policyTokens).fill(2), 3]);
  return {
    ids: new Uint32Array(owners.length),
    owners,
    logps: new Float32Array(owners.length),
    reward,
    info: {
      task: "total",
      turns: 2,
      malformed: 0,
      stop: "submit",
      calls: [],
      ops: [],
      reads: 0,
      tests: 0,
      submitted: true,
      hiddenPass: false,
      publicPass: false,
      ...info,
    },
  };
}

const EPISODES = [
  episode(7, { reward: 1, hiddenPass: true, publicPass: true, ops: ["fix_init"], reads: 1 }),
  // The right edit is not the first one, and it was never submitted: it does not pass.
  episode(24, {
    turns: 6,
    malformed: 2,
    stop: "budget",
    submitted: false,
    hiddenPass: true,
    ops: ["swap_minmax", "fix_init"],
  }),
  // Rewarded by the public tests.
  episode(8, { task: "energy", reward: 1, publicPass: true, ops: ["hardcode_tests"] }),
  episode(3, { task: "clamp", turns: 1 }),
];

Deno.test("rolloutStats() gives the means of hand-made episodes", () => {
  const { rate, low, high } = wilsonInterval(1, 4);
  assertEquals(rolloutStats(EPISODES), {
    episodes: 4,
    reward: 0.5,
    passRate: rate,
    passRateLow: low,
    passRateHigh: high,
    validCalls: 1 - 2 / 11,
    submitRate: 0.75,
    turns: 11 / 4,
    actionTokens: 42 / 4,
    reads: 0.25,
    edits: 1,
    hardcode: 0.25,
    firstEditRight: 0.25,
  });
  assertThrows(() => rolloutStats([]), RangeError);
});

Deno.test("rolloutStatsBy() sorts episodes by split, family and task, in the gym's order", () => {
  const counts = (grouping: "split" | "family" | "task") =>
    Array.from(rolloutStatsBy(EPISODES.toReversed(), grouping), ([name, stats]) => [
      name,
      stats.episodes,
    ]);
  assertEquals(counts("split"), [["train", 3], ["heldout", 1]]);
  assertEquals(counts("family"), [["fix_init", 3], ["swap_minmax", 1]]);
  assertEquals(counts("task"), [["total", 2], ["clamp", 1], ["energy", 1]]);
  const total = rolloutStatsBy(EPISODES, "task").get("total");
  assertAlmostEquals(total?.firstEditRight ?? NaN, 0.5);
  assertThrows(() => rolloutStatsBy([episode(1, { task: "nothing" })], "task"), RangeError);
});
