/**
 * Trains with every fault of the library and with the right trainer, and writes what checks and triage say of it.
 * Usage: deno task fault-library [--out=runs/fault-library] [--of=faults|correct] [--only=NAME,…] [--seeds=0,1]
 * [--half=development|held-out] [--worker=0 --workers=2] [--checks] [--table] [--page]. What was cut off goes on where it was.
 * --checks judges runs that were made before by the checks of this version, as far as a fault must have been seen; --table makes
 * no run and writes the tables of those that are there, with --page into docs/fault_library.md.
 */
import { openLayout } from "../../cli/gpu_layout.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { CORRECT_SETTINGS, type CorrectSetting, seedsOf } from "./correct_runs.ts";
import { halfOf, nearOf, type PlantedFault } from "./fault.ts";
import { PLANTED } from "./faults.ts";
import { baseFile, checkAgain, measureRun, observeRun } from "./measure.ts";
import { type CorrectRuns, type FaultRuns, type Observation, SEEN_WITHIN } from "./observation.ts";
import { resultLines, withResults } from "./page.ts";
import { shareCompiled } from "./shared_gpu.ts";
import { plantSources } from "./sources.ts";
import type { RunRequest } from "./trained_run.ts";

const STEPS = 24;
/** The base agent of all faults: the one that runs of the rl gym begin with. */
const BASE = "rl:2";
/** Steps between two checks, where this version can check later. */
const CHECK_EVERY = 4;

/** A run that is wanted. */
interface Wanted {
  readonly path: string;
  /** Kind and seed of its base agent. */
  readonly base: string;
  readonly request: Omit<RunRequest, "base">;
  /** Undefined: the right trainer. */
  readonly fault?: PlantedFault;
}

function hasLaterChecks(): boolean {
  try {
    resolveConfig({ sets: [`checkEvery=${CHECK_EVERY}`] });
    return true;
  } catch {
    return false;
  }
}

const LATER = hasLaterChecks() ? [`checkEvery=${CHECK_EVERY}`] : [];

function faultPath(out: string, { name }: PlantedFault, seed: number): string {
  return `${out}/faults/${name}-seed${seed}`;
}

function correctPath(out: string, { name }: CorrectSetting, seed: number): string {
  return `${out}/correct/${name.replaceAll(/[^a-z0-9.]+/gi, "_")}-seed${seed}`;
}

function wantedFault(out: string, fault: PlantedFault, seed: number): Wanted {
  const { settings = [], resumeAt } = fault;
  return {
    path: faultPath(out, fault, seed),
    base: BASE,
    request: { settings: [...LATER, ...settings], seed, steps: STEPS, resumeAt },
    fault,
  };
}

function wantedCorrect(out: string, setting: CorrectSetting, seed: number): Wanted {
  const { settings, steps = STEPS, base = BASE } = setting;
  return {
    path: correctPath(out, setting, seed),
    base,
    request: { settings: [...LATER, ...settings], seed, steps },
  };
}

/** The right trainer under the settings of a fault. */
function referenceOf({ settings = [] }: PlantedFault): CorrectSetting {
  const same = CORRECT_SETTINGS.find(({ base, steps, settings: own }) =>
    (base ?? steps) === undefined && own.join() === settings.join()
  );
  if (same) return same;
  throw new Error(`No setting of the right trainer is ${settings.join(" ")}`);
}

/** The lowest held-out pass rate of the right trainer under the settings of a fault. */
function healthyLow(out: string, fault: PlantedFault): number {
  const same = referenceOf(fault);
  const rates = seedsOf(same).flatMap((seed) =>
    observeRun(correctPath(out, same, seed), seed)?.passRate ?? []
  );
  return Math.min(...rates);
}

function observed(paths: readonly (readonly [path: string, seed: number])[]): Observation[] {
  return paths.flatMap(([path, seed]) => observeRun(path, seed) ?? []);
}

