/**
 * Writes the Parquet files of the tests, as TRL has them: `deno run -A --no-lock tests/tokens/make_parquet.ts`. They are
 * committed, since a writer among the imports would come with every command.
 */
const WRITER: string = "npm:hyparquet-writer@0.17.0";

const FOLDER = new URL("parquet/", import.meta.url);

/** The columns of a generation batch: three answers to one prompt, two to the next, and so on. */
function completions(rowCount: number) {
  const rows = Array.from({ length: rowCount }, (_, i) => i);
  return [
    { name: "step", data: rows.map(() => 10n), type: "INT64" },
    { name: "prompt", data: rows.map((i) => i % 5 < 3 ? "1+1" : "1+2"), type: "STRING" },
    { name: "completion", data: rows.map((i) => `answer ${i} é`), type: "STRING" },
    { name: "tests", data: rows.map((i) => i / 4), type: "DOUBLE" },
    { name: "advantage", data: rows.map((i) => i === 4 ? NaN : i - 1), type: "DOUBLE" },
  ];
}

const FILES = {
  snappy: { codec: "SNAPPY", columnData: completions(5) },
  uncompressed: { codec: "UNCOMPRESSED", columnData: completions(5) },
  long: { codec: "SNAPPY", columnData: completions(2500) },
  rewards: {
    columnData: [
      { name: "prompt", data: [[{ role: "user", content: "hi" }]], type: "JSON" },
      { name: "completion", data: ["hello"], type: "STRING" },
      { name: "a", data: [1], type: "DOUBLE" },
      { name: "b", data: [0.5], type: "DOUBLE" },
    ],
  },
  small: {
    columnData: [
      { name: "prompt", data: ["a", "a", "b"], type: "STRING" },
      { name: "completion", data: ["x", "y", "z"], type: "STRING" },
      { name: "advantage", data: [1, -1, 0], type: "DOUBLE" },
    ],
  },
};

/** A file that this script has written. */
export function parquetFile(name: keyof typeof FILES): Uint8Array {
  return Deno.readFileSync(new URL(`${name}.parquet`, FOLDER));
}

if (import.meta.main) {
  const { parquetWriteBuffer } = await import(WRITER);
  Deno.mkdirSync(FOLDER, { recursive: true });
  for (const [name, file] of Object.entries(FILES)) {
    Deno.writeFileSync(
      new URL(`${name}.parquet`, FOLDER),
      new Uint8Array(parquetWriteBuffer(file)),
    );
  }
}
