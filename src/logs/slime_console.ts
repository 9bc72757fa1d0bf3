/** slime's console: `rollout 3: {…}`, `perf 3: {…}`, `eval 3: {…}` by rollout, and `step 12: {…}` by optimizer step. */
import type { ConsoleForm } from "./console_reader.ts";
import { numbersOf } from "./fields.ts";
import { LabelledDicts } from "./labelled_dicts.ts";

const LINE = /(?:^|[\s\]-])(?<!Global )(rollout|step|perf|eval) (\d+):\s*/;
/** Its own step keys repeat the number of the line. */
const STEP_KEY = /^(?:rollout|train|perf|eval)\/step$/;

/** slime's console. */
export const SLIME_CONSOLE: ConsoleForm = {
  form: "slime_console",
  title: "slime console log",
  producer: "slime",
  howToGet: ["slime: the run's output in a file: … 2>&1 | tee slime.log"],
  begin: (sink) =>
    new LabelledDicts(sink, {
      mark: ": {",
      label: LINE,
      take({ label: [, kind, number], line, fields }) {
        const axis = kind === "step" ? "step" : "rollout";
        const own = fields.filter(({ key }) => !STEP_KEY.test(key));
        sink.add(Number(number), { line, axis }, numbersOf(own, sink));
      },
    }),
};
