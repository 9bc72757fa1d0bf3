/** verl's file logger: `{"step":12,"data":{…}}` a line, with null for NaN. */
import { jsonlReader } from "./jsonl_reader.ts";

const PREFIX = "data/";

/** verl's JSONL. */
export const VERL_JSONL = jsonlReader({
  form: "verl_jsonl",
  title: "verl file logger",
  producer: "verl",
  howToGet: [
    'verl: trainer.logger=["console","file"], which writes $VERL_FILE_LOGGER_PATH or ' +
    "$VERL_FILE_LOGGER_ROOT/PROJECT/EXPERIMENT.jsonl; the file is emptied at every start",
  ],
  sureness: (rows) =>
    rows.length > 0 &&
      rows.every((row) => row.every(({ key }) => key === "step" || key.startsWith(PREFIX))) &&
      rows.some((row) => row.length > 1 && row.some(({ key }) => key === "step"))
      ? 0.95
      : 0,
  rows: { stepKey: "step", nullIsNaN: true },
  unwrap: (fields) =>
    fields.map(({ key, ...rest }) => ({
      key: key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key,
      ...rest,
    })),
});
