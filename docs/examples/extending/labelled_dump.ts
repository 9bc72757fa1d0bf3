/** Rows as many training scripts have them: ids, labels of −100 where nothing is trained, and a log-prob of each label. */
import { firstKeys, jsonRows } from "../../../src/tokens/json_rows.ts";
import type { TokenReader } from "../../../src/tokens/token_reader.ts";

const LABELS = { min: -100, max: 2 ** 31 - 1 };

/** Labelled rows. */
export const LABELLED_DUMP: TokenReader = {
  form: "labelled",
  title: "JSONL with input_ids, labels and logprobs",
  howToGet: ["any script: one object per sequence with lists of one length"],
  holds: "tokens",
  detect: (head) => {
    const keys = firstKeys(head);
    return keys?.has("input_ids") && keys.has("labels") ? 0.9 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) {
      const ids = row.get("input_ids").ids();
      const labels = row.get("labels").integers(new Int32Array(ids.length), LABELS);
      yield {
        ...row.place,
        offset: 0,
        ids,
        mask: Uint8Array.from(labels, (label) => Number(label >= 0)),
        logProbs: { trainer: row.get("logprobs").values(ids.length) },
      };
    }
  },
};
