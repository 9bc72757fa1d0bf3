/** One training run by the command line, from sources in which a fault may be planted. */
import type { PlantedSources } from "./sources.ts";
import type { Patch } from "./fault.ts";

/** What is trained. */
export interface RunRequest {
  /** Flags of `train` beside folder, seed and base, for example `--algo rloo`. */
  readonly flags: readonly string[];
  /** `key=value` each, as `--set` takes them. */
  readonly settings: readonly string[];
  readonly seed: number;
  readonly steps: number;
  /** The base agent's checkpoint; left out: the one that suits the gym, cloned at the start. */
  readonly base?: string | undefined;
  /** Stopped after so many steps and resumed. */
  readonly resumeAt?: number | undefined;
  readonly patches: readonly Patch[];
}

/** How a run ended. */
export interface RunEnd {
  /** The sentence with which it ended early; undefined where all steps were done. */
  readonly ended: string | undefined;
}

/** Of these runs the metrics are read, and the last weights. */
const LEAN = ["episodesEvery=0", "checkpointEvery=0"];

async function train(sources: PlantedSources, args: readonly string[]): Promise<RunEnd> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", `${sources.folder}/cli/main.ts`, "train", ...args],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (code === 0) return { ended: undefined };
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  return { ended: lines.at(-1) ?? `exit code ${code}` };
}

/**
 * Makes a run in a folder; what was there is replaced. Violated invariants are written down and end nothing.
 *
 * @param sources The sources that it loads.
 * @param path The folder of the run.
 */
export async function trainRun(
  sources: PlantedSources,
  path: string,
  request: RunRequest,
): Promise<RunEnd> {
  const { flags, settings, seed, steps, base, resumeAt, patches } = request;
  Deno.mkdirSync(path, { recursive: true });
  Deno.removeSync(path, { recursive: true });
  sources.plant(patches);
  const fresh = [
    ...flags,
    ...["--out", path, "--no-gate", "--seed", String(seed)],
    ...(base === undefined ? [] : ["--base", base]),
    ...[...LEAN, ...settings].flatMap((set) => ["--set", set]),
  ];
  const until = (count: number) => ["--steps", String(count)];
  if (resumeAt === undefined) return await train(sources, [...fresh, ...until(steps)]);
  const begun = await train(sources, [...fresh, ...until(resumeAt)]);
  if (begun.ended !== undefined) return begun;
  return await train(sources, ["--resume", "--no-gate", "--out", path, ...until(steps)]);
}
