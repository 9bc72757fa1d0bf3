/** The common token dump, version 1: JSONL that any trainer can write, one sequence a line. docs/formats.md describes it. */
import { requireSchema } from "../core/schema.ts";
import { type Field, IDS } from "./field.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import {
  LOG_PROB_SIDES,
  type LogProbSide,
  type TokenSequence,
  type TokenValues,
} from "./token_batch.ts";
import type { TokenNotes, TokenReader } from "./token_reader.ts";
import { filled, present } from "./token_values.ts";

type Schema = typeof import("./common_dump_row.ts");

/** Keys of the log-probs by side. */
export const SIDE_KEYS = {
  sampler: "lp_sampler",
  old: "lp_old",
  trainer: "lp_new",
  reference: "lp_ref",
} as const satisfies Record<LogProbSide, string>;

const VERSIONS = { min: -(2 ** 31), max: 2 ** 31 - 1 };

function withoutNulls(row: Field): Record<string, unknown> {
  const there = row.entries().filter(([, field]) => !field.isAbsent);
  return Object.fromEntries(there.map(([key, field]) => [key, field.value]));
}

/** What the row says of the whole sequence, held to the schema. */
function scalarsOf(row: Field, { COMMON_DUMP_SCALARS }: Schema) {
  const label = (key: string) => row.get(key).label();
  const parts = row.get("reward_parts");
  const loss = row.get("loss");
  // What has several spellings is read here, since a schema cannot say in one sentence what is wrong with it.
  const read = present({
    run: label("run"),
    environment: label("env"),
    group: label("group"),
    sample: label("sample"),
    reward: row.get("reward").number(),
    loss: loss.isAbsent ? undefined : present({
      aggregation: loss.get("agg").label(),
      denominator: loss.get("denom").number(),
    }),
    rewardParts: parts.isAbsent
      ? undefined
      : new Map(parts.entries().map(([key, part]) => [key, part.number() ?? NaN] as const)),
  });
  const source = `${row.place.file}, row ${row.place.row}`;
  const found = requireSchema(withoutNulls(row), COMMON_DUMP_SCALARS, { source });
  return {
    offset: found.pack_at ?? 0,
    ...read,
    ...present({
      step: found.step,
      phase: found.phase,
      rank: found.rank,
      microBatch: found.mb,
      packingRow: found.pack_row,
      padding: found.pad,
      stop: found.stop === "eos" ? "end" as const : found.stop,
      stopText: found.stop_text,
      temperature: found.temp,
      topP: found.top_p,
      prompt: found.prompt,
      answer: found.answer,
      answerLength: found.answer_len,
    }),
  };
}

/** What the row says of each token. */
function tokensOf(row: Field, { ROLE_LETTERS }: Schema) {
  const ids = row.get("ids").ids();
  const { length } = ids;
  const optional = <T>(key: string, read: (field: Field) => T): T | undefined => {
    const field = row.get(key);
    return field.isAbsent ? undefined : read(field);
  };
  const values = (key: string) => optional(key, (field) => field.values(length));
  const logProbs: { [side in LogProbSide]?: TokenValues } = {};
  for (const side of LOG_PROB_SIDES) {
    const found = values(SIDE_KEYS[side]);
    if (found) logProbs[side] = found;
  }
  const letters = new Map(ROLE_LETTERS.map((letter, index) => [letter, index]));
  const advantage = Array.isArray(row.get("adv").value) ? undefined : row.get("adv").number();
  return {
    ids,
    logProbs,
    ...present({
      positions: optional("pos", (field) => field.integers(new Uint32Array(length), IDS)),
      mask: optional("mask", (field) => field.flags(length)),
      sampled: optional("sampled", (field) => field.flags(length)),
      roles: optional("role", (field) => field.words(length, letters)),
      entropy: values("entropy"),
      advantage,
      advantages: advantage === undefined ? values("adv") : filled(advantage, length),
      weightVersions: optional("ver", (field) => {
        const versions = new Int32Array(length);
        return Array.isArray(field.value)
          ? field.integers(versions, VERSIONS)
          : versions.fill(field.integer(VERSIONS));
      }),
    }),
  };
}

function sequenceOf(row: Field, schema: Schema, notes: TokenNotes): TokenSequence {
  for (const [key] of row.entries()) {
    if (!Object.hasOwn(schema.COMMON_DUMP_ROW.shape, key)) {
      notes.ignore("keys that the common dump does not have", key);
    }
  }
  return { ...row.place, ...scalarsOf(row, schema), ...tokensOf(row, schema) };
}

/** The common token dump. */
export const COMMON_DUMP: TokenReader = {
  form: "common_dump",
  title: "the common token dump, version 1",
  howToGet: [
    "any trainer: one JSON object per sequence, as docs/formats.md describes; docs/exporters/ has the writers for TRL, verl, ROLL, slime, SkyRL and OpenRLHF",
  ],
  holds: "tokens",
  detect(head) {
    const keys = firstKeys(head);
    if (!keys) return 0;
    if (keys.has("v") && keys.has("ids")) return 1;
    // A long first row shows its first keys alone.
    return keys.has("ids") || keys.has("v") && keys.has("sample") ? 0.7 : 0;
  },
  async *read(input, notes) {
    // With zod, which nobody should wait for who reads something else.
    const schema = await import("./common_dump_row.ts");
    for await (const row of jsonRows(input, notes)) yield sequenceOf(row, schema, notes);
  },
};
