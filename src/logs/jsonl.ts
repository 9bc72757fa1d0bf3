/** Any JSONL with numbers, our own metrics.jsonl among it. */
import { jsonlReader } from "./jsonl_reader.ts";
import type { LogField } from "./literal.ts";
import { fieldNumber, findStepKey } from "./step_key.ts";

/** Keys of dumps of completions and tokens, under which stand texts and lists: rows of those are not metrics. */
const DUMP_KEYS: ReadonlySet<string> = new Set([
  "token_ids",
  "input_ids",
  "ids",
  "nodes",
  "traces",
  "trajectories",
  "completion",
  "response",
  "output",
  "prompt",
  "messages",
]);

/** True where rows are one for each completion: by their keys, or since most have the step and the keys of the row before. */
function isDump(rows: readonly (readonly LogField[])[]): boolean {
  const dumps = rows.filter((row) =>
    row.some(({ key, value }) => DUMP_KEYS.has(key) && fieldNumber(value) === undefined)
  );
  if (dumps.length * 2 > rows.length) return true;
  const stepKey = findStepKey(rows);
  const shapes = rows.map((row) =>
    JSON.stringify(row.map(({ key, value }) => key === stepKey ? value : key))
  );
  const repeated = shapes.filter((shape, i) => i > 0 && shape === shapes[i - 1]).length;
  return stepKey !== undefined && repeated * 2 > rows.length;
}

/** Any JSONL. */
export const JSONL = jsonlReader({
  form: "jsonl",
  title: "any JSONL with numbers and a step",
  howToGet: ['any program: one JSON object per line, for example {"step": 12, "reward": 0.41}'],
  sureness(rows) {
    if (rows.length === 0 || isDump(rows)) return 0;
    const hasNumbers = rows.some((row) =>
      row.some(({ value }) => fieldNumber(value) !== undefined)
    );
    if (!hasNumbers) return 0;
    if (findStepKey(rows) !== undefined) return 0.9;
    // One object without a step is a configuration.
    return rows.length > 1 ? 0.4 : 0;
  },
  rows: {},
});
