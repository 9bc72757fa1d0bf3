/** What is known of the cells that have ended: read from their folders, and kept in one file beside them for the next look. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { writeFileAtomic } from "../files/atomic_file.ts";
import { readJson } from "../files/json.ts";
import { lastRow } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import { asUserError } from "../files/file_error.ts";
import { checkpointPath, runPaths } from "../run/run_directory.ts";
import { type Outcome, outcomeId, readOutcome } from "./outcomes.ts";
import type { Sweep, SweepCell } from "./sweep_folder.ts";
import { sweepPaths } from "./sweep_paths.ts";

const knownSchema = z.object({
  state: z.enum(["done", "failed"]),
  attempts: z.int().min(0),
  problem: z.string().nullable(),
  durationMs: z.number().nullable(),
  /** Steps of a training run. */
  steps: z.int().nullable(),
  reward: z.number().nullable(),
  /** Its last held-out pass rate. */
  evalPass: z.number().nullable(),
});

/** What the index says of a cell. */
export type KnownCell = z.infer<typeof knownSchema>;

const indexSchema = z.object({
  version: z.literal(1),
  cells: z.record(z.string(), knownSchema),
});

/** Names in a folder; none where it is missing. */
function namesOf(folder: string): Set<string> {
  try {
    return new Set(Array.from(Deno.readDirSync(folder), ({ name }) => name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Set();
    throw asUserError(error, `Cannot read ${folder}`);
  }
}

function numberIn(object: unknown, key: string): number | null {
  if (typeof object !== "object" || object === null) return null;
  const value: unknown = Reflect.get(object, key);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function lastOf(result: unknown): unknown {
  return typeof result === "object" && result !== null ? Reflect.get(result, "last") : null;
}

function known({ state, attempts, problem, durationMs, result }: Outcome): KnownCell {
  const last = lastOf(result);
  return {
    state,
    attempts,
    problem,
    durationMs,
    steps: numberIn(result, "steps"),
    reward: numberIn(last, "reward"),
    evalPass: numberIn(last, "eval_pass"),
  };
}

/** A training run that is whole although nobody wrote down how it ended: whoever began it was killed, and it went on alone. */
function wholeRun({ folder, command }: SweepCell): KnownCell | undefined {
  if (command !== "train" || !exists(runPaths(folder).config)) return undefined;
  try {
    const settings = readJson(runPaths(folder).config);
    const config = typeof settings === "object" && settings !== null && "config" in settings
      ? settings.config
      : null;
    const steps = numberIn(config, "steps");
    if (steps === null || !exists(checkpointPath(folder, steps))) return undefined;
    const last = lastRow(runPaths(folder).metrics);
    if (numberIn(last, "step") !== steps - 1) return undefined;
    const reward = numberIn(last, "reward");
    const evalPass = numberIn(last, "eval_pass");
    return { state: "done", attempts: 0, problem: null, durationMs: null, steps, reward, evalPass };
  } catch (error) {
    if (error instanceof UserError) return undefined; // It is being written, or damaged: not whole.
    throw error;
  }
}

/** The index as it was left; empty where it is missing, damaged or of another version: it can be made again. */
function readIndex(path: string): Map<string, KnownCell> {
  try {
    const found = indexSchema.safeParse(readJson(path));
    return new Map(found.success ? Object.entries(found.data.cells) : []);
  } catch (error) {
    if (error instanceof UserError) return new Map();
    throw error;
  }
}

function writeIndex(path: string, cells: ReadonlyMap<string, KnownCell>): void {
  try {
    writeFileAtomic(
      path,
      `${JSON.stringify({ version: 1, cells: Object.fromEntries(cells) })}\n`,
    );
  } catch (error) {
    // A folder that may only be read, or a full disk: the next look takes longer.
    if (!(error instanceof UserError)) throw error;
  }
}

/**
 * Looks at which cells have ended. What the index calls done is believed while the cell's run and its outcome are there; all
 * else is read from the folders.
 *
 * @param sweep The sweep.
 * @param options.rebuild True: nothing is believed, and the index is made again.
 * @returns By id, the cells that are done or have failed.
 * @throws {UserError} When the folders cannot be read.
 */
export function lookAtCells(
  sweep: Sweep,
  { rebuild = false }: { readonly rebuild?: boolean } = {},
): Map<string, KnownCell> {
  const paths = sweepPaths(sweep.path);
  const old = rebuild ? new Map<string, KnownCell>() : readIndex(paths.index);
  const outcomes = new Set(Array.from(namesOf(paths.outcomes), outcomeId));
  const runs = namesOf(paths.runs);
  const found = new Map<string, KnownCell>();
  let isChanged = rebuild;
  for (const cell of sweep.cells) {
    const { id } = cell;
    if (!outcomes.has(id)) {
      const whole = runs.has(id) ? wholeRun(cell) : undefined;
      if (whole !== undefined) found.set(id, whole);
      continue;
    }
    const earlier = old.get(id);
    const isBelieved = earlier?.state === "done" && earlier.attempts > 0;
    const outcome = isBelieved ? undefined : readOutcome(sweep.path, id);
    const now = isBelieved ? earlier : outcome && known(outcome);
    // Whoever removed the run of a cell wants it again.
    if (now === undefined || (now.state === "done" && !runs.has(id))) continue;
    found.set(id, now);
    if (!isBelieved && JSON.stringify(now) !== JSON.stringify(earlier)) isChanged = true;
  }
  if (isChanged) writeIndex(paths.index, found);
  return found;
}
