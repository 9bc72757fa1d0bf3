/** Tests of what triage is told of a run of ours: its setting from config.json, never its fault, and verdicts of later steps. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { DEBUG_BASE } from "../../src/faults/debug_base.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { readLaterChecks } from "../../src/run/later_checks_file.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { type RunSettings, writeSettings } from "../../src/run/run_settings.ts";
import { factsOf } from "../../src/faults/run_facts.ts";
import { readFacts } from "../../src/run/triage_facts.ts";
import { triageInput, triageRun } from "../../src/run/triage_run.ts";
import { withFolder } from "../files/with_folder.ts";

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const [{ rows: HEALTHY } = { rows: [] }] = HEALTHY_REFERENCE_FILE.seeds;

const TRIED = DEBUG_BASE.tried.at(-1)!;

function settings(others: Partial<RunSettings> = {}): RunSettings {
  return {
    config: resolveConfig({ sets: ["minibatches=3", "epochs=2", "aggregation=constant"] }),
    base: { kind: "rl", seed: 4 },
    bug: "sampler_temp",
    baseHash: null,
    adapter: null,
    starts: [],
    ...others,
  };
}

Deno.test("readFacts() tells algorithm, numbers, names, base agent and steps per batch, and not the fault", () =>
  withFolder((folder) => {
    const path = `${folder}/config.json`;
    writeSettings(path, settings());
    const { algorithm, settings: told = {} } = readFacts(path);
    assertEquals(algorithm, "grpo");
    const { lr, preset, aggregation, stepsPerUpdate, base } = told;
    assertEquals([lr, preset, aggregation, stepsPerUpdate, base], [
      0.001,
      "rl",
      "constant",
      6,
      "rl:4",
    ]);
    assert(!JSON.stringify(readFacts(path)).includes("sampler_temp"));
  }));

Deno.test("readFacts() knows a base agent in a file by its hash, and says nothing where another adapter may have made it", () =>
  withFolder((folder) => {
    const path = `${folder}/config.json`;
    const baseOf = (others: Partial<RunSettings>, known?: ReadonlyMap<string, string>) => {
      writeSettings(path, settings({ base: { file: "b.safetensors" }, ...others }));
      return readFacts(path, known && { known }).settings?.base;
    };
    const other = "0123456789abcdef".repeat(4);
    assertEquals(baseOf({ baseHash: TRIED.weightsHash }), `rl:${TRIED.seed}`);
    assertEquals(baseOf({ baseHash: other, adapter: "another" }), undefined);
    const adapter = `${DEBUG_BASE.adapter}, software`;
    assertEquals(baseOf({ baseHash: other, adapter }), "weights 0123456789abcdef");
    assertEquals(baseOf({ baseHash: other }, new Map([[other, "rl:2"]])), "rl:2");
    assertEquals(baseOf({}), undefined);
  }));

Deno.test("factsOf() takes what it can of any file", () => {
  for (const file of [null, 3, "x", [], { config: [1] }, { config: null }, {}]) {
    assertEquals(factsOf(file), { settings: {} });
  }
  const odd = factsOf({ config: { algorithm: 3, lr: "fast", epochs: 2, clip: [0.2] }, base: 1 });
  assertEquals(odd, { settings: { algorithm: 3, lr: "fast", epochs: 2 } });
});

Deno.test("readLaterChecks() reads verdicts with their steps, and refuses other rows", () =>
  withFolder((folder) => {
    const path = `${folder}/later_checks.jsonl`;
    const row = {
      step: 4,
      id: 2,
      name: "sampler = trainer log-prob",
      value: 0.2,
      relation: "<=",
      bound: 0,
      bound_reason: "one engine",
      verdict: "violated",
      reason: "largest gap",
    };
    Deno.writeTextFileSync(path, jsonl([row, { ...row, step: 8, value: null }]));
    const [first, second] = readLaterChecks(path);
    assertEquals([first?.step, first?.boundReason, second?.value], [4, "one engine", null]);
    Deno.writeTextFileSync(path, jsonl([row, { ...row, step: -1 }]));
    assertThrows(() => readLaterChecks(path), UserError, "row 2: step is -1");
  }));

Deno.test("triageRun() reads verdicts of later steps beside those before the first", () =>
  withFolder((folder) => {
    const { metrics, checks, config } = runPaths(folder);
    Deno.writeTextFileSync(metrics, jsonl(HEALTHY));
    writeSettings(config, settings());
    const verdicts = INVARIANTS.map(({ id, name, relation }) => ({
      id,
      name,
      value: 0,
      relation,
      bound: 0,
      bound_reason: "",
      verdict: "holds",
      reason: "",
    }));
    Deno.writeTextFileSync(checks, JSON.stringify({ checks: verdicts }));
    assertEquals(triageRun(folder).report.conclusion, "nothing-fired");
    assertEquals(triageInput(folder).algorithm, "grpo");
    const late = { ...verdicts[1], step: 8, value: 0.3, verdict: "violated" };
    Deno.writeTextFileSync(`${folder}/later_checks.jsonl`, jsonl([late]));
    const { report: { causes } } = triageRun(folder);
    assertEquals(causes[0]?.fault, "stale_sampler");
    assert(
      causes[0]?.evidence.some(({ step, statistic }) => step === 8 && statistic === "violated"),
    );
    // A file of metrics lies beside nothing.
    assertEquals(triageInput(metrics).settings, undefined);
  }));
