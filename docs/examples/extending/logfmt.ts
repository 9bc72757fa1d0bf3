/** logfmt: pairs such as `level=info step=3 reward=0.25`, a row per line, as many services write their logs. */
import type { ConsoleForm } from "../../../src/logs/console_reader.ts";
import { numbersOf } from "../../../src/logs/fields.ts";

const PAIR = /(?<=^|\s)(?<key>[A-Za-z_][\w./-]*)=(?<value>"[^"]*"|\S+)/g;

/** logfmt. */
export const LOGFMT: ConsoleForm = {
  form: "logfmt",
  title: "logfmt lines",
  howToGet: ["any trainer: lines such as step=3 reward=0.25 entropy=1.5"],
  begin: (sink) => ({
    line({ text, number }) {
      const pairs = Array.from(text.matchAll(PAIR), ({ groups: { key, value } = {} }) => ({
        key: key ?? "",
        value: value ?? "",
      }));
      const step = Number(pairs.find(({ key }) => key === "step")?.value);
      const fields = pairs.filter(({ key }) => key !== "step");
      // NaN and a fraction are not steps, and a step without a number is not a row.
      if (Number.isSafeInteger(step) && fields.length > 0) {
        sink.add(step, { line: number }, numbersOf(fields, sink));
      } else if (text.trim() !== "") sink.ignore("lines without a step", text);
    },
    end() {},
  }),
};
