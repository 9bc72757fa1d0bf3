/** `agentrl faults`: the catalogue of failures, each a run of its own beside the healthy run that it is compared with. */
import { withDigits } from "../../src/core/digits.ts";
import { UserError } from "../../src/core/errors.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { suggestName } from "../../src/core/nearest.ts";
import {
  CATALOGUE,
  CATALOGUE_NAMES,
  catalogueConfig,
  type CatalogueName,
  type CatalogueRun,
} from "../../src/faults/catalogue.ts";
import type { MetricName, MetricsRow } from "../../src/rl/metrics.ts";
import { type RunSummary, summarizeRun } from "../../src/rl/run_summary.ts";
import { logpToleranceOf } from "../../src/faults/sampler_tolerance.ts";
import { type CatalogueRows, testSignatures } from "../../src/faults/signatures.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { asUserError } from "../../src/files/file_error.ts";
import { findCheckpoint, readAgent } from "../../src/run/agent_file.ts";
import { writeCheckpoint } from "../../src/run/checkpoint.ts";
import { readMetricsRows } from "../../src/run/metrics_rows.ts";
import { requireOutput } from "../../src/files/output.ts";
import { exists } from "../../src/files/paths.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import { writeJson } from "../../src/files/json.ts";
import { readSettings, type RunSettings, writeSettings } from "../../src/run/run_settings.ts";
import { runTraining } from "../../src/run/training_run.ts";
import { agentOf } from "../agent.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { thisStart } from "../this_start.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { formatColumns } from "../table.ts";

function chosenNames(given: readonly string[]): CatalogueName[] {
  const unknown = given.find((name) => !Object.hasOwn(CATALOGUE, name));
  if (unknown !== undefined) {
    throw new UserError(`unknown run "${unknown}": ${suggestName(unknown, CATALOGUE_NAMES)}`);
  }
  return CATALOGUE_NAMES.filter((name) => given.length === 0 || given.includes(name));
}

/** What the command writes beside the runs. */
function summaryPath(out: string): string {
  return `${out}/summary.json`;
}

/** The file of the base agent that all runs share; it is made where none is given. */
async function baseFile(
  commands: Commands,
  options: { readonly out: string; readonly checkpoint: string | undefined },
): Promise<string> {
  const { out, checkpoint } = options;
  const path = checkpoint ?? `${out}/base.safetensors`;
  if (checkpoint !== undefined || exists(path)) {
    if (exists(out)) requireOutput(summaryPath(out), { inputs: [path] });
    readAgent(path); // Refused before any run begins.
    return path;
  }
  const gym = compileGym(openGym(), "rl");
  const { config, weights_W } = await agentOf(undefined, { commands, gym });
  try {
    Deno.mkdirSync(out, { recursive: true });
  } catch (error) {
    throw asUserError(error, `Cannot write to ${out}`);
  }
  writeCheckpoint(path, { config, weights_W, step: 0 });
  return path;
}

/** The settings of a run; where its folder holds one already, that must be the same run. */
function settingsOf(
  name: CatalogueName,
  options: { readonly path: string; readonly settings: RunSettings; readonly resume: boolean },
): RunSettings {
  const { path, settings, resume } = options;
  if (!resume) return settings;
  const stored = readSettings(runPaths(path).config);
  const identity = ({ config, base, bug }: RunSettings) => JSON.stringify([config, base, bug]);
  if (identity(stored) === identity(settings)) {
    return { ...stored, starts: [...stored.starts, ...settings.starts] };
  }
  throw new UserError(
    `Cannot run ${name} in ${path}: it holds a different run; choose another --out`,
  );
}

