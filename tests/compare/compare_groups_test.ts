/** Tests of a comparison over seeds: groups and names, which differ, and all that keeps it from claiming. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { compareGroups } from "../../src/compare/compare_groups.ts";
import { caveats, pairSentence, pairVerdict } from "../../src/compare/group_sentences.ts";
import type { RunRecord, Settings } from "../../src/compare/run_record.ts";

const SPREAD = [0, 0.03, -0.02, 0.05, -0.04, 0.01, -0.01, 0.02];

/** Runs of one method, a seed each, whose last score is around a value. */
function runsOf(
  method: Settings,
  center: number,
  options: { readonly seeds?: number; readonly changes?: Partial<RunRecord> } = {},
): RunRecord[] {
  const { seeds = 6, changes = {} } = options;
  return Array.from({ length: seeds }, (_, seed): RunRecord => ({
    path: `${Object.values(method).join("-")}/${seed}`,
    seed,
    method,
    environment: { preset: "rl" },
    axes: ["algorithm"],
    curves: new Map([[
      "eval_score",
      { steps: [0, 10, 20], values: [0.1, center / 2, center + SPREAD[seed]] },
    ]]),
    episodesPerStep: 64,
    ...changes,
  }));
}

const GOOD = { algorithm: "grpo", lr: 0.001 };
const BAD = { algorithm: "rloo", lr: 0.001 };

Deno.test("compareGroups() says which of two methods is better, with intervals, best and worst seed and steps", () => {
  const comparison = compareGroups([...runsOf(BAD, 0.3), ...runsOf(GOOD, 0.7)], { threshold: 0.5 });
  const [first, second] = comparison.groups;
  assertEquals(comparison.groups.map(({ name, runs }) => [name, runs]), [["grpo", 6], ["rloo", 6]]);
  assert(first.meanInterval && first.meanInterval.low > 0.6 && first.meanInterval.high < 0.8);
  assert(first.middleInterval && first.middleInterval.low < (first.middle ?? NaN));
  assertEquals([first.best?.seed, first.worst?.seed], [3, 4]);
  assertEquals([first.efficiency?.medianSteps, first.efficiency?.reached], [20, 6]);
  assertEquals([second.efficiency?.medianSteps, second.efficiency?.reached], [null, 0]);
  assertEquals(first.episodesPerStep, 64);
  const [pair] = comparison.pairs;
  assertEquals([pair.differs, pairVerdict(pair), pair.improvement?.estimate], [true, "differs", 1]);
  assertMatch(
    pairSentence(comparison, pair),
    /^grpo is better than rloo: .*1\.00 \(0\.\d+-1\.00\)\.$/,
  );
  assertEquals([pair.paired?.pairs, pair.paired?.higher], [6, 6]);
  assertEquals(comparison.differences, [{ name: "algorithm", values: ["grpo", "rloo"] }]);
  assertEquals(comparison.axes, ["algorithm"]);
});

Deno.test("compareGroups() tells methods that overlap not apart", () => {
  const comparison = compareGroups([...runsOf(GOOD, 0.5), ...runsOf(BAD, 0.505)]);
  assertEquals(comparison.pairs.map(pairVerdict), ["not-told-apart"]);
});

Deno.test("compareGroups() claims nothing of fewer than five seeds, and says so", () => {
  const comparison = compareGroups([...runsOf(GOOD, 0.9, { seeds: 4 }), ...runsOf(BAD, 0.1)]);
  const [group] = comparison.groups;
  assertEquals([group.meanInterval, group.middleInterval, group.noInterval], [
    null,
    null,
    "few-seeds",
  ]);
  const [pair] = comparison.pairs;
  assertEquals([pair.differs, pair.noClaim], [null, "few-seeds"]);
  assertStringIncludes(pairSentence(comparison, pair), "grpo has 4 seeds");
  assert(caveats(comparison).some((text) => /grpo has 4 seeds: of fewer than 5/.test(text)));
  // The band of its curves is what the seeds did, and no interval.
  assertEquals(group.curves.map(({ isInterval }) => isInterval), [false]);
});

Deno.test("compareGroups() gives equal scores no interval", () => {
  const curves = new Map([["eval_score", { steps: [0], values: [1] }]]);
  const comparison = compareGroups([
    ...runsOf(GOOD, 1, { changes: { curves } }),
    ...runsOf(BAD, 0.5),
  ]);
  assertEquals(comparison.groups[0].noInterval, "equal-scores");
  assert(caveats(comparison).some((text) => text.includes("All 6 runs of grpo scored 1")));
});

Deno.test("compareGroups() leaves out runs without a score and repeated seeds, each with its reason", () => {
  const [stopped, repeated, broken] = [...runsOf(GOOD, 0.7, { seeds: 3 })];
  const curves = new Map([["eval_score", { steps: [0], values: [NaN] }]]);
  const comparison = compareGroups([
    ...runsOf(GOOD, 0.7),
    { ...stopped, path: "a", leftOut: "it is not finished: 3 of 20 steps" },
    { ...repeated, path: "b" },
    { ...broken, path: "c", seed: 77, curves },
    { ...broken, path: "d", seed: 78, curves: new Map() },
  ]);
  assertEquals(comparison.leftOut.map(({ path, why }) => [path, why]), [
    ["a", "it is not finished: 3 of 20 steps"],
    ["b", "it repeats seed 1 of grpo-0.001/1"],
    ["c", "its last eval_score is not finite"],
    ["d", "it has no eval_score"],
  ]);
  assertEquals(comparison.groups[0].runs, 6);
  assert(caveats(comparison).some((text) => text.startsWith("A method whose runs break off")));
});

