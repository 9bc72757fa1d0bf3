/** Tests of comparisons from folders to pages: what is read, what is left out, and what a page shows of it. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { comparisonSchema } from "../../src/compare/comparison_schema.ts";
import { UserError } from "../../src/core/errors.ts";
import { chartsOf } from "../../src/report/chart.ts";
import { comparisonPages } from "../../src/report/comparison_pages.ts";
import type { Comparison, ComparisonData } from "../../src/report/comparison_data.ts";
import { type ComparisonRequest, readComparison } from "../../src/report/files/comparison.ts";
import { readContent } from "../../src/report/files/content.ts";
import { ownSettings } from "../../src/report/files/runs_to_compare.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import type { RunSettings } from "../../src/run/run_settings.ts";
import { writeOutcome } from "../../src/sweep/outcomes.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { writeSyntheticRun, writeSyntheticSweep } from "../compare/synthetic_runs.ts";
import { withFolder } from "../files/with_folder.ts";
import { HOSTILE } from "./fixture.ts";

const SPREAD = [0, 0.04, -0.03, 0.02, -0.05, 0.01];

/** Two algorithms and two learning rates; one cell is not finished, one has failed before its first step. */
function writeTwoAxes(path: string): void {
  writeSyntheticSweep(path, {
    axes: { algorithm: ["grpo", "rloo"], lr: [0.001, 0.01] },
    seeds: 5,
    settings: { steps: 9 },
    scoreOf: ({ algorithm, lr }, seed) =>
      (algorithm === "grpo" ? 0.7 : 0.3) + (lr === 0.001 ? 0.1 : 0) + SPREAD[seed],
    rowsOf: ({ algorithm, lr }, seed) =>
      algorithm === "rloo" && lr === 0.01
        ? (seed === 4 ? 4 : seed === 3 ? 0 : undefined)
        : undefined,
  });
  Deno.mkdirSync(sweepPaths(path).outcomes);
  writeOutcome(path, {
    id: "0000000000000012",
    outcome: {
      state: "failed",
      attempts: 1,
      exitCode: 4,
      problem: "the disk is full",
      host: "a",
      ended: "2026-01-31T12:00:00.000Z",
      durationMs: 1,
      result: null,
    },
  });
}

async function overSeeds(paths: readonly string[], request: ComparisonRequest = {}) {
  const data = await readComparison(paths, request);
  const { comparison } = data;
  assert(comparison.kind === "seeds");
  return { data, comparison };
}

/** What is printed as JSON is what the schema says, and nothing besides. */
function assertDescribed(comparison: Comparison): void {
  const printed = JSON.parse(JSON.stringify(comparison));
  assertEquals(comparisonSchema.parse(printed), printed);
}

function pageOf(data: ComparisonData): string {
  return comparisonPages(data, 0).map(({ body }) => body.markup).join("");
}

