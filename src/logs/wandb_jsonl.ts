/** History of a W&B run as JSONL, such as the rows of `run.scan_history()`. */
import { jsonlReader, mostHave } from "./jsonl_reader.ts";

/** W&B's history. */
export const WANDB_JSONL = jsonlReader({
  form: "wandb_jsonl",
  title: "Weights & Biases history as JSONL",
  howToGet: [
    'any trainer with W&B: for row in wandb.Api().run("ENTITY/PROJECT/RUN").scan_history(): print(json.dumps(row))',
  ],
  sureness: (rows) =>
    mostHave(rows, /^_step$/) && mostHave(rows, /^_(?:timestamp|runtime)$/) ? 0.94 : 0,
  rows: { stepCarriesOver: true },
});