function collect(out: string): { readonly faults: FaultRuns[]; readonly correct: CorrectRuns[] } {
  const seeds = [0, 1];
  const faults = PLANTED.map((fault) => ({
    ...fault,
    near: nearOf(fault),
    half: halfOf(fault.name),
    runs: observed(seeds.map((seed) => [faultPath(out, fault, seed), seed])),
    healthyLow: healthyLow(out, fault),
  })).filter(({ runs }) => runs.length > 0);
  const correct = CORRECT_SETTINGS.map((setting) => ({
    name: setting.name,
    runs: observed(seedsOf(setting).map((seed) => [correctPath(out, setting, seed), seed])),
  })).filter(({ runs }) => runs.length > 0);
  return { faults, correct };
}

function flag(name: string): string | undefined {
  const found = Deno.args.find((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  return found?.slice(`--${name}=`.length);
}

function commit(): string {
  const { stdout } = new Deno.Command("git", { args: ["rev-parse", "--short", "HEAD"] })
    .outputSync();
  return new TextDecoder().decode(stdout).trim();
}

/** Which runs are made: `--of=faults`, `--of=correct`, or both; a name or a half means faults. */
function isWanted(kind: "faults" | "correct"): boolean {
  const isNamed = (flag("only") ?? flag("half")) !== undefined;
  const of = flag("of") ?? (isNamed ? "faults" : undefined);
  return of === undefined || of === kind;
}

/** All runs: those first that say what is harmless, then faults, then the other settings; a seed of each before the next. */
function allWanted(out: string): Wanted[] {
  const only = flag("only")?.split(",");
  const half = flag("half");
  const seeds = flag("seeds")?.split(",").map(Number) ?? [0, 1];
  const faults = PLANTED.filter(({ name }) =>
    (only === undefined || only.includes(name)) && (half === undefined || halfOf(name) === half)
  );
  const references = new Set(PLANTED.map(referenceOf));
  const correct = CORRECT_SETTINGS.flatMap((setting) =>
    seedsOf(setting).map((seed) => ({ setting, seed }))
  ).sort((a, b) => a.seed - b.seed);
  const correctWhere = (isReference: boolean) =>
    correct.filter(({ setting }) => references.has(setting) === isReference)
      .map(({ setting, seed }) => wantedCorrect(out, setting, seed));
  const wantedFaults = seeds.flatMap((seed) =>
    faults.map((fault) => wantedFault(out, fault, seed))
  );
  return [
    ...isWanted("correct") ? correctWhere(true) : [],
    ...isWanted("faults") ? wantedFaults : [],
    ...isWanted("correct") ? correctWhere(false) : [],
  ];
}

/** Steps up to the last check that is in time for a fault: every fourth step is checked, the first of them step 3. */
function stepsToCheck({ begins }: { readonly begins: number }): number {
  return Math.floor((begins + SEEN_WITHIN + 1) / CHECK_EVERY) * CHECK_EVERY;
}

async function makeRuns(out: string): Promise<void> {
  const wanted = allWanted(out);
  const gpu = await openLayout({ requireGpu: false });
  shareCompiled(gpu);
  const commands = new Commands(gpu);
  const [worker, workers] = [Number(flag("worker") ?? 0), Number(flag("workers") ?? 1)];
  const isCheck = flag("checks") !== undefined;
  for (const [i, { path, base, request: asked, fault }] of wanted.entries()) {
    if (i % workers !== worker) continue;
    const sources = () => {
      if (!fault) return ".";
      const folder = `${out}/sources/${fault.name}`;
      plantSources({ root: ".", folder }, fault.patches);
      return folder;
    };
    const request = { ...asked, base: await baseFile(commands, { folder: out, base }) };
    const steps = stepsToCheck(fault ?? { begins: 0 });
    const isNew = isCheck
      ? await checkAgain(path, {
        commands,
        sources,
        request: { ...request, steps },
        commit: commit(),
      })
      : await measureRun(path, { commands, sources, request });
    if (isNew) console.error(`${i + 1} of ${wanted.length}: ${path}`);
  }
}

const PAGE = "docs/fault_library.md";

const out = flag("out") ?? "runs/fault-library";
Deno.mkdirSync(out, { recursive: true });
if (flag("table") === undefined) await makeRuns(out);
const checkEvery = LATER.length > 0 ? CHECK_EVERY : 0;
const lines = resultLines({ ...collect(out), commit: commit(), checkEvery });
if (flag("page") === undefined) console.log(lines.join("\n"));
else Deno.writeTextFileSync(PAGE, withResults(Deno.readTextFileSync(PAGE), lines));
