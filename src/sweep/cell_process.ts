/** The process of one cell: started apart from its parent's signals, logged, stopped by request, and judged by how it ends. */
import { UserError } from "../core/errors.ts";
import { asUserError } from "../files/file_error.ts";

/** A program to start, as data. */
export interface CellCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a cell's process ended. */
export interface CellEnd {
  readonly exitCode: number;
  /** The JSON document on standard output; undefined: there was none. */
  readonly document: unknown;
  /** What went wrong, for people; null: nothing did. */
  readonly problem: string | null;
  /** True: a signal ended it, or it saved itself because of one. */
  readonly isBySignal: boolean;
  readonly durationMs: number;
}

/** A process that runs. */
export interface CellProcess {
  readonly end: Promise<CellEnd>;
  /** Asks it to save itself and end; a second call ends it at once. */
  stop(): void;
}

/** 128 + SIGHUP, SIGINT, SIGTERM. */
const SIGNAL_CODES = [129, 130, 143];

/** Of what a process writes on standard error this much is looked at for the reason of a failure. */
const TAIL_BYTES = 4096;

/** What a process has printed when it has ended: a program that it left behind may hold its streams, and is not waited for. */
const DRAIN_MS = 1000;

/** Reads a stream until it ends or nobody waits any more. */
async function drain(
  stream: ReadableStream<Uint8Array>,
  { take, signal }: { readonly take: (bytes: Uint8Array) => void; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await stream.pipeTo(new WritableStream({ write: take }), { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The end of what was written, for the reason of a failure. */
class Tail {
  #bytes = new Uint8Array();

  add(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#bytes.length + bytes.length);
    joined.set(this.#bytes);
    joined.set(bytes, this.#bytes.length);
    this.#bytes = joined.slice(-TAIL_BYTES);
  }

  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }
}

/** Writes to a log. One that cannot be written does not stop a run. */
function writeLog(log: Deno.FsFile, bytes: Uint8Array): void {
  try {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(log.writeSync(rest));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** Waits for a process: how it ended, and what it printed. */
async function watch(child: Deno.ChildProcess, log: Deno.FsFile) {
  const abort = new AbortController();
  const { signal } = abort;
  const tail = new Tail();
  const decoder = new TextDecoder();
  let stdout = "";
  const streams = Promise.all([
    drain(child.stdout, {
      signal,
      take: (bytes) => stdout += decoder.decode(bytes, { stream: true }),
    }),
    drain(child.stderr, {
      signal,
      take: (bytes) => {
        writeLog(log, bytes);
        tail.add(bytes);
      },
    }),
  ]);
  const status = await child.status;
  const timer = setTimeout(() => abort.abort(), DRAIN_MS);
  await streams;
  clearTimeout(timer);
  return { status, stdout, tail: tail.text };
}

/** The document that a text holds; undefined: none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The last line that says something, without what a terminal would obey. */
function lastLine(text: string): string | undefined {
  return text.split(/[\r\n]+/).map((line) => line.replace(/\p{Cc}\[?K?/gu, "").trim())
    .findLast((line) => line !== "");
}

/**
 * Why an end is a failure. A command that prints its document and ends with 1 has a bad result, which is a result.
 *
 * @returns null where it is none.
 */
function problemOf(
  { code, signal }: Deno.CommandStatus,
  { document, tail }: { readonly document: unknown; readonly tail: string },
): string | null {
  if (signal !== null) return `it was ended by ${signal}`;
  if (code === 0 || (code === 1 && document !== undefined)) return null;
  return lastLine(tail) ?? `it ended with ${code} and said nothing`;
}

function spawn({ program, args, env = {} }: CellCommand): Deno.ChildProcess {
  try {
    return new Deno.Command(program, {
      args: [...args],
      env: { ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      // A Ctrl-C reaches every process of the terminal's group. The pool passes on what it hears, once.
      detached: true,
    }).spawn();
  } catch (error) {
    const failure = asUserError(error, `Cannot start ${program}`);
    throw failure instanceof UserError ? failure : new UserError(
      `Cannot start ${program}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/**
 * Starts the process of a cell.
 *
 * @param command What to start.
 * @param options.log The file that its standard error goes to, appended; its folder exists.
 * @param options.title A line before it.
 * @throws {UserError} When it cannot be started, or its log not be opened.
 */
export function startCell(
  command: CellCommand,
  { log, title }: { readonly log: string; readonly title: string },
): CellProcess {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(log, { append: true, create: true });
  } catch (error) {
    throw asUserError(error, `Cannot write ${log}`);
  }
  const startMs = performance.now();
  let child: Deno.ChildProcess;
  try {
    file.writeSync(new TextEncoder().encode(`${title}\n`));
    child = spawn(command);
  } catch (error) {
    file.close();
    throw asUserError(error, `Cannot write ${log}`);
  }
  const end = async () => {
    try {
      const { status, stdout, tail } = await watch(child, file);
      const document = parsed(stdout);
      return {
        exitCode: status.code,
        document,
        problem: problemOf(status, { document, tail }),
        isBySignal: status.signal !== null || SIGNAL_CODES.includes(status.code),
        durationMs: performance.now() - startMs,
      };
    } finally {
      file.close();
    }
  };
  let asked = 0;
  const stop = () => {
    try {
      // A repeated SIGTERM counts once, since schedulers send it to every process; another signal is the second one.
      child.kill(asked++ === 0 ? "SIGTERM" : "SIGINT");
    } catch (error) {
      // It has ended meanwhile.
      if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
    }
  };
  return { end: end(), stop };
}
