/** Reads logs of any trainer, by the flags that the commands about logs share, and shows how far the reading is. */
import { GrowingLog } from "../src/files/growing_log.ts";
import { type ReadLogOptions, readRunLog } from "../src/files/log_source.ts";
import { type Progress, stderrProgress } from "../src/files/progress.ts";
import type { LogSettings, RunLog } from "../src/logs/run_log.ts";
import { interpret } from "../src/producers/interpret.ts";
import type { RunView } from "../src/producers/run_view.ts";
import type { Flags, FlagValues } from "./flags.ts";
import { parseKeyMap } from "./key_map.ts";

/** What a user can say about a log before it is read. */
export const READ_FLAGS = {
  map: {
    kind: "list",
    help: "THEIRS=OURS reads the key THEIRS as OURS; KEY=step names the one that counts the steps",
  },
  run: { kind: "string", help: "which run of a file that holds several" },
  loggingSteps: {
    kind: "integer",
    min: 1,
    help: "steps from one row to the next, of a console log that prints no steps",
  },
} as const satisfies Flags;

/** What a user can say about a log that is judged, because the log may not tell it. */
export const JUDGE_FLAGS = {
  against: { kind: "string", help: "the log of a healthy run of yours, to compare with" },
  updatesPerBatch: { kind: "integer", min: 1, help: "optimizer steps on one batch of rollouts" },
  klCoef: { kind: "number", min: 0, help: "coefficient of the KL to the reference; 0: none" },
  groupSize: { kind: "integer", min: 1, help: "completions per prompt" },
  maxLength: { kind: "integer", min: 1, help: "the cap on a completion, in tokens" },
  plannedSteps: { kind: "integer", min: 1, help: "number of steps planned for the run" },
  sampler: {
    kind: "string",
    choices: ["bf16", "fp8", "f32"],
    help: "precision of the sampling engine",
  },
  ...READ_FLAGS,
} as const satisfies Flags;

/** Values of {@linkcode READ_FLAGS}. */
export type ReadFlags = FlagValues<typeof READ_FLAGS>;

/** Values of {@linkcode JUDGE_FLAGS}. */
export type JudgeFlags = FlagValues<typeof JUDGE_FLAGS>;

/** The name of a log's path in the usage of a command. */
export const LOG_POSITIONAL = "PATH";

/** Smaller files are read before a bar could be seen. */
const MIN_SHOWN_BYTES = 32e6;
const BYTES_PER_UNIT = 1e6;

function settingsOf(flags: ReadFlags & Partial<JudgeFlags>): LogSettings {
  const { updatesPerBatch, klCoef, groupSize, maxLength, plannedSteps, sampler, loggingSteps } =
    flags;
  return {
    ...(updatesPerBatch !== undefined && { updatesPerBatch }),
    ...(klCoef !== undefined && { klCoef }),
    ...(groupSize !== undefined && { groupSize }),
    ...(maxLength !== undefined && { maxLength }),
    ...(plannedSteps !== undefined && { plannedSteps }),
    ...(sampler !== undefined && { sampler }),
    ...(loggingSteps !== undefined && { loggingSteps }),
  };
}

/**
 * Reads something, and shows on stderr how far that is where it takes time.
 *
 * @param read Reads it, and tells how many bytes are read, and of how many.
 */
export async function withReadProgress<T>(
  read: (onProgress: (readBytes: number, totalBytes: number | undefined) => void) => Promise<T>,
): Promise<T> {
  let bar: Progress | undefined;
  let shown = 0;
  const inUnits = (sizeBytes: number) => Math.floor(sizeBytes / BYTES_PER_UNIT);
  try {
    return await read((readBytes, totalBytes = 0) => {
      if (totalBytes < MIN_SHOWN_BYTES || inUnits(readBytes) === shown) return;
      shown = inUnits(readBytes);
      bar ??= stderrProgress({ label: "read", total: inUnits(totalBytes), alreadyDone: 0 });
      bar.update(shown, "MB");
    });
  } finally {
    bar?.[Symbol.dispose]();
  }
}

/**
 * Reads a log, and shows how far it is on stderr where that takes time.
 *
 * @param path A file, a folder or `-`, as the user gave it.
 * @param options.opened Standard input, where it is open already.
 * @throws {UserError} When there is no log, or none that can be read.
 */
export async function readLog(
  path: string,
  flags: ReadFlags,
  { opened }: Pick<ReadLogOptions, "opened"> = {},
): Promise<RunLog> {
  const { map, run, loggingSteps } = flags;
  return await withReadProgress((onProgress) =>
    readRunLog(path, {
      map: parseKeyMap(map),
      run,
      settings: loggingSteps === undefined ? {} : { loggingSteps },
      onProgress,
      opened,
    })
  );
}

/** Reads a log and gives it its meaning. @throws {UserError} As {@linkcode readLog} does. */
export async function readView(
  path: string,
  flags: JudgeFlags,
  options: Pick<ReadLogOptions, "opened"> = {},
): Promise<RunView> {
  return interpret(await readLog(path, flags, options), { settings: settingsOf(flags) });
}

/**
 * Reads logs that grow, again and again, and gives them their meaning. It shows nothing meanwhile, so as not to fill a screen.
 *
 * @returns What {@linkcode readView} does; of a long log only what is new is read.
 */
export function growingViewReader(flags: JudgeFlags): (path: string) => Promise<RunView> {
  const { map, run, loggingSteps } = flags;
  const options = {
    map: parseKeyMap(map),
    run,
    settings: loggingSteps === undefined ? {} : { loggingSteps },
  };
  const logs = new Map<string, GrowingLog>();
  return async (path) => {
    const log = logs.get(path) ?? new GrowingLog(path, options);
    logs.set(path, log);
    return interpret(await log.read(), { settings: settingsOf(flags) });
  };
}

/** The healthy run that `--against` names; undefined without it. */
export async function readAgainst(flags: JudgeFlags): Promise<RunView | undefined> {
  const { against } = flags;
  return against === undefined ? undefined : await readView(against, { ...flags, run: undefined });
}
