/** Reads the token dump of a run from wherever a path leads: a file, a folder, standard input. */
import { UserError } from "../core/errors.ts";
import { describeHead } from "../logs/describe_head.ts";
import { surestReader } from "../logs/detect.ts";
import { Ignored } from "../logs/ignored.ts";
import type { LogInput } from "../logs/reader.ts";
import { LOG_READERS } from "../logs/readers.ts";
import { completedBy } from "../tokens/join.ts";
import { OWN_EPISODES } from "../tokens/own_episodes.ts";
import type { TokenBatch, TokenSequence } from "../tokens/token_batch.ts";
import type { TokenNotes, TokenReader } from "../tokens/token_reader.ts";
import { TOKEN_READERS } from "../tokens/token_readers.ts";
import { findLog } from "./log_folder.ts";
import { fileSize, type OpenedLog, openLog, STANDARD_INPUT } from "./log_input.ts";
import { mayRoundApart } from "./own_adapter.ts";
import { isFolder } from "./paths.ts";
import { formatBytes } from "./read_file.ts";
import { findDumps, unfinishedFolders } from "./token_folder.ts";

/** How a dump is read. */
export interface ReadTokensOptions {
  /** Told how many bytes are read, and of how many; of standard input that is unknown. */
  readonly onProgress?: ((readBytes: number, totalBytes: number | undefined) => void) | undefined;
  /** Another dump of the same sequences, that tells more of them: a path. It is read first, and does not come out itself. */
  readonly completedBy?: string | undefined;
  /** Standard input, where somebody has already opened it to see what it is. */
  readonly opened?: OpenedLog | undefined;
}

/** Files of one dump and their reader. */
interface FoundDump {
  readonly files: readonly string[];
  readonly reader: TokenReader;
  /** Tells what lay beside them. */
  readonly tell?: (notes: TokenNotes) => void;
  /** A dump of the same sequences that tells more of them. */
  readonly completedBy?: FoundDump | undefined;
}

/** The reader of the first file that is not empty; undefined where all are empty or no reader knows the form. */
async function readerOf(files: readonly string[]): Promise<TokenReader | undefined> {
  for (const file of files) {
    await using input = await openLog(file);
    if (input.head.length > 0) return surestReader(input.head, TOKEN_READERS)?.reader;
  }
  return undefined;
}

/** What traces tell of exported sequences: groups, rewards and roles. */
async function tracesBeside(files: readonly string[] | undefined): Promise<FoundDump | undefined> {
  const reader = files && await readerOf(files);
  return files && reader && { files, reader };
}

/** The dump in a folder; of several forms the one that holds most. */
async function dumpIn(folder: string): Promise<FoundDump | undefined> {
  const found = findDumps(folder);
  for (const [kind, files] of found) {
    const reader = await readerOf(files);
    if (!reader) continue;
    const isExport = kind === "exports";
    const traces = isExport ? await tracesBeside(found.get("traces")) : undefined;
    const others = [...found]
      .filter(([other]) => other !== kind && !(traces && other === "traces"))
      .flatMap(([, paths]) => paths);
    const tell = (notes: TokenNotes) => {
      const count = (what: string, paths: readonly string[]) =>
        paths.length > 0 && notes.ignore(what, paths[0], paths.length);
      count("other dumps in the folder", others);
      count(
        "steps without the file STABLE: their writer may not have finished",
        isExport ? unfinishedFolders(files) : [],
      );
    };
    return { files, reader, tell, completedBy: traces };
  }
  return undefined;
}

function unreadable({ name, head }: LogInput): UserError {
  return new UserError(
    head.length === 0
      ? `Cannot read ${name}: it is empty`
      : `Cannot read ${name}: it is ${describeHead(head)}, and holds no tokens in a known form`,
  );
}

function checkSize(file: string, { maxBytes = Infinity, title }: TokenReader): void {
  const sizeBytes = fileSize(file);
  if (sizeBytes <= maxBytes) return;
  throw new UserError(
    `Cannot read ${file}: it holds ${formatBytes(sizeBytes)}, and at most ${
      formatBytes(maxBytes)
    } are read of its form (${title})`,
  );
}

/** The sequences of files, one file after the other. */
async function* sequencesOf(
  { files, reader }: FoundDump,
  { ignored, onProgress }: ReadTokensOptions & { readonly ignored: Ignored },
): AsyncGenerator<TokenSequence> {
  const totalBytes = files.reduce((sum, file) => sum + fileSize(file), 0);
  let readBytes = 0;
  for (const file of files) {
    checkSize(file, reader);
    const onBytes = (count: number) => onProgress?.(readBytes += count, totalBytes);
    await using input = await openLog(file, { onBytes });
    if (input.head.length === 0) ignored.ignore("empty files", file);
    else if (surestReader(input.head, TOKEN_READERS)?.reader === reader) {
      yield* reader.read(input, ignored);
    } else ignored.ignore("files of another form", file);
  }
}

