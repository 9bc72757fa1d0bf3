/** NeMo-RL's training data: one sample a row, padded on the right, most values wrapped in a list of one. */
import type { Field } from "./field.ts";
import { hashOfIds } from "./ids_hash.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import type { TokenSequence, TokenValues } from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { filled, present, sliceValues, withoutFillers, withoutFirst } from "./token_values.ts";

/** A list of tokens, taken out of the list of one that it may stand in. */
function tokenList(field: Field): Field {
  const isWrapped = Array.isArray(field.value) && field.value.length === 1 &&
    Array.isArray(field.value[0]);
  return isWrapped ? field.only() : field;
}

/** The arrays of a row, as long as its padded ids. */
function rowTokens(row: Field) {
  const ids = tokenList(row.get("token_ids")).ids();
  const { length } = ids;
  const values = (key: string): TokenValues | undefined => {
    const field = tokenList(row.get(key));
    return field.isAbsent ? undefined : field.values(length);
  };
  const mask = tokenList(row.get("token_loss_mask"));
  return {
    ids,
    mask: mask.isAbsent ? undefined : mask.flags(length),
    sampler: values("generation_logprobs"),
    old: values("prev_logprobs"),
  };
}

/** The advantages of the tokens before the padding: one each, or one for all. */
function advantagesOf(field: Field, padded: number, length: number) {
  if (field.isAbsent) return {};
  const { value } = field;
  if (Array.isArray(value) && (value.length !== 1 || padded === 1)) {
    return { advantages: sliceValues(field.values(padded), 0, length) };
  }
  const advantage = field.only().number();
  return advantage === undefined ? {} : { advantage, advantages: filled(advantage, length) };
}

function sequenceOf(row: Field, step: number | undefined): TokenSequence {
  const tokens = rowTokens(row);
  const stated = row.get("input_lengths").only().count();
  const length = stated ?? tokens.ids.length;
  if (length > tokens.ids.length) {
    throw row.get("input_lengths").refuse(
      `is ${length}, but token_ids has ${tokens.ids.length} values with the padding`,
    );
  }
  const slice = (values: TokenValues | undefined) => values && sliceValues(values, 0, length);
  const scored = (values: TokenValues | undefined) => {
    const part = slice(values);
    return part && withoutFirst(part);
  };
  const ids = tokens.ids.subarray(0, length);
  // A sample that is masked as a whole is not trained, whatever its tokens say.
  const isTrained = row.get("sample_loss_mask").only().number() !== 0;
  const mask = tokens.mask?.subarray(0, length).map((flag) => isTrained ? flag : 0);
  const sampler = scored(tokens.sampler);
  const answerAt = tokens.mask?.indexOf(1) ?? -1;
  // Under dynamic sampling `rewards` holds those of all samples.
  const filtered = row.get("filtered_rewards");
  const rewards = filtered.isAbsent ? row.get("rewards") : filtered;
  return {
    ...row.place,
    offset: 0,
    ids,
    padding: { left: 0, right: tokens.ids.length - length },
    logProbs: present({
      // 0 stands where nothing was sampled; under the mask it may as well be the log-prob of a sure token.
      sampler: sampler &&
        withoutFillers(sampler, (value, token) => value === 0 && !tokens.mask?.[token]),
      old: scored(tokens.old),
    }),
    ...advantagesOf(tokenList(row.get("advantages")), tokens.ids.length, length),
    ...present({
      step,
      // There is no name of a group: samples of one prompt are one.
      group: answerAt > 0 ? `prompt ${hashOfIds(ids.subarray(0, answerAt))}` : undefined,
      sample: row.get("idx").only().label(),
      mask,
      reward: rewards.only().number(),
    }),
  };
}

/** The step in the name of a file. */
function stepOfName(name: string): number | undefined {
  const [, step] = /train_data_step(\d+)\.jsonl/.exec(name) ?? [];
  return step === undefined ? undefined : Number(step);
}

/** NeMo-RL's training data. */
export const NEMO_RL: TokenReader = {
  form: "nemo_rl",
  title: "NeMo-RL train_data_stepN.jsonl",
  producer: "nemo_rl",
  howToGet: [
    "NeMo-RL: logger.log_dir/exp_N/train_data_stepN.jsonl (on by default, unless the gym logs its own)",
  ],
  holds: "tokens",
  detect(head) {
    const keys = firstKeys(head);
    if (!keys) return 0;
    if (keys.has("token_loss_mask") || keys.has("generation_logprobs")) return 1;
    // The text comes first, and may be all that the first bytes show.
    return keys.has("input_lengths") && keys.has("rewards") ? 0.7 : 0;
  },
  async *read(input, notes) {
    const step = stepOfName(input.name);
    for await (const row of jsonRows(input, notes)) yield sequenceOf(row, step);
  },
};
