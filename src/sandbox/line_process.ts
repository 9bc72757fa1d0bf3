/** A process that is talked to in lines: started, heard until it ends, and ended with everything that it started. */
import { UserError } from "../core/errors.ts";
import { commandLine } from "../core/shell_words.ts";

/** What ends a process that writes without line breaks, before it fills the memory. */
const LONGEST_LINE_CHARACTERS = 64 * 2 ** 20;

/** Lines of standard error that are kept: a sentence about the end quotes the last of them. */
const KEPT_LINES = 20;

/** Blank lines, marks below a line of source, and places on a stack: not why a process has ended. */
const SAYS_NOTHING = /^(?:[\s^~]*|at .*|\d+: .*|Stack backtrace:)$/;

// deno-lint-ignore no-control-regex -- What terminals take for colours.
const COLOURS = /\x1b\[[\d;]*m/g;

/** How long a process may take to end when it is asked to. */
const CLOSE_MS = 2000;

/** Who hears a process. */
export interface LineListener {
  /** A line of its standard output, without its end. */
  onLine(line: string): void;
  /** It has ended, or can no longer be understood; nothing is heard of it any more. @param how For example "ended with exit code 1". */
  onEnd(how: string): void;
  /** A piece of its standard error, as it came. */
  onRemark(text: string): void;
}

function spawn(words: readonly string[]): Deno.ChildProcess {
  const [program = "", ...args] = words;
  try {
    return new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      // Ctrl-C on a terminal goes to the whole group: a run that finishes its step still needs its environment.
      detached: true,
      // A Python that is not told otherwise keeps what it prints until a block is full.
      env: { PYTHONUNBUFFERED: "1" },
    }).spawn();
  } catch (error) {
    const attempt = `Cannot start the environment ${commandLine(words)}`;
    if (error instanceof Deno.errors.NotFound) {
      throw new UserError(`${attempt}: there is no program ${JSON.stringify(program)}`);
    }
    if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.BadResource) {
      throw new UserError(`${attempt}: ${JSON.stringify(program)} may not be run`);
    }
    throw error;
  }
}

/** A moment in which what a process has written arrives; one that it started may hold its streams open for ever. */
function soon(): Promise<void> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, 100)));
}

function endOf({ signal, code }: Deno.CommandStatus): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

/** One process. It sees the end of its input when this program ends, however that ends. */
export class LineProcess {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #listener: LineListener;
  readonly #lastLines: string[] = [];
  readonly #heard: Promise<unknown>;
  #openLine = "";
  #isOver = false;

  /**
   * Starts it.
   *
   * @param words Program and arguments.
   * @throws {UserError} When there is no such program, or it may not be run.
   */
  constructor(words: readonly string[], listener: LineListener) {
    this.#listener = listener;
    this.#child = spawn(words);
    this.#writer = this.#child.stdin.getWriter();
    const errors = this.#hearErrors();
    this.#heard = Promise.all([errors, this.#hearLines(errors)]);
  }

  /** The last line that it wrote to standard error and that says something; "" where there is none. */
  get lastRemark(): string {
    return [...this.#lastLines, this.#openLine]
      .map((line) => line.replace(COLOURS, "").trim())
      .findLast((line) => !SAYS_NOTHING.test(line)) ?? "";
  }

  /** Writes a line. Where nobody reads it, nothing is thrown: the end of the process is reported separately. */
  say(line: string): void {
    this.#writer.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  }

  async #hearLines(errors: Promise<void>): Promise<void> {
    // Pieces of an unfinished line are joined once: a line of many pieces is not copied for each of them.
    let open: string[] = [];
    let openLength = 0;
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const [first = "", ...rest] = text.split("\n");
      open.push(first);
      openLength += first.length;
      for (const next of rest) {
        const line = open.join("");
        open = [next];
        openLength = next.length;
        if (!this.#isOver) this.#listener.onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
      }
      if (openLength > LONGEST_LINE_CHARACTERS) {
        return this.end(`wrote a line of more than ${LONGEST_LINE_CHARACTERS} characters`);
      }
    }
    if (this.#isOver) return;
    // One that has closed its output and goes on can answer nothing.
    const timer = setTimeout(() => this.#kill(), CLOSE_MS);
    const status = await this.#child.status;
    clearTimeout(timer);
    // What it said last is heard before its end is told; a process of its own may hold the stream open.
    await Promise.race([errors, soon()]);
    this.end(endOf(status));
  }

  async #hearErrors(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#listener.onRemark(text);
      const lines = `${this.#openLine}${text}`.split("\n");
      this.#openLine = (lines.pop() ?? "").slice(-1000);
      this.#lastLines.push(...lines.slice(-KEPT_LINES));
      this.#lastLines.splice(0, this.#lastLines.length - KEPT_LINES);
    }
  }

  #kill(): void {
    try {
      // With all that it started; this needs more permission than ending it alone.
      Deno.kill(-this.#child.pid, "SIGKILL");
    } catch {
      try {
        this.#child.kill("SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Ends it at once. @param how What its listener is told; nothing where it had ended. */
  end(how: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#kill();
    this.#listener.onEnd(how);
  }

  /** Lets it end by itself, with the end of its input, and ends it where it does not. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#writer.close().catch(() => {});
    const timer = setTimeout(() => this.#kill(), CLOSE_MS);
    await this.#child.status;
    clearTimeout(timer);
    // Whatever it started and left behind.
    this.#kill();
    await Promise.race([this.#heard, soon()]);
    this.#child.unref();
  }
}