/** The sequences of a dump, completed by what lies beside it. */
async function* completeSequences(
  dump: FoundDump,
  options: ReadTokensOptions & { readonly ignored: Ignored },
): AsyncGenerator<TokenSequence> {
  const { ignored } = options;
  let sequences: AsyncIterable<TokenSequence> = sequencesOf(dump, options);
  if (dump.reader === OWN_EPISODES) {
    // With the algorithms, which nobody should wait for who reads something else.
    const { withOwnRecords } = await import("./own_tokens.ts");
    sequences = withOwnRecords(sequences);
  }
  const other = dump.completedBy;
  yield* other ? completedBy(sequences, sequencesOf(other, { ignored }), ignored) : sequences;
}

/** A dump that lies in files; its sequences can be read again. */
function batchOfFiles(path: string, dump: FoundDump, options: ReadTokensOptions): TokenBatch {
  const { files, reader, tell } = dump;
  let ignored = new Ignored();
  return {
    source: {
      path,
      form: reader.form,
      producer: reader.producer,
      ...(reader === OWN_EPISODES && files.some(mayRoundApart) && { roundsApart: true }),
      files: [...files, ...dump.completedBy?.files ?? []],
      get ignored() {
        return ignored.list();
      },
    },
    async *sequences(): AsyncGenerator<TokenSequence> {
      ignored = new Ignored();
      tell?.(ignored);
      yield* completeSequences(dump, { ...options, ignored });
    },
  };
}

/** A dump that comes through standard input: once. */
function batchOfStream(
  input: OpenedLog,
  reader: TokenReader,
  other: FoundDump | undefined,
): TokenBatch {
  const ignored = new Ignored();
  let isRead = false;
  return {
    source: {
      path: STANDARD_INPUT,
      form: reader.form,
      producer: reader.producer,
      files: [input.name, ...other?.files ?? []],
      get ignored() {
        return ignored.list();
      },
    },
    async *sequences(): AsyncGenerator<TokenSequence> {
      if (isRead) throw new TypeError("standard input can be read only once");
      isRead = true;
      await using opened = input;
      const sequences = reader.read(opened, ignored);
      yield* other ? completedBy(sequences, sequencesOf(other, { ignored }), ignored) : sequences;
    },
  };
}

async function foundAt(path: string): Promise<FoundDump> {
  if (isFolder(path)) {
    const dump = await dumpIn(path);
    if (dump) return dump;
    throw new UserError(
      `Cannot find a token dump in ${path}: it holds no rank_N.jsonl, traces.jsonl, train_data_stepN.jsonl, tokens.jsonl, ` +
        "episodes.jsonl, completions_N.parquet or N.jsonl with tokens; name the file",
    );
  }
  await using input = await openLog(path);
  const reader = surestReader(input.head, TOKEN_READERS)?.reader;
  if (!reader) throw unreadable(input);
  return { files: [path], reader };
}

/**
 * Opens a token dump. Nothing but its beginning is read before its sequences are asked for.
 *
 * @param path A file, a folder in which dumps lie (a run's, `token_exports`, `step_N`, …), or `-` for standard input.
 * @returns The dump; each call of `sequences` reads it from its beginning, of standard input only one can. Where token exports
 *   and traces lie in one folder, the traces complete the exports.
 * @throws {UserError} When there is no dump, or its form is not known; while it is read: when a row is damaged.
 */
export async function readTokens(
  path: string,
  options: ReadTokensOptions = {},
): Promise<TokenBatch> {
  const other = options.completedBy === undefined ? undefined : await foundAt(options.completedBy);
  if (path !== STANDARD_INPUT) {
    const dump = await foundAt(path);
    return batchOfFiles(path, { ...dump, completedBy: other ?? dump.completedBy }, options);
  }
  const input = options.opened ?? await openLog(path);
  const reader = surestReader(input.head, TOKEN_READERS)?.reader;
  if (!reader) throw unreadable(input);
  return batchOfStream(input, reader, other);
}

/** What lies at a path: a log of metrics, a token dump, or both. */
export interface PathContent {
  readonly log: boolean;
  readonly dump: boolean;
  /** Standard input, which can be opened only once: whoever reads it takes it from here. */
  readonly opened?: OpenedLog;
}

function hasLog(folder: string): boolean {
  try {
    findLog(folder);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function kindsOf({ head }: LogInput): PathContent {
  const dump = surestReader(head, TOKEN_READERS)?.sureness ?? 0;
  const log = surestReader(head, LOG_READERS)?.sureness ?? 0;
  return { log: log > 0 && log >= dump, dump: dump > log };
}

/**
 * What a path leads to, by the first bytes of what lies there.
 *
 * @param path A file, a folder, or `-` for standard input.
 * @returns Neither, where no reader knows the form: whoever then reads it says why.
 * @throws {UserError} When the path cannot be read.
 */
export async function contentOf(path: string): Promise<PathContent> {
  if (path === STANDARD_INPUT) {
    const opened = await openLog(path);
    return { ...kindsOf(opened), opened };
  }
  if (isFolder(path)) return { log: hasLog(path), dump: await dumpIn(path) !== undefined };
  await using input = await openLog(path);
  return kindsOf(input);
}
