/** trainer_state.json of Hugging Face's Trainer, also a bare list of its rows. */
import { jsonFields } from "./fields.ts";
import { isTrainerRow } from "./hf_rows.ts";
import { TrainerSteps } from "./hf_steps.ts";
import { firstJsonItem, readJsonItems } from "./json_items.ts";
import { numberOf } from "./literal.ts";
import type { LogReader } from "./reader.ts";
import type { LogSettings } from "./run_log.ts";

const LIST_KEY = "log_history";

/** Settings under keys of the document. Numbers of steps below 1 are shares of the run, and -1 is "not set". */
const SETTINGS: ReadonlyMap<string, keyof LogSettings> = new Map([
  ["max_steps", "plannedSteps"],
  ["logging_steps", "loggingSteps"],
]);

/** trainer_state.json. */
export const TRAINER_STATE: LogReader = {
  form: "trainer_state",
  title: "trainer_state.json of the Hugging Face Trainer (TRL, Unsloth, ms-swift, open-r1)",
  howToGet: [
    "TRL, Unsloth, ms-swift, open-r1: trainer_state.json in each checkpoint-N (always written)",
  ],
  detect(head) {
    const first = firstJsonItem(head, LIST_KEY);
    if (!first) return 0;
    if (first.isUnderKey) return 0.97;
    return isTrainerRow(jsonFields(first.text) ?? []) ? 0.95 : 0;
  },
  async read(input, builder, options = {}) {
    const steps = new TrainerSteps(builder, options.settings?.loggingSteps);
    const parts = {
      item(text: string, line: number) {
        const fields = jsonFields(text);
        if (fields) steps.take({ fields, line });
        else builder.ignore("rows that are not valid JSON", text);
      },
      scalar(key: string, text: string) {
        const setting = SETTINGS.get(key);
        const value = numberOf(text);
        if (setting && value !== undefined && value >= 1) builder.set({ [setting]: value });
      },
    };
    await readJsonItems(input, { sink: builder, parts, listKey: LIST_KEY });
    steps.end();
  },
};
