/** Reads logs of any trainer for the commands that judge them, by the flags that they share. */
import { readRunLog } from "../src/files/log_source.ts";
import { stderrProgress } from "../src/files/progress.ts";
import { parseKeyMap } from "../src/logs/rename_keys.ts";
import type { LogSettings } from "../src/logs/run_log.ts";
import { interpret } from "../src/producers/interpret.ts";
import type { RunView } from "../src/producers/run_view.ts";
import type { FlagValues } from "./flags.ts";

/** What a user says of a log that it does not tell by itself. */
export const LOG_FLAGS = {
  against: { kind: "string", help: "the log of a healthy run of yours, to compare with" },
  updatesPerBatch: { kind: "integer", min: 1, help: "optimizer steps on one batch of rollouts" },
  klCoef: { kind: "number", min: 0, help: "coefficient of the KL to the reference; 0: none" },
  groupSize: { kind: "integer", min: 1, help: "completions per prompt" },
  maxLength: { kind: "integer", min: 1, help: "the cap on a completion, in tokens" },
  plannedSteps: { kind: "integer", min: 1, help: "steps that the run was to make" },
  sampler: {
    kind: "string",
    choices: ["bf16", "fp8", "f32"],
    help: "precision of the engine that samples",
  },
  map: { kind: "list", help: "THEIRS=OURS: read the key THEIRS as if it were called OURS" },
  run: { kind: "string", help: "which run of a file that holds several" },
} as const;

/** Values of these flags. */
export type LogFlags = FlagValues<typeof LOG_FLAGS>;

function settingsOf(flags: LogFlags): LogSettings {
  const { updatesPerBatch, klCoef, groupSize, maxLength, plannedSteps, sampler } = flags;
  return {
    ...(updatesPerBatch !== undefined && { updatesPerBatch }),
    ...(klCoef !== undefined && { klCoef }),
    ...(groupSize !== undefined && { groupSize }),
    ...(maxLength !== undefined && { maxLength }),
    ...(plannedSteps !== undefined && { plannedSteps }),
    ...(sampler !== undefined && { sampler }),
  };
}

/** Files that are read in less than a moment need no bar. */
const WORTH_A_BAR_BYTES = 32 * 2 ** 20;

/**
 * Reads a log and gives it its meaning, with a progress bar where that takes a while.
 *
 * @param path As the user gave it.
 * @throws {UserError} When there is no log, or none that can be read.
 */
export async function readView(path: string, flags: LogFlags): Promise<RunView> {
  const { run, map } = flags;
  const settings = settingsOf(flags);
  let progress: ReturnType<typeof stderrProgress> | undefined;
  try {
    const log = await readRunLog(path, {
      run,
      map: parseKeyMap(map),
      onProgress: (readBytes, totalBytes) => {
        if (totalBytes === undefined || totalBytes < WORTH_A_BAR_BYTES) return;
        progress ??= stderrProgress({ label: "read", total: totalBytes, alreadyDone: 0 });
        progress.update(Math.min(readBytes, totalBytes));
      },
    });
    return interpret(log, { settings });
  } finally {
    progress?.[Symbol.dispose]();
  }
}

/** The healthy run that `--against` names; undefined without it. */
export async function readAgainst(flags: LogFlags): Promise<RunView | undefined> {
  const { against } = flags;
  return against === undefined ? undefined : await readView(against, { ...flags, run: undefined });
}
