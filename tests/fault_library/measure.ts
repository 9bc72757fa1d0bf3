/** Makes the runs of the library that are missing in a folder, and observes those that are there. */
import { bugFixGoal } from "../../src/rollout/bugfix_source.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { journalRows } from "../../src/files/journal.ts";
import { exists } from "../../src/files/paths.ts";
import { createParameters, destroyParameters } from "../../src/model/parameters.ts";
import { BASE_AGENTS, type BaseAgentName, makeBaseAgent } from "../../src/rl/base_agent.ts";
import { evaluateAgent } from "../../src/rollout/evaluate.ts";
import { rolloutStats } from "../../src/rollout/rollout_stats.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { readAgent } from "../../src/run/agent_file.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { writeCheckpoint } from "../../src/run/checkpoint.ts";
import { checkpointPath, runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { triageRun } from "../../src/run/triage_run.ts";
import type { Observation, Violation } from "./observation.ts";
import { type RunRequest, trainRun } from "./trained_run.ts";

/** Held-out episodes under the last weights. */
export const EVALUATED_EPISODES = 200;

/** What a run left beside its own files: it is written last, so that a run that was cut off is made again. */
interface Measured {
  /** The sentence with which the run ended early; null where all steps were done. */
  readonly ended: string | null;
  /** Null where the run left no weights after its last step. */
  readonly passRate: number | null;
}

const measuredPath = (path: string) => `${path}/measured.json`;

/** The base agent's file, made where it is missing. */
export async function baseFile(
  commands: Commands,
  { folder, base }: { readonly folder: string; readonly base: string },
): Promise<string> {
  const path = `${folder}/base-${base.replace(":", "-")}.safetensors`;
  if (exists(path)) return path;
  const [name = "", seed = ""] = base.split(":");
  const kind = name as BaseAgentName;
  const gym = compileGym(openGym(), BASE_AGENTS[kind].preset);
  const weights_W = await makeBaseAgent(commands, { kind, gym, seed: Number(seed) });
  writeCheckpoint(path, { config: TINY_AGENT, weights_W, step: 0 });
  return path;
}

async function heldOutPassRate(commands: Commands, path: string, preset: "rl" | "chapter6") {
  const { config, weights_W } = readAgent(path);
  const parameters = createParameters(commands, config, weights_W);
  const { trajectories } = await evaluateAgent(commands, parameters, {
    source: bugFixGoal(compileGym(openGym(), preset)),
    split: "heldout",
    episodes: EVALUATED_EPISODES,
    seed: 0,
  });
  destroyParameters(parameters);
  return rolloutStats(trajectories).passRate;
}

/**
 * Makes a run and measures what its agent became, unless that was done before.
 *
 * @param path Its folder.
 * @returns True where it was made now.
 */
export async function measureRun(
  path: string,
  { commands, sources, request }: {
    readonly commands: Commands;
    /** Makes the sources ready and answers their folder. */
    readonly sources: () => string;
    readonly request: RunRequest;
  },
): Promise<boolean> {
  if (exists(measuredPath(path))) return false;
  const { ended } = await trainRun(path, { gpu: commands.gpu, sources: sources(), request });
  if (!exists(runPaths(path).checks)) throw new Error(`${path} never began: ${ended}`);
  const weights = checkpointPath(path, request.steps);
  const { config: { preset } } = readSettings(runPaths(path).config);
  const passRate = exists(weights) ? await heldOutPassRate(commands, weights, preset) : null;
  Deno.removeSync(`${path}/checkpoints`, { recursive: true });
  const measured: Measured = { ended: ended ?? null, passRate };
  Deno.writeTextFileSync(measuredPath(path), `${JSON.stringify(measured)}\n`);
  return true;
}

/** What checks write into the folder of a run. */
const VERDICTS = ["checks.json", "later_checks.jsonl"] as const;

/**
 * Judges a run that was made before by the checks of this version: makes its first steps again and puts their verdicts in
 * place of the old ones. A check changes no bit of a run, so that its metrics and its agent stay.
 *
 * @param path Its folder.
 * @param options.commit Of this version; where the run was judged by it, nothing is done.
 * @returns True where it was judged now.
 */
export async function checkAgain(
  path: string,
  { commands, sources, request, commit }: {
    readonly commands: Commands;
    readonly sources: () => string;
    readonly request: RunRequest;
    readonly commit: string;
  },
): Promise<boolean> {
  const marker = `${path}/checked_by`;
  if (!exists(measuredPath(path))) return false;
  if (exists(marker) && Deno.readTextFileSync(marker) === commit) return false;
  const again = `${path}/again`;
  await trainRun(again, { gpu: commands.gpu, sources: sources(), request });
  for (const name of VERDICTS) {
    if (exists(`${path}/${name}`)) Deno.removeSync(`${path}/${name}`);
    if (exists(`${again}/${name}`)) Deno.renameSync(`${again}/${name}`, `${path}/${name}`);
  }
  Deno.removeSync(again, { recursive: true });
  Deno.writeTextFileSync(marker, commit);
  return true;
}

/** Violated checks of later steps, where the run made any. */
function laterViolations(path: string): Violation[] {
  const file = `${path}/later_checks.jsonl`;
  if (!exists(file)) return [];
  return Array.from(journalRows(file), ({ row }) => row)
    .filter(({ verdict }) => verdict === "violated")
    .map(({ step, id }) => ({ step: Number(step), id: Number(id) }));
}

/** What is known of a run that was made; undefined where it was not. Triage is asked afresh. */
export function observeRun(path: string, seed: number): Observation | undefined {
  if (!exists(measuredPath(path))) return undefined;
  const { ended, passRate }: Measured = JSON.parse(Deno.readTextFileSync(measuredPath(path)));
  const { report } = triageRun(path);
  const steps = Array.from(journalRows(runPaths(path).metrics)).length;
  return {
    seed,
    before: readChecks(runPaths(path).checks)
      .filter(({ verdict }) => verdict === "violated").map(({ id }) => id),
    later: laterViolations(path),
    overflowStep: ended === null ? undefined : Math.max(0, steps - 1),
    answer: {
      conclusion: report.conclusion,
      causes: report.causes.map(({ fault, score }) => ({ name: fault, belief: score })),
    },
    passRate: passRate ?? NaN,
  };
}
