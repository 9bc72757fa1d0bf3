/** Tests of running experiments: what is kept, what goes on after a stop, what is refused. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { commonCalls } from "../../src/lab/agents.ts";
import type { Experiment, LabContext } from "../../src/lab/experiment.ts";
import { EXPERIMENTS } from "../../src/lab/experiments.ts";
import {
  type LabOptions,
  labPath,
  type LabProgress,
  readLabRecord,
  runLab,
  selectExperiments,
} from "../../src/lab/lab.ts";
import { handEpisode } from "./hand_batch.ts";
import { withFolder } from "../files/with_folder.ts";

const IDENTITY = { seed: 3, quick: true, version: "1.2.3", adapter: "none" };

/** An experiment that notes that it ran. */
function fake(
  name: string,
  run: (context: LabContext) => Promise<unknown> | unknown,
): Experiment {
  return {
    name,
    title: `Title of ${name}`,
    shows: "Nothing.",
    tutorial: { x: 1 },
    variants: { other: "another assumption" },
    costSeconds: 2,
    run: async (context) => ({
      tables: [{ title: "t", columns: ["a"], rows: [[1], [null], ["x"]] }],
      figures: [],
      // Not a finite number: JSON makes it null.
      checks: [{ requirement: "r", value: Infinity, holds: true }],
      data: { value: await run(context) },
    }),
  };
}

function options(
  out: string,
  experiments: readonly Experiment[],
  more: Partial<LabOptions> = {},
): LabOptions {
  return {
    experiments,
    commands: undefined as never, // The fakes need no device.
    identity: IDENTITY,
    variant: undefined,
    out,
    fresh: false,
    onProgress: () => {},
    onRecord: () => {},
    ...more,
  };
}

Deno.test("runLab() goes on after a stop with the missing experiments", async () => {
  await withFolder(async (folder) => {
    const ran: string[] = [];
    const first = fake("first", () => ran.push("first"));
    let stops = true;
    const second = fake("second", () => {
      ran.push("second");
      if (stops) throw new Error("stopped");
    });
    const out = `${folder}/deep/lab`;
    await assertRejects(() => runLab(options(out, [first, second])), Error, "stopped");
    assertEquals(Array.from(Deno.readDirSync(out), ({ name }) => name), ["first.json"]);
    stops = false;
    const isNew: boolean[] = [];
    const records = await runLab(
      options(out, [first, second], { onRecord: (_, fresh) => isNew.push(fresh) }),
    );
    assertEquals(ran, ["first", "second", "second"]);
    assertEquals(isNew, [false, true]);
    assertEquals(records.map(({ experiment }) => experiment), ["first", "second"]);
  });
});

Deno.test("runLab() runs again for another seed, size, version, adapter, a damaged file, or when asked", async () => {
  await withFolder(async (out) => {
    let runs = 0;
    const experiment = fake("only", () => ++runs);
    await runLab(options(out, [experiment]));
    await runLab(options(out, [experiment]));
    assertEquals(runs, 1);
    for (const changed of [{ seed: 4 }, { quick: false }, { version: "2" }, { adapter: "gpu" }]) {
      const before = runs;
      await runLab(options(out, [experiment], { identity: { ...IDENTITY, ...changed } }));
      assertEquals(runs, before + 1, JSON.stringify(changed));
    }
    await runLab(options(out, [experiment]));
    Deno.writeTextFileSync(`${out}/only.json`, '{"experiment": "only"}');
    const before = runs;
    await runLab(options(out, [experiment]));
    await runLab(options(out, [experiment], { fresh: true }));
    assertEquals(runs, before + 2);
  });
});

Deno.test("runLab() keeps a variant in a file of its own, with everything that a report needs", async () => {
  await withFolder(async (out) => {
    const experiment = fake("only", ({ variant }) => variant);
    await runLab(options(out, [experiment], { variant: "other" }));
    assertEquals(readLabRecord(labPath(out, "only", undefined)), undefined);
    const record = readLabRecord(labPath(out, "only", "other"));
    assert(record);
    assertEquals([record.variant, record.data.value], ["other", "other"]);
    assertEquals(record.tables[0].rows, [[1], [null], ["x"]]);
    assertEquals(record.checks[0], { requirement: "r", value: null, holds: true });
    assertEquals(record.tutorial, { x: 1 });
  });
});

Deno.test("runLab() shares what experiments make, and says what runs and what remains", async () => {
  await withFolder(async (out) => {
    let made = 0;
    const uses = async ({ shared, progress }: LabContext) => {
      progress("half of it", 0.5);
      return await shared("agent", () => Promise.resolve(++made));
    };
    const seen: LabProgress[] = [];
    const records = await runLab(
      options(out, [fake("a", uses), fake("b", uses)], { onProgress: (state) => seen.push(state) }),
    );
    assertEquals(records.map(({ data }) => data.value), [1, 1]);
    assertEquals(seen.map(({ name, note, share, remaining }) => [name, note, share, remaining]), [
      ["a", "", 0, ["b"]],
      ["a", "half of it", 0.25, ["b"]],
      ["b", "", 0.5, []],
      ["b", "half of it", 0.75, []],
    ]);
  });
});

Deno.test("selectExperiments() keeps the lab's order and refuses what it does not know", () => {
  const names = (given: string[], variant?: string) =>
    selectExperiments(EXPERIMENTS, given, variant).map(({ name }) => name);
  assertEquals(names(["aggregation", "estimator"]), ["estimator", "aggregation"]);
  assertEquals(names([]).length, EXPERIMENTS.length);
  assertEquals(names([], "blind_only"), ["reinforce"]);
  assertThrows(() => names(["estimater"]), UserError, 'did you mean "estimator"?');
  assertThrows(() => names(["reinforce"], "blind"), UserError, 'no variant "blind"');
  assertThrows(() => names(["estimator"], "blind_only"), UserError, "estimator has no variant");
  assertThrows(() => names([], "nonsense"), UserError, "no experiment has a variant");
});

Deno.test("every experiment has a name of its own, a line, and a cost", () => {
  assertEquals(new Set(EXPERIMENTS.map(({ name }) => name)).size, EXPERIMENTS.length);
  for (const { name, title, shows, costSeconds } of EXPERIMENTS) {
    assert(/^[a-z_]+$/.test(name) && title.length <= 76 && shows.length > 40, name);
    assert(costSeconds > 0, name);
  }
});

Deno.test("commonCalls() counts sequences, the most common first, equal counts by name", () => {
  const episodes = [
    handEpisode(["edit swap_minmax", "submit"], 1),
    handEpisode(["submit"], 0),
    handEpisode(["edit swap_minmax", "submit"], 1),
    handEpisode(["read", "submit"], 0),
  ];
  assertEquals(commonCalls(episodes, 2), [
    { calls: "swap_minmax > submit", episodes: 2 },
    { calls: "read > submit", episodes: 1 },
  ]);
});
