/** The bytes of a file that grows, as one stream that waits at the end of the file instead of ending there. */
import { fillFrom, openRegularFile } from "./read_file.ts";

/** Bytes read at once. */
const PIECE_BYTES = 2 ** 18;

/** The last bytes that were read, which must still stand where they stood. */
const MARK_BYTES = 256;

const LINE_FEED = 10;

/** The longest last line that is looked at. */
const LINE_BYTES = 2 ** 16;

/** A file that is read on and on. */
export class FileBytes {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  #offset = 0;
  #mark: Uint8Array<ArrayBuffer> = new Uint8Array();
  #isWanted = false;
  #resume = Promise.withResolvers<void>();
  /** Resolves when the reader asks for more than there is, or is done. */
  #caughtUp = Promise.withResolvers<void>();
  #reading: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #isStopped = false;
  /** Where a line feed was handed out that was not in the file. */
  #endedAt = -1;

  /** Opens it. @throws {UserError} When it cannot be read. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openRegularFile(path, { maxBytes: Infinity }).file;
  }

  /** Gives a reader the bytes as they come. It must take all of them, and ends when it is stopped. */
  begin(read: (pieces: AsyncIterable<Uint8Array>) => Promise<void>): void {
    this.#reading = read(this.#pieces()).catch((error) => {
      this.#failure = { error };
    }).then(() => this.#caughtUp.resolve());
  }

  /**
   * Reads what is new, and waits until the reader has taken it.
   *
   * @param isWhole Whether a last line that lacks its line feed is whole all the same: then it is ended.
   * @throws What the reader throws.
   */
  async readOn(isWhole: (line: string) => boolean): Promise<void> {
    await this.#want();
    const line = this.#lastLine();
    if (line === "" || this.#endedAt === this.#offset || !isWhole(line)) return;
    this.#endedAt = this.#offset;
    await this.#want();
  }

  /** True where the file at the path is this one, and what was read of it still stands there. */
  goesOn(path: string): boolean {
    if (path !== this.#path || this.#failure) return false;
    const [open, now] = [this.#file.statSync(), Deno.statSync(path)];
    if (open.ino !== now.ino || open.dev !== now.dev || now.size < this.#offset) return false;
    const { length } = this.#mark;
    return this.#bytesBack(length).every((byte, i) => byte === this.#mark[i]);
  }

  /** Ends the reader, and closes the file. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#resume.resolve();
    await this.#reading;
    this.#file.close();
  }

  async #want(): Promise<void> {
    this.#isWanted = true;
    this.#resume.resolve();
    await this.#caughtUp.promise;
    this.#caughtUp = Promise.withResolvers();
    if (this.#failure) throw this.#failure.error;
  }

  /** The last bytes that were read, as they stand in the file now. */
  #bytesBack(count: number): Uint8Array<ArrayBuffer> {
    const length = Math.min(count, this.#offset);
    this.#file.seekSync(this.#offset - length, Deno.SeekMode.Start);
    return fillFrom(this.#file, new Uint8Array(length));
  }

  /** What was read behind the last line feed; nothing where it is long. */
  #lastLine(): string {
    const bytes = this.#bytesBack(LINE_BYTES);
    const feed = bytes.lastIndexOf(LINE_FEED);
    return feed < 0 ? "" : new TextDecoder().decode(bytes.subarray(feed + 1));
  }

  /** The next bytes of the file; empty at its end. */
  #next(): Uint8Array<ArrayBuffer> {
    this.#file.seekSync(this.#offset, Deno.SeekMode.Start);
    const piece = fillFrom(this.#file, new Uint8Array(PIECE_BYTES));
    if (piece.length === 0) return piece;
    // The line feed that ends a line which was ended already.
    const isRepeated = this.#endedAt === this.#offset && piece[0] === LINE_FEED;
    this.#offset += piece.length;
    this.#mark = piece.length >= MARK_BYTES
      ? piece.slice(-MARK_BYTES)
      : new Uint8Array([...this.#mark, ...piece]).slice(-MARK_BYTES);
    return isRepeated ? piece.subarray(1) : piece;
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    let endedAt = -1;
    while (!this.#isStopped) {
      while (!this.#isWanted && !this.#isStopped) await this.#resume.promise;
      this.#resume = Promise.withResolvers();
      if (this.#endedAt !== endedAt) {
        endedAt = this.#endedAt;
        yield Uint8Array.of(LINE_FEED);
      }
      for (let before = -1; before !== this.#offset && !this.#isStopped;) {
        before = this.#offset;
        const piece = this.#next();
        if (piece.length > 0) yield piece;
        // All of this is done without a wait, and a page is to be served and Ctrl-C heard meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      this.#isWanted = false;
      this.#caughtUp.resolve();
    }
  }
}