Deno.test("readComparison() reads a sweep: groups by its axes, unfinished and failed cells with the reason", () =>
  withFolder(async (folder) => {
    writeTwoAxes(folder);
    const { data, comparison } = await overSeeds([folder]);
    assertEquals(comparison.groups.map(({ name, runs }) => [name, runs]), [
      ["grpo lr=0.001", 5],
      ["grpo lr=0.01", 5],
      ["rloo lr=0.001", 5],
      ["rloo lr=0.01", 3],
    ]);
    assertEquals(comparison.leftOut.map(({ group, why }) => [group, why]), [
      ["rloo lr=0.01", "it has not begun; it failed: the disk is full"],
      ["rloo lr=0.01", "it is not finished: 4 of 9 steps"],
    ]);
    assertEquals(comparison.axes, ["algorithm", "lr"]);
    assertEquals(comparison.groups[0].episodesPerStep, 64);
    assertEquals(comparison.pairs.map(({ noClaim }) => noClaim), [
      undefined,
      undefined,
      "few-seeds",
      undefined,
      "few-seeds",
      "few-seeds",
    ]);
    assertDescribed(comparison);

    const markup = pageOf(data);
    for (
      const part of ["sortable", "<polyline", 'class="heat"', "the disk is full", "Not claimed"]
    ) {
      assertStringIncludes(markup, part);
    }
    // Cells of the map: the mean of a group, shaded by its place between worst and best.
    assertMatch(markup, /<span class="h5">0\.7\d+<\/span>/);
    assertMatch(markup, /<span class="h0">0\.3\d+<\/span>/);
    const charts = comparisonPages(data, 0).flatMap(({ body }) => chartsOf(body));
    const score = charts.find(({ title }) => title.startsWith("eval_score"));
    assertEquals(score?.series.map(({ name }) => name), comparison.groups.map(({ name }) => name));
    assertEquals(score?.bands?.map(({ name }) => name.split(", ")[1]), [
      "95 % interval of the mean",
      "95 % interval of the mean",
      "95 % interval of the mean",
      "lowest to highest seed",
    ]);
    // A report of a sweep is its comparison.
    const content = await readContent([folder]);
    assertEquals(content.comparisons.map(({ comparison: { kind } }) => kind), ["seeds"]);
  }));

Deno.test("readComparison() leaves out a run that has just begun, is damaged or was cut off, and compares the others", () =>
  withFolder(async (folder) => {
    writeSyntheticSweep(folder, {
      axes: { algorithm: ["grpo", "rloo"] },
      seeds: 5,
      scoreOf: (_, seed) => 0.5 + seed / 100,
    });
    const { runs } = sweepPaths(folder);
    const file = (cell: number, name: string) => `${runs}/000000000000000${cell}/${name}`;
    Deno.writeTextFileSync(file(0, "metrics.jsonl"), "");
    Deno.removeSync(file(1, "metrics.jsonl"));
    Deno.writeTextFileSync(file(2, "config.json"), '{"config": {');
    Deno.writeTextFileSync(file(3, "metrics.jsonl"), "no log\n");
    const whole = Deno.readTextFileSync(file(4, "metrics.jsonl"));
    Deno.writeTextFileSync(file(4, "metrics.jsonl"), whole.slice(0, -40));
    const { comparison } = await overSeeds([folder]);
    assertEquals(comparison.groups.map(({ name, runs }) => [name, runs]), [["rloo", 5], [
      "grpo",
      0,
    ]]);
    const why = comparison.leftOut.map(({ why }) => why);
    assertEquals(why.slice(0, 2), ["it has made no step", "it has made no step"]);
    assertMatch(why[2], /^it cannot be read: .*config\.json.* is not valid JSON/);
    assertMatch(why[3], /^it cannot be read: /);
    assertEquals(why[4], "it is not finished: 12 of 13 steps");
  }));

Deno.test("readComparison() groups run folders by their settings, and writes nothing of its own into groups", () =>
  withFolder(async (folder) => {
    const paths = [0, 1, 2].flatMap((seed) =>
      (["grpo", "rloo"] as const).map((algorithm) => {
        const path = `${folder}/${algorithm}-${seed}`;
        // How often a run is saved changes nothing that it computes.
        const flags = { algorithm, seed, checkpointEvery: 1 + seed };
        writeSyntheticRun(path, { flags, score: 0.4 + seed / 10 });
        return path;
      })
    );
    const { comparison } = await overSeeds(paths);
    assertEquals(comparison.groups.map(({ name, runs }) => [name, runs]), [["grpo", 3], [
      "rloo",
      3,
    ]]);
    assertEquals(comparison.pairs[0].noClaim, "few-seeds");
    const { comparison: inside } = await overSeeds([folder]);
    assertEquals(inside.groups.map(({ runs }) => runs), [3, 3]);
    const reward = await overSeeds([folder], { metric: "pass_rate" });
    assertEquals(reward.comparison.scoreRule, "last_four");
    await assertRejects(
      () => readComparison([folder], { metric: "pass_rat" }),
      UserError,
      'did you mean "pass_rate"?',
    );
  }));

