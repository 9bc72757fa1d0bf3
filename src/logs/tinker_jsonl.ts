/** tinker-cookbook's metrics.jsonl: one flat row an iteration. */
import { jsonlReader, mostHave } from "./jsonl_reader.ts";

/** tinker-cookbook's JSONL. */
export const TINKER_JSONL = jsonlReader({
  form: "tinker_jsonl",
  title: "tinker-cookbook metrics.jsonl",
  producer: "tinker",
  howToGet: ["tinker-cookbook: metrics.jsonl in log_path (always written)"],
  sureness: (rows) =>
    mostHave(rows, /^step$/) &&
      mostHave(rows, /^(?:progress\/batch|env\/all\/|optim\/kl_sample_train)/)
      ? 0.93
      : 0,
  rows: { stepKey: "step" },
});
