/** prime-rl's metrics.jsonl: several rows per step, and no row has a value that was not finite. */
import { jsonlReader, mostHave } from "./jsonl_reader.ts";

/** prime-rl's JSONL. */
export const PRIME_RL_JSONL = jsonlReader({
  form: "prime_rl_jsonl",
  title: "prime-rl metrics.jsonl",
  producer: "prime_rl",
  howToGet: ["prime-rl: metrics.jsonl in the output folder (on by default)"],
  sureness: (rows) =>
    mostHave(rows, /^step$/) && mostHave(rows, /^time$/) &&
      rows.some((row) =>
        row.some(({ key }) =>
          /^(?:mismatch_kl|optim|loss|is_masked)\/|\/(?:all|effective)\//.test(key)
        )
      )
      ? 0.93
      : 0,
  rows: { stepKey: "step" },
});