Deno.test("ownSettings() holds what a run reads: the gym's settings, or the environment that stands in its place", () => {
  const config = resolveConfig({ flags: { algorithm: "grpo", seed: 3 } });
  const settings = {
    config,
    base: { kind: "untrained", seed: 3 },
    bug: null,
    baseHash: null,
    adapter: null,
    starts: [],
  } as const;
  const gym = ownSettings(settings);
  assertEquals([gym.preset, gym.maxTurns, gym.environment], ["rl", 6, undefined]);
  const environment = { name: "doors" } as RunSettings["environment"];
  const own = ownSettings({ ...settings, ...(environment && { environment }) });
  assertEquals([own.preset, own.maxTurns, own.environment], [undefined, undefined, "doors"]);
  assertEquals([own.base, own.seed, own.checkpointEvery], ["untrained", undefined, undefined]);
});

Deno.test("readComparison() of two runs goes step by step, and its page overlays their curves", () =>
  withFolder(async (folder) => {
    const [a, b] = ["a", "b"].map((name) => `${folder}/${name}`);
    const flags = { algorithm: "grpo", steps: 30 };
    writeSyntheticRun(a, { flags, score: 0.9 });
    writeSyntheticRun(b, { flags: { ...flags, seed: 1 }, score: 0.2 });
    const data = await readComparison([a, b]);
    assert(data.comparison.kind === "steps");
    const [pair] = data.comparison.pairs;
    assertEquals(pair.settings, [{ name: "seed", values: [0, 1], isTold: [true, true] }]);
    assertEquals(pair.metrics[0].verdict, "parts");
    assertDescribed(data.comparison);
    const markup = pageOf(data);
    assertStringIncludes(markup, "First to part is reward");
    const charts = comparisonPages(data, 0).flatMap(({ body }) => chartsOf(body));
    assert(charts.length > 8);
    assertEquals(charts[0].series.map(({ name }) => name), ["first", "second"]);
    const { comparison: same } = await readComparison([a, a]);
    assert(same.kind === "steps" && same.pairs[0].isSameSetup);
    assertEquals(same.pairs[0].equal?.firstDifferent, null);
  }));

Deno.test("readComparison() refuses what cannot be compared, in one sentence", () =>
  withFolder(async (folder) => {
    const run = `${folder}/run`;
    writeSyntheticRun(run, { flags: { algorithm: "grpo" }, score: 0.5 });
    const refused = (paths: readonly string[], says: string, request?: ComparisonRequest) =>
      assertRejects(() => readComparison(paths, request), UserError, says);
    await refused([run], "it is one run; name a second one");
    await refused([run], "nonsense: the run does not have it; choose one of", {
      by: "seeds",
      metric: "nonsense",
    });
    await refused([`${folder}/none`], "there is no such file or folder");
    const sweep = `${folder}/sweep`;
    writeSyntheticSweep(sweep, { axes: { lr: [0.1] }, seeds: 1, scoreOf: () => 0.5 });
    await refused([sweep, run], "it is a sweep; name two of the runs", { by: "steps" });
    Deno.writeTextFileSync(`${sweep}/sweep.json`, "{");
    await refused([sweep], "is not valid JSON");
  }));

Deno.test("comparePage() escapes what others wrote: names of groups, settings, paths", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    const rows = Array.from({ length: 8 }, (_, step) => ({ step, [HOSTILE]: step, reward: 0.5 }));
    Deno.writeTextFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const groups = new Map([[path, HOSTILE]]);
    const { data } = await overSeeds([path], { groups, metric: HOSTILE });
    const markup = pageOf(data);
    assertStringIncludes(markup, "&lt;/script&gt;");
    assert(!markup.includes("<img"));
  }));
