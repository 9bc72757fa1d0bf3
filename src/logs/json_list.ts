/** Any JSON list of objects with numbers. */
import { jsonFields } from "./fields.ts";
import { firstJsonItem, readJsonItems } from "./json_items.ts";
import type { LogReader } from "./reader.ts";
import { RowLog } from "./row_log.ts";

/** An object with such a list is none: it is not known under which key its rows are. */
const NO_KEY = "";

/** Any JSON list of rows. */
export const JSON_LIST: LogReader = {
  form: "json_list",
  title: "any JSON list of objects with numbers and a step",
  howToGet: ['any program: [{"step": 1, "reward": 0.41}, …]'],
  detect(head) {
    const first = firstJsonItem(head, NO_KEY);
    if (!first || first.isUnderKey) return 0;
    return jsonFields(first.text)?.some(({ value }) => typeof value === "number") ? 0.5 : 0;
  },
  async read(input, builder, options = {}) {
    const log = new RowLog(builder, { name: input.name, options, form: {} });
    const parts = {
      item(text: string, line: number) {
        const fields = jsonFields(text);
        if (fields) log.take(fields, line);
        else builder.ignore("rows that are not valid JSON", text);
      },
      scalar() {},
    };
    await readJsonItems(input, { sink: builder, parts, listKey: NO_KEY });
    log.end();
  },
};
