/** Opens a file or standard input as the pieces and lines of a log, unpacked where gzip packed it. */
import { UserError } from "../core/errors.ts";
import type { LogInput } from "../logs/reader.ts";
import { linesOf } from "../logs/text_lines.ts";
import { asUserError } from "./file_error.ts";
import { formatBytes, requireRegular } from "./read_file.ts";

/** The path that stands for standard input. */
export const STANDARD_INPUT = "-";

/** Enough for every reader to know its form. */
const HEAD_BYTES = 64 * 2 ** 10;

/**
 * gzip packs zeros 1,030 to 1, and the most uniform logs 60 to 1. What unpacks further than this, and to more than that, was
 * made to fill a memory.
 */
const MAX_UNPACKED_RATIO = 400;
const UNPACKED_BYTES_ALLOWED = 2 ** 30;

/** An opened log, with the means to close it. */
export interface OpenedLog extends LogInput, AsyncDisposable {}

/** How a log is opened. */
export interface OpenOptions {
  /** Told the number of bytes read of the file, as packed as it is. */
  readonly onBytes?: (count: number) => void;
  /** What gzip may unpack to whatever its ratio, 1 GiB where it is left out. */
  readonly unpackedBytesAllowed?: number;
}

/**
 * The size of a regular file.
 *
 * @throws {UserError} When there is none, or it is a pipe, a device or a folder: reading one may never end.
 */
export function fileSize(path: string): number {
  const attempt = `Cannot read ${path}`;
  try {
    const info = Deno.statSync(path);
    requireRegular(info, attempt);
    return info.size;
  } catch (error) {
    throw asUserError(error, attempt);
  }
}

async function* readPieces(
  stream: ReadableStream<Uint8Array>,
  { name, onBytes }: { readonly name: string } & OpenOptions,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of stream) {
      onBytes?.(piece.length);
      yield piece;
    }
  } catch (error) {
    throw asUserError(error, `Cannot read ${name}`);
  }
}

async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  { name, unpackedBytesAllowed = UNPACKED_BYTES_ALLOWED }: { readonly name: string } & OpenOptions,
): AsyncGenerator<Uint8Array> {
  let packedBytes = 0;
  const counted = async function* () {
    for await (const piece of packed) {
      packedBytes += piece.length;
      // A copy: the decompressor needs a buffer of its own.
      yield new Uint8Array(piece);
    }
  };
  let unpackedBytes = 0;
  try {
    const gunzip = new DecompressionStream("gzip");
    for await (const piece of ReadableStream.from(counted()).pipeThrough(gunzip)) {
      unpackedBytes += piece.length;
      const isBomb = unpackedBytes > unpackedBytesAllowed &&
        unpackedBytes > packedBytes * MAX_UNPACKED_RATIO;
      if (isBomb) {
        throw new UserError(
          `Cannot read ${name}: ${formatBytes(packedBytes)} of gzip unpack to more than ` +
            `${formatBytes(unpackedBytes)}, which no log does`,
        );
      }
      yield piece;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UserError(
      `Cannot read ${name}: its gzip is cut off, damaged or several files in one; ` +
        `pipe it in unpacked (gzip -dc ${name} | … -)`,
    );
  }
}

/** Takes pieces off until there are `HEAD_BYTES` or all. */
async function takeHead(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  while (sizeBytes < HEAD_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    parts.push(value);
    sizeBytes += value.length;
  }
  const head = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const part of parts) {
    head.set(part, offset);
    offset += part.length;
  }
  return head;
}

async function* withHead(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function openStream(path: string): ReadableStream<Uint8Array> {
  if (path === STANDARD_INPUT) return Deno.stdin.readable;
  fileSize(path);
  try {
    return Deno.openSync(path).readable;
  } catch (error) {
    throw asUserError(error, `Cannot read ${path}`);
  }
}

/**
 * Opens a log. What gzip packed is known by its first bytes and unpacked.
 *
 * @param path A file, or `-` for standard input.
 * @returns The log; dispose of it when it is read.
 * @throws {UserError} When there is no such file, or something else is there.
 */
export async function openLog(path: string, options: OpenOptions = {}): Promise<OpenedLog> {
  const name = path === STANDARD_INPUT ? "standard input" : path;
  let pieces: AsyncGenerator<Uint8Array> = readPieces(openStream(path), { name, ...options });
  const opened = [pieces];
  let head = await takeHead(pieces);
  if (head[0] === 0x1f && head[1] === 0x8b) {
    pieces = unpack(withHead(head, pieces), { name, ...options });
    opened.unshift(pieces);
    head = await takeHead(pieces);
  }
  const bytes = () => withHead(head, pieces);
  return {
    name,
    head: head.subarray(0, HEAD_BYTES),
    bytes,
    lines: () => linesOf(bytes(), { name }),
    async [Symbol.asyncDispose]() {
      for (const stream of opened) await stream.return(undefined);
    },
  };
}
