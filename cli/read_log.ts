/** The flags of commands that read a log, and the reading with progress. */
import { readRunLog } from "../src/files/log_source.ts";
import { type Progress, stderrProgress } from "../src/files/progress.ts";
import { parseKeyMap } from "../src/logs/rename_keys.ts";
import type { LogSettings, RunLog } from "../src/logs/run_log.ts";
import type { Flags, FlagValues } from "./flags.ts";

/** What a user can say about a log before it is read. */
export const READ_LOG_FLAGS = {
  map: {
    kind: "list",
    help: "THEIRS=OURS renames a key; KEY=step names the key or column that counts the steps",
  },
  run: { kind: "string", help: "which run of a CSV file that holds several" },
  loggingSteps: {
    kind: "integer",
    min: 1,
    help: "steps from one row to the next, of a console log that prints no steps",
  },
} as const satisfies Flags;

/** The name of a log's path in the usage of a command. */
export const LOG_POSITIONAL = "PATH";

/** Smaller files are read before a bar could be seen. */
const MIN_SHOWN_BYTES = 32e6;
const BYTES_PER_UNIT = 1e6;

/**
 * Reads a log, and shows how far it is on stderr where that takes time.
 *
 * @param path A file, a folder or `-`.
 * @param options.flags The values of {@linkcode READ_LOG_FLAGS}.
 * @param options.settings What other flags say of the run.
 * @throws {UserError} When it cannot be read.
 */
export async function readLogShown(
  path: string,
  { flags: { map, run, loggingSteps }, settings = {} }: {
    readonly flags: FlagValues<typeof READ_LOG_FLAGS>;
    readonly settings?: LogSettings;
  },
): Promise<RunLog> {
  let bar: Progress | undefined;
  let shown = 0;
  const inUnits = (sizeBytes: number) => Math.floor(sizeBytes / BYTES_PER_UNIT);
  const onProgress = (readBytes: number, totalBytes = 0) => {
    if (totalBytes < MIN_SHOWN_BYTES || inUnits(readBytes) === shown) return;
    shown = inUnits(readBytes);
    bar ??= stderrProgress({ label: "read", total: inUnits(totalBytes), alreadyDone: 0 });
    bar.update(shown, "MB");
  };
  try {
    return await readRunLog(path, {
      map: parseKeyMap(map),
      run,
      settings: { ...settings, ...(loggingSteps !== undefined && { loggingSteps }) },
      onProgress,
    });
  } finally {
    bar?.[Symbol.dispose]();
  }
}
