/** Reads the log of a run from wherever a path leads: a file, a folder, standard input. */
import { UserError } from "../core/errors.ts";
import { detectReader } from "../logs/detect.ts";
import type { LogReader, ReadOptions } from "../logs/reader.ts";
import { LOG_READERS } from "../logs/readers.ts";
import { renameKeys, STEP_NAME } from "../logs/rename_keys.ts";
import type { LogSettings, LogSource, RunLog } from "../logs/run_log.ts";
import { type FoundForm, RunLogBuilder } from "../logs/run_log_builder.ts";
import { findLog, type FoundLog } from "./log_folder.ts";
import { fileSize, type OpenedLog, openLog, STANDARD_INPUT } from "./log_input.ts";
import { isFolder } from "./paths.ts";
import { formatBytes } from "./read_file.ts";

/** How a log is read. */
export interface ReadLogOptions {
  /** Which run of a file that holds several. */
  readonly run?: string | undefined;
  /** New names of keys: theirs → ours. The one that becomes `step` counts the steps. */
  readonly map?: ReadonlyMap<string, string> | undefined;
  /** What the user says of the run; outranks what the file tells. */
  readonly settings?: LogSettings | undefined;
  /** Told how many bytes are read, and of how many; of standard input that is unknown. */
  readonly onProgress?: ((readBytes: number, totalBytes: number | undefined) => void) | undefined;
  /** Standard input, where somebody has already opened it to see what it is. */
  readonly opened?: OpenedLog | undefined;
}

/** The files of the log at a path, and the others that lie beside it. @throws {UserError} When there is none. */
export function locate(path: string): FoundLog {
  if (path !== STANDARD_INPUT && isFolder(path)) return findLog(path);
  return { files: [path], others: [] };
}

function checkSize(path: string, { maxBytes = Infinity, title }: LogReader): void {
  const sizeBytes = path === STANDARD_INPUT ? 0 : fileSize(path);
  if (sizeBytes <= maxBytes) return;
  throw new UserError(
    `Cannot read ${path}: it holds ${formatBytes(sizeBytes)}, and at most ${
      formatBytes(maxBytes)
    } ` +
      `are read of its form (${title})`,
  );
}

const MAX_LISTED = 20;

/** Other logs beside the one that was read. */
function describeOthers(others: readonly string[]): LogSource["ignored"] {
  if (others.length === 0) return [];
  const more = others.length > MAX_LISTED ? ` and ${others.length - MAX_LISTED} more` : "";
  const example = others.slice(0, MAX_LISTED).join(", ") + more;
  return [{ what: "other logs in the folder", count: others.length, example }];
}

/** The key that the user says counts the steps. */
export function stepKeyOf(map: ReadonlyMap<string, string> | undefined): string | undefined {
  return [...map ?? []].find(([, ours]) => ours === STEP_NAME)?.[0];
}

/**
 * Reads a log.
 *
 * @param path A file, a folder in which a log lies, or `-` for standard input.
 * @returns The log; `source.files` says what was read, `source.ignored` what was not.
 * @throws {UserError} When there is no log, its form is not known, it is damaged, or holds no number of any step.
 */
export async function readRunLog(path: string, options: ReadLogOptions = {}): Promise<RunLog> {
  const { run, map, settings, onProgress, opened } = options;
  const { files, others } = locate(path);
  const isStream = path === STANDARD_INPUT;
  const totalBytes = isStream ? undefined : files.reduce((sum, file) => sum + fileSize(file), 0);
  const readOptions: ReadOptions = { run, stepKey: stepKeyOf(map), settings };
  const builder = new RunLogBuilder();
  let readBytes = 0;
  const onBytes = (count: number) => onProgress?.(readBytes += count, totalBytes);
  let reader: LogReader | undefined;
  for (const file of files) {
    await using input = opened ?? await openLog(file, { onBytes });
    if (input.head.length === 0) throw new UserError(`Cannot read ${input.name}: it is empty`);
    reader ??= detectReader(input, LOG_READERS);
    checkSize(file, reader);
    builder.beginFile(input.name);
    await reader.read(input, builder, readOptions);
  }
  if (reader === undefined) throw new UserError(`Cannot read ${path}: it holds no files`);
  return withSettings(builder.finish({ path, ...formOf(reader) }), { ...options, others });
}

/** What a reader says of the form of what it read. */
export function formOf({ form, producer }: LogReader): FoundForm {
  return { form, ...(producer !== undefined && { producer }) };
}

/**
 * A log as its reader left it, with what the user says of it.
 *
 * @param options.others Logs that lay beside it.
 * @throws {UserError} When it holds no number of any step.
 */
export function withSettings(
  log: RunLog,
  { map, settings, others }: ReadLogOptions & { readonly others: readonly string[] },
): RunLog {
  if (log.rows.count === 0) {
    throw new UserError(
      `Cannot read ${log.source.path}: it is of the form ${log.source.form} and holds no number of any step`,
    );
  }
  return renameKeys({
    ...log,
    source: { ...log.source, ignored: [...log.source.ignored, ...describeOthers(others)] },
    settings: { ...log.settings, ...settings },
  }, map ?? new Map());
}
