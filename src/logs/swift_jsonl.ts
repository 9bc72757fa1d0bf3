/** ms-swift's logging.jsonl: rows of the Trainer with the step as "12/2400". */
import { jsonlReader, mostHave } from "./jsonl_reader.ts";
import { SWIFT_STEP, swiftStep } from "./hf_rows.ts";

/** ms-swift's JSONL. */
export const SWIFT_JSONL = jsonlReader({
  form: "swift_jsonl",
  title: "ms-swift logging.jsonl",
  howToGet: ["ms-swift: logging.jsonl in the output folder (always written)"],
  sureness: (rows) => mostHave(rows, /^global_step\/max_steps$/) ? 0.95 : 0,
  rows: {
    stepKey: SWIFT_STEP,
    stepCarriesOver: true,
    readStep(text, sink) {
      const told = swiftStep(text);
      if (told) sink.set({ plannedSteps: told.plannedSteps });
      return told?.step;
    },
  },
});
