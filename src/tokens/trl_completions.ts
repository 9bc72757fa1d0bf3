/** TRL's table of completions: the texts of one generation batch with their rewards and advantages, as Parquet. */
import { UserError } from "../core/errors.ts";
import type { LogInput } from "../logs/reader.ts";
import { Field } from "./field.ts";
import type { TokenSequence } from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";

/** Rows taken out of the file at once. */
const ROWS_AT_ONCE = 1024;
/** A batch of a million completions is none; a damaged footer promises more. */
const MAX_ROWS = 1_000_000;
const MAX_BYTES = 64 * 2 ** 20;

const ADVANTAGE = /^advantages?$/;

async function bytesOf({ bytes }: LogInput): Promise<ArrayBuffer> {
  return await new Response(ReadableStream.from(bytes()) as ReadableStream).arrayBuffer();
}

/** A text; of a conversation its JSON. */
function textOf(field: Field): string | undefined {
  if (field.isAbsent || typeof field.value === "string") return field.label();
  return JSON.stringify(field.value, (_, value) => typeof value === "bigint" ? `${value}` : value);
}

/** Columns of numbers besides the step and the advantage: what each reward function paid. */
function partsOf(row: Field): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  for (const [key, { value }] of row.entries()) {
    if (key === "step" || ADVANTAGE.test(key)) continue;
    if (typeof value === "number" || typeof value === "bigint") parts.set(key, Number(value));
  }
  return parts;
}

/** Names groups: TRL gives no name to one, but writes its completions one after the other. */
class Groups {
  #prompt: string | undefined;
  #count = 0;

  of(prompt: string | undefined): string {
    if (prompt !== this.#prompt) this.#count++;
    this.#prompt = prompt;
    return String(this.#count);
  }
}

function sequenceOf(row: Field, groups: Groups): TokenSequence {
  const prompt = textOf(row.get("prompt"));
  const parts = partsOf(row);
  const advantageKey = row.entries().find(([key]) => ADVANTAGE.test(key))?.[0];
  const step = row.get("step").value;
  return {
    ...row.place,
    offset: 0,
    ids: new Uint32Array(),
    logProbs: {},
    group: groups.of(prompt),
    ...present({
      // Integers of 64 bits.
      step: step === undefined || step === null ? undefined : Number(step),
      prompt,
      answer: textOf(row.get("completion")),
      advantage: advantageKey === undefined ? undefined : row.get(advantageKey).number(),
      rewardParts: parts.size > 0 ? parts : undefined,
      // The weights of several functions are not told.
      reward: parts.size === 1 ? [...parts.values()][0] : undefined,
    }),
  };
}

/** What the decoder answers; what it throws is said of the file. */
async function decoded<T>(name: string, decode: () => T | Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    throw new UserError(
      `Cannot read ${name}: its Parquet is damaged, or packed otherwise than with Snappy (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
}

async function* rowsOf(input: LogInput): AsyncGenerator<Field> {
  const { parquetMetadata, parquetReadObjects } = await import("hyparquet");
  const file = await bytesOf(input);
  const metadata = await decoded(input.name, () => parquetMetadata(file));
  const count = Number(metadata.num_rows);
  if (!(count <= MAX_ROWS)) {
    throw new UserError(
      `Cannot read ${input.name}: it has ${count} rows, but a table of completions must have at most ${MAX_ROWS}`,
    );
  }
  for (let rowStart = 0; rowStart < count; rowStart += ROWS_AT_ONCE) {
    const rowEnd = Math.min(rowStart + ROWS_AT_ONCE, count);
    const rows = await decoded(
      input.name,
      () => parquetReadObjects({ file, metadata, rowStart, rowEnd }),
    );
    for (const [i, row] of rows.entries()) {
      yield new Field(row, { file: input.name, row: rowStart + i + 1 });
    }
  }
}

const MAGIC = "PAR1";

/** TRL's completions. */
export const TRL_COMPLETIONS: TokenReader = {
  form: "trl_completions",
  title: "TRL completions/completions_N.parquet (texts)",
  producer: "trl",
  howToGet: ["TRL: GRPOConfig(log_completions=True); completions/ in the output folder"],
  holds: "texts",
  maxBytes: MAX_BYTES,
  detect: (head) => new TextDecoder().decode(head.subarray(0, MAGIC.length)) === MAGIC ? 1 : 0,
  async *read(input) {
    const groups = new Groups();
    for await (const row of rowsOf(input)) yield sequenceOf(row, groups);
  },
};
