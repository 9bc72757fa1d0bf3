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

/** Passes a stream on to a file and keeps its end. A log that cannot be written does not stop a run. */
async function logStream(stream: ReadableStream<Uint8Array>, log: Deno.FsFile): Promise<string> {
  let tail = new Uint8Array();
  for await (const bytes of stream) {
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(log.writeSync(rest));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    const joined = new Uint8Array(tail.length + bytes.length);
    joined.set(tail);
    joined.set(bytes, tail.length);
    tail = joined.slice(-TAIL_BYTES);
  }
  return new TextDecoder().decode(tail);
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
      const [status, stdout, tail] = await Promise.all([
        child.status,
        new Response(child.stdout).text(),
        logStream(child.stderr, file),
      ]);
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
