/** tinker-cookbook's rollout summaries: what each trajectory was paid and how long it was, without a text. */
import type { Field } from "./field.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import type { TokenSequence } from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";

function partsOf(row: Field): ReadonlyMap<string, number> | undefined {
  const metrics = row.get("trajectory_metrics");
  const parts = new Map<string, number>();
  for (const [key, { value }] of metrics.isAbsent ? [] : metrics.entries()) {
    if (typeof value === "number") parts.set(key, value);
  }
  return parts.size > 0 ? parts : undefined;
}

function tagsOf(row: Field): string | undefined {
  const tags = row.get("tags");
  if (tags.isAbsent) return undefined;
  const names = tags.items().map((tag) => tag.label());
  return names.length > 0 ? names.join(" ") : undefined;
}

function sequenceOf(row: Field): TokenSequence {
  const group = row.get("group_idx").label();
  const steps = row.get("steps");
  const lengths = steps.isAbsent ? [] : steps.items().map((step) => step.get("ac_len").count());
  const isCounted = lengths.length > 0 && lengths.every((length) => length !== undefined);
  return {
    ...row.place,
    offset: 0,
    ids: new Uint32Array(),
    logProbs: {},
    ...present({
      step: row.get("iteration").count(),
      environment: tagsOf(row),
      group,
      sample: `${group ?? ""}.${row.get("traj_idx").label() ?? ""}`,
      reward: row.get("total_reward").number(),
      rewardParts: partsOf(row),
      answerLength: isCounted
        ? lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0)
        : undefined,
    }),
  };
}

/** tinker-cookbook's rollout summaries. */
export const TINKER_ROLLOUTS: TokenReader = {
  form: "tinker_rollouts",
  title: "tinker-cookbook *_rollout_summaries.jsonl (lengths and rewards)",
  producer: "tinker",
  howToGet: ["tinker-cookbook: iteration_N/train_rollout_summaries.jsonl in the log folder"],
  holds: "texts",
  detect(head) {
    const keys = firstKeys(head);
    return keys?.has("group_idx") && keys.has("traj_idx") ? 1 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) {
      const split = row.get("split").label();
      if (split === undefined || split === "train") yield sequenceOf(row);
      else notes.ignore("rows of a split other than train", split);
    }
  },
};
