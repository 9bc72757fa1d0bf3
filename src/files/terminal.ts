/** The standard streams: remarks that may get lost, and results that may not. */

/** A stream that takes bytes and may take only a part of them. */
interface ByteSink {
  writeSync(bytes: Uint8Array): number;
}

/** A reader that is slow gets this much time before the rest is offered again. */
const WAIT_MS = 2;

/**
 * Writes a text to a stream, all of it.
 *
 * @throws {Error} As the stream does: its reader is gone, the disk behind it is full.
 */
export function writeText(stream: ByteSink, text: string): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(stream.writeSync(rest));
    } catch (error) {
      // Another program may have made a shared pipe one that does not wait.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}

/**
 * Writes a remark or progress to stderr. Where that is closed, full or a pipe whose reader has ended, the remark is lost and the work
 * goes on: a log collector that died must not stop a run.
 *
 * @param text With its line feed.
 */
export function remark(text: string): void {
  try {
    writeText(Deno.stderr, text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

/** Narrower terminals are written for as if they had these columns; pipes get {@linkcode PLAIN_COLUMNS}. */
const LEAST_COLUMNS = 40;

/** Longer lines are hard to read, however wide the terminal is. */
const MOST_COLUMNS = 120;

/** Columns where the output is not a terminal. */
const PLAIN_COLUMNS = 80;

/** Columns of the terminal; undefined where it does not say. */
function consoleColumns(): number | undefined {
  try {
    // Some terminals of programs say 0.
    return Deno.consoleSize().columns || undefined;
  } catch {
    return undefined;
  }
}

/** Columns to write for on stdout: those of the terminal, from 40 to 120; 80 where it is none. */
export function terminalColumns(): number {
  const columns = Deno.stdout.isTerminal() ? consoleColumns() : undefined;
  return Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns ?? PLAIN_COLUMNS));
}

/** Columns of the terminal that stderr is, however few; 80 where it is none. */
export function stderrColumns(): number {
  return (Deno.stderr.isTerminal() ? consoleColumns() : undefined) ?? PLAIN_COLUMNS;
}

/** Whether results on stdout may have colours: it is a terminal, and NO_COLOR does not forbid them. */
export function hasColours(): boolean {
  return Deno.stdout.isTerminal() && !Deno.noColor;
}
