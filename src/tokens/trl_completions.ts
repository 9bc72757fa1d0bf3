/** TRL's table of completions: the texts of one generation batch with their rewards and advantages, as Parquet. */
import type { LogInput } from "../logs/reader.ts";
import { Field } from "./field.ts";
import { parquetRows } from "./parquet.ts";
import type { TokenSequence } from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";

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

async function* rowsOf(input: LogInput): AsyncGenerator<Field> {
  const options = { name: input.name, maxRows: MAX_ROWS };
  let number = 0;
  for await (const rows of parquetRows(await bytesOf(input), options)) {
    for (const row of rows) yield new Field(row, { file: input.name, row: ++number });
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
