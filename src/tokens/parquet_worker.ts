/** Decodes a Parquet file away from the main thread, where a damaged one that never ends can be stopped. */
import { parquetMetadata, parquetReadObjects } from "hyparquet";

/** What the worker answers: the rows in portions, then the end of them; or why there are none. */
export type ParquetAnswer =
  | { readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly done: true }
  | { readonly error: string };

/** What the worker is asked. */
export interface ParquetQuestion {
  readonly file: ArrayBuffer;
  /** A table with more rows is refused. */
  readonly maxRows: number;
}

/** Rows decoded at once. */
const ROWS_AT_ONCE = 1024;

/** A worker's own end of the line; the types of a window have none. */
const main = globalThis as unknown as {
  postMessage(answer: ParquetAnswer): void;
  onmessage: (question: MessageEvent<ParquetQuestion>) => void;
};

async function decode({ file, maxRows }: ParquetQuestion): Promise<void> {
  const metadata = parquetMetadata(file);
  const count = Number(metadata.num_rows);
  if (!(count <= maxRows)) throw new RangeError(`it has ${count} rows`);
  for (let rowStart = 0; rowStart < count; rowStart += ROWS_AT_ONCE) {
    const rowEnd = Math.min(rowStart + ROWS_AT_ONCE, count);
    main.postMessage({ rows: await parquetReadObjects({ file, metadata, rowStart, rowEnd }) });
  }
  main.postMessage({ done: true });
}

main.onmessage = ({ data }) => {
  decode(data).catch((error) => {
    main.postMessage({ error: error instanceof Error ? error.message : String(error) });
  });
};