Deno.test("compareGroups() has settings of the environment as strata, and compares only those that both ran in", () => {
  const other = { environment: { preset: "chapter6" } };
  const both = compareGroups([
    ...runsOf(GOOD, 0.3),
    ...runsOf(GOOD, 0.9, { changes: other }),
    ...runsOf(BAD, 0.2),
  ]);
  assertEquals(both.groups[0].strata.map(({ name, seeds }) => [name, seeds.length]), [
    ["preset=chapter6", 6],
    ["preset=rl", 6],
  ]);
  assert(Math.abs((both.groups[0].mean ?? NaN) - 0.605) < 1e-9);
  assertEquals(both.pairs[0].sharedStrata, ["preset=rl"]);
  const apart = compareGroups([...runsOf(GOOD, 0.9, { changes: other }), ...runsOf(BAD, 0.2)]);
  assertEquals([apart.pairs[0].noClaim, apart.pairs[0].improvement], ["no-shared-setting", null]);
});

Deno.test("compareGroups() decides at a level that holds for all pairs together", () => {
  const runs = Array.from(
    { length: 7 },
    (_, i) => runsOf({ algorithm: `a${i}` }, 0.3 + i / 2, { seeds: 5 }),
  ).flat();
  const comparison = compareGroups(runs);
  assertEquals(comparison.pairs.length, 21);
  // Total separation of five seeds is no longer enough among 21 pairs.
  assertEquals(new Set(comparison.pairs.map(pairVerdict)), new Set(["alone"]));
  assertEquals(comparison.pairs.every(({ improvement }) => improvement?.estimate === 1), true);
});

Deno.test("compareGroups() compares many groups with the best one only", () => {
  const runs = Array.from({ length: 12 }, (_, i) => runsOf({ lr: i }, 0.1 * i)).flat();
  const { groups, pairs } = compareGroups(runs);
  assertEquals(pairs.map(({ first }) => first), Array(11).fill(0));
  assertEquals(groups[0].name, "11");
});

Deno.test("compareGroups() turns around where less is better", () => {
  const of = (value: number) => ({
    curves: new Map([["gap", { steps: [0, 1, 2, 3, 4], values: [9, value, value, value, value] }]]),
  });
  const runs = [
    ...runsOf(GOOD, 0).map((run, i) => ({ ...run, ...of(0.1 + i / 100) })),
    ...runsOf(BAD, 0).map((run, i) => ({ ...run, ...of(0.4 + i / 100) })),
  ];
  const comparison = compareGroups(runs, { metric: "gap" });
  assertEquals([comparison.lowerIsBetter, comparison.scoreRule], [true, "last_four"]);
  assertEquals(comparison.groups.map(({ name }) => name), ["grpo", "rloo"]);
  assertEquals([comparison.groups[0].best?.seed, comparison.pairs[0].differs], [0, true]);
});

Deno.test("groups are named by what tells them apart: axes that differ, with the key of a number", () => {
  const runs = [0.1, 0.01].flatMap((lr) =>
    ["grpo", "rloo"].flatMap((algorithm) =>
      runsOf({ algorithm, clip: algorithm === "grpo" ? 0.2 : null, lr }, lr, {
        seeds: 1,
        changes: { axes: ["algorithm", "lr"] },
      })
    )
  );
  const { groups, differences } = compareGroups(runs);
  assertEquals(groups.map(({ name }) => name).sort(), [
    "grpo lr=0.01",
    "grpo lr=0.1",
    "rloo lr=0.01",
    "rloo lr=0.1",
  ]);
  assertEquals(differences.map(({ name }) => name), ["algorithm", "lr", "clip"]);
  const given = runsOf(GOOD, 1, { seeds: 2, changes: { group: "mine" } });
  assertEquals(compareGroups(given).groups.map(({ name }) => name), ["mine"]);
  assertEquals(compareGroups(runsOf(GOOD, 1)).groups.map(({ name }) => name), ["all runs"]);
});

Deno.test("compareGroups() counts what triage says over the runs of each group", () => {
  const findings = [{ id: "gap", class: "suspect" }, { id: "nan", class: "violated" }] as const;
  const comparison = compareGroups([
    ...runsOf(GOOD, 0.7, { changes: { findings: [] } }),
    ...runsOf(BAD, 0.3, { changes: { findings } }),
  ]);
  assertEquals(comparison.findings, [
    { id: "nan", class: "violated", counts: [0, 6] },
    { id: "gap", class: "suspect", counts: [0, 6] },
  ]);
  assertEquals(compareGroups(runsOf(GOOD, 0.7)).findings, undefined);
});