/** Makes a run, or what is missing of it. */
async function makeRun(
  name: CatalogueName,
  options: {
    readonly commands: Commands;
    readonly out: string;
    readonly seed: number;
    readonly base: string;
    readonly onStep: () => void;
  },
): Promise<{ readonly rows: MetricsRow[]; readonly weightsHash: string }> {
  const { commands, out, seed, base, onStep } = options;
  const { fault }: CatalogueRun = CATALOGUE[name];
  const path = `${out}/${name}`;
  const resume = exists(runPaths(path).config);
  using directory = openRunDirectory(path, { resume });
  const settings = settingsOf(name, {
    path,
    resume,
    settings: {
      config: catalogueConfig(name, seed),
      base: { file: base },
      bug: fault ?? null,
      baseHash: null,
      starts: [thisStart()],
      adapter: adapterName(commands.gpu),
      ...(commands.gpu.arithmetic.known && { arithmetic: commands.gpu.arithmetic.known }),
    },
  });
  writeSettings(directory.config, settings);
  const { weightsHash } = await runTraining({
    commands,
    directory,
    settings,
    ignoreChecks: true,
    onStep,
  });
  return { rows: readMetricsRows(directory.metrics), weightsHash };
}

/** Metrics that the table shows, with a heading each. */
const SHOWN = [
  ["reward", "reward"],
  ["entropy", "entropy"],
  ["reads", "reads"],
  ["grad_norm", "grad"],
  ["logp_gap", "gap"],
] as const satisfies (readonly [MetricName, string])[];

function describeRuns(
  runs: Readonly<Partial<Record<CatalogueName, RunSummary>>>,
  signatures: ReturnType<typeof testSignatures>,
): string {
  const show = (value: number | undefined) => value === undefined ? "-" : withDigits(value, 2);
  const table = formatColumns(
    ["run", ...SHOWN.map(([, heading]) => ` ${heading}`), " held"],
    Object.entries(runs).map(([name, { first4, last4, evalPass }]) => [
      name,
      ...SHOWN.map(([metric]) => `${show(first4[metric])}>${show(last4[metric])}`),
      evalPass?.toFixed(2) ?? "-",
    ]),
  );
  const claims = signatures.map(({ run, claim, measured, holds }) =>
    [run, `${holds ? "yes" : "NO"}: ${claim} (${measured})`] as const
  );
  const title =
    "Means of the first four steps > of the last four; held: the last held-out pass rate";
  return [
    ...wrapText(title, { columns: terminalColumns() }),
    "",
    ...table,
    // Where the healthy run that a claim compares with was not asked for, there is nothing to say.
    ...(claims.length === 0 ? [] : ["", "What each must show:", ...formatTable(claims)]),
  ].join("\n");
}

/** The command `faults`. */
export const command = defineCommand({
  flags: {
    out: { kind: "string", help: "folder for the runs (default runs/faults-seedSEED)" },
    checkpoint: {
      kind: "string",
      help:
        "base agent: a safetensors file, or a run's folder, whose latest checkpoint is used (default: made once, in --out)",
    },
    ...GPU_FLAGS,
  },
  positionals: ["[RUN…]"],
  choices: CATALOGUE_NAMES,
  async run({ out: folder, checkpoint: named, seed, requireGpu }, given, machine = THIS_MACHINE) {
    const names = chosenNames(given);
    const checkpoint = named === undefined ? undefined : findCheckpoint(named).path;
    const out = folder ?? `runs/faults-seed${seed}`;
    const commands = await machine.openCommands({ requireGpu });
    const base = await baseFile(commands, { out, checkpoint });
    const total = names.reduce((sum, name) => sum + CATALOGUE[name].steps, 0);
    using progress = stderrProgress({ label: "faults", total, alreadyDone: 0 });
    const rowsOf: { -readonly [Name in keyof CatalogueRows]: CatalogueRows[Name] } = {};
    const runs: Partial<Record<CatalogueName, RunSummary & { readonly weightsHash: string }>> = {};
    let stepsDone = 0;
    for (const name of names) {
      const onStep = () => progress.update(++stepsDone, name);
      const { rows, weightsHash } = await makeRun(name, { commands, out, seed, base, onStep });
      rowsOf[name] = rows;
      runs[name] = { ...summarizeRun(rows), weightsHash };
    }
    const signatures = testSignatures(rowsOf, {
      rounding: await logpToleranceOf(commands.gpu),
    });
    const document = { seed, runs, signatures };
    writeJson(summaryPath(out), document);
    return {
      document,
      text: describeRuns(runs, signatures),
      emphasis: [{ pattern: /(?<=^ +\S+ +)NO(?=:)/gm, style: "red" }],
    };
  },
});
