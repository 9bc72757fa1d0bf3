/** Rows of a Parquet file, decoded by a worker that is stopped where a damaged file would keep it for ever. */
import { UserError } from "../core/errors.ts";
import type { ParquetAnswer, ParquetQuestion } from "./parquet_worker.ts";

/** Longer than the largest file that is read takes for a portion of its rows on a slow machine. */
const PATIENCE_MS = 60_000;

/** How a file is decoded. */
export interface DecodeOptions {
  /** What sentences call it. */
  readonly name: string;
  /** A table with more rows is refused. */
  readonly maxRows: number;
  /** How long the decoder may say nothing. */
  readonly patienceMs?: number;
}

/** One message of the worker; undefined where it says nothing for too long. */
function nextAnswer(worker: Worker, patienceMs: number): () => Promise<ParquetAnswer | undefined> {
  const waiting: ParquetAnswer[] = [];
  let wake = () => {};
  worker.onmessage = ({ data }: MessageEvent<ParquetAnswer>) => {
    waiting.push(data);
    wake();
  };
  worker.onerror = (event) => {
    event.preventDefault();
    waiting.push({ error: event.message });
    wake();
  };
  return async () => {
    if (waiting.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, patienceMs);
      await promise;
      clearTimeout(timer);
    }
    return waiting.shift();
  };
}

/**
 * The rows of a Parquet file, in portions.
 *
 * @param file The whole file; it is handed over and cannot be used afterwards.
 * @throws {UserError} When it is damaged, has too many rows, or is packed otherwise than with Snappy.
 */
export async function* parquetRows(
  file: ArrayBuffer,
  { name, maxRows, patienceMs = PATIENCE_MS }: DecodeOptions,
): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
  const worker = new Worker(new URL("./parquet_worker.ts", import.meta.url), { type: "module" });
  try {
    const next = nextAnswer(worker, patienceMs);
    const question: ParquetQuestion = { file, maxRows };
    worker.postMessage(question, [file]);
    for (;;) {
      const answer = await next() ?? { error: "decoding it does not finish" };
      if ("done" in answer) return;
      if ("error" in answer) {
        throw new UserError(
          `Cannot read ${name}: its Parquet is damaged, too long, or compressed with something other than Snappy (${answer.error})`,
        );
      }
      yield answer.rows;
    }
  } finally {
    worker.terminate();
  }
}
