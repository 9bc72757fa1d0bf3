/** verl's rollouts: the texts of one step, decoded without special tokens, with their scores. */
import type { Field } from "./field.ts";
import { hashOfText } from "./ids_hash.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import type { TokenSequence } from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";

/** What is not part of a reward; the other numbers of a row are what its reward function told besides the score. */
const NO_PARTS: ReadonlySet<string> = new Set([
  "input",
  "output",
  "gts",
  "score",
  "reward",
  "step",
  "uid",
  "request_id",
  "index",
]);

function partsOf(row: Field): ReadonlyMap<string, number> | undefined {
  const parts = new Map<string, number>();
  for (const [key, { value }] of row.entries()) {
    if (NO_PARTS.has(key)) continue;
    if (typeof value === "number" || typeof value === "boolean") parts.set(key, Number(value));
  }
  return parts.size > 0 ? parts : undefined;
}

/** A `uid` is that of the sample in the data, of its rollout and of its output: all rollouts of a sample are a group. */
function groupOf(uid: string | undefined, prompt: string): string {
  const [, sample] = /^(.+)_\d+_\d+$/.exec(uid ?? "") ?? [];
  return sample ?? `prompt ${hashOfText(prompt)}`;
}

function sequenceOf(row: Field): TokenSequence {
  const prompt = row.get("input").label() ?? "";
  const uid = row.get("uid").label();
  return {
    ...row.place,
    offset: 0,
    ids: new Uint32Array(),
    logProbs: {},
    prompt,
    group: groupOf(uid, prompt),
    ...present({
      step: row.get("step").count(),
      sample: uid ?? row.get("request_id").label(),
      answer: row.get("output").label(),
      reward: row.get("score").number() ?? row.get("reward").number(),
      rewardParts: partsOf(row),
    }),
  };
}

/** verl's rollouts. */
export const VERL_ROLLOUTS: TokenReader = {
  form: "verl_rollouts",
  title: "verl rollout_data_dir/STEP.jsonl (texts)",
  producer: "verl",
  howToGet: ["verl: trainer.rollout_data_dir=FOLDER; validation: trainer.validation_data_dir"],
  holds: "texts",
  detect(head) {
    const keys = firstKeys(head);
    if (!keys?.has("input")) return 0;
    if (keys.has("output") && (keys.has("score") || keys.has("gts"))) return 0.95;
    // A long input can hide what follows it.
    return keys.size === 1 ? 0.5 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) yield sequenceOf(row);
  },
};
