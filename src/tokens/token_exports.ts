/** prime-rl's token exports: the batch as its trainer saw it, packed rows of every rank. */
import { firstKeys, jsonRows } from "./json_rows.ts";
import { type Field, IDS } from "./field.ts";
import type { TokenSequence, TokenValues } from "./token_batch.ts";
import type { TokenNotes, TokenReader } from "./token_reader.ts";
import { present, sliceValues, withoutFillers, withoutFirst } from "./token_values.ts";

/** The version of the format that is read. */
const SCHEMA_VERSION = 1;

/** What a row says of each of its tokens. */
interface RowTokens {
  readonly ids: Uint32Array;
  readonly positions: Uint32Array | undefined;
  readonly mask: Uint8Array | undefined;
  readonly sampler: TokenValues | undefined;
  readonly trainer: TokenValues | undefined;
  readonly entropy: TokenValues | undefined;
  readonly advantages: TokenValues | undefined;
}

function rowTokens(row: Field): RowTokens {
  const ids = row.get("token_ids").ids();
  const { length } = ids;
  const optional = <T>(key: string, read: (field: Field) => T): T | undefined => {
    const field = row.get(key);
    return field.isAbsent ? undefined : read(field);
  };
  const values = (key: string) => optional(key, (field) => field.values(length));
  return {
    ids,
    positions: optional(
      "position_ids",
      (field) => field.integers(new Uint32Array(length), IDS),
    ),
    mask: policyMask(optional("loss_mask", (field) => field.flags(length)), values("rl_weights")),
    sampler: values("inference_logprobs"),
    trainer: values("trainer_logprobs"),
    entropy: values("entropy"),
    advantages: values("advantages"),
  };
}

/** The tokens of the loss mask without those that only another loss trains (distillation, imitation): nobody sampled those. */
function policyMask(
  mask: Uint8Array | undefined,
  weights: TokenValues | undefined,
): Uint8Array | undefined {
  return mask?.map((flag, token) => weights?.values[token] === 0 ? 0 : flag);
}

/** Where sequences begin in a row: at its first token, and wherever positions do not go on. */
function beginnings({ ids, positions }: RowTokens): number[] {
  const found = [0];
  for (let i = 1; positions && i < ids.length; i++) {
    if (positions[i] <= positions[i - 1]) found.push(i);
  }
  return found;
}

/** What the row says of the tokens from `begin` to before `end`. */
function sequenceTokens(tokens: RowTokens, begin: number, end: number) {
  const slice = (values: TokenValues | undefined) => values && sliceValues(values, begin, end);
  const scored = (values: TokenValues | undefined) => {
    const part = slice(values);
    return part && withoutFirst(part);
  };
  const mask = tokens.mask?.subarray(begin, end);
  const sampler = scored(tokens.sampler);
  return {
    ids: tokens.ids.subarray(begin, end),
    logProbs: present({
      // 0 stands where nothing was sampled; under the mask it may as well be the log-prob of a sure token.
      sampler: sampler && withoutFillers(sampler, (value, token) => value === 0 && !mask?.[token]),
      trainer: scored(tokens.trainer),
    }),
    ...present({
      positions: tokens.positions?.subarray(begin, end),
      mask,
      entropy: scored(tokens.entropy),
      advantages: slice(tokens.advantages),
    }),
  };
}

function* sequencesOf(row: Field, notes: TokenNotes): Generator<TokenSequence> {
  const version = row.get("schema_version").count();
  if (version !== undefined && version !== SCHEMA_VERSION) {
    throw row.get("schema_version").refuse(`is ${version}, but only ${SCHEMA_VERSION} is read`);
  }
  const tokens = rowTokens(row);
  const begins = beginnings(tokens);
  const ofRow = present({
    run: row.get("run_id").label(),
    step: row.get("step").count(),
    rank: row.get("rank").count(),
    microBatch: row.get("micro_step").count(),
    environment: row.get("env_name").label(),
  });
  for (const [index, begin] of begins.entries()) {
    const sequence = sequenceTokens(tokens, begin, begins[index + 1] ?? tokens.ids.length);
    // What fills a row up has positions too; the writer leaves out rows without a trained token itself.
    if (begins.length > 1 && sequence.mask?.includes(1) === false) {
      const { file, row: number } = row.place;
      notes.ignore("parts of packed rows without a trained token", `${file}, row ${number}`);
      continue;
    }
    // There is no log-prob of before the update but the one that the update itself computes.
    yield { ...row.place, offset: begin, ...ofRow, phase: "pre", ...sequence };
  }
}

/** prime-rl's token exports. */
export const TOKEN_EXPORTS: TokenReader = {
  form: "token_exports",
  title: "prime-rl token_exports/step_N/rank_R.jsonl",
  producer: "prime_rl",
  howToGet: [
    "prime-rl: trainer.enable_token_export = true; with the traces in rollouts/ of the same folder, groups, rewards and roles are known, too",
  ],
  holds: "tokens",
  detect(head) {
    const keys = firstKeys(head);
    if (!keys) return 0;
    if (keys.has("export_sequence_idx") || keys.has("micro_sequence_idx")) return 1;
    return keys.has("token_ids") && keys.has("inference_logprobs") ? 0.9 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) yield* sequencesOf(row, notes);
  },
};
