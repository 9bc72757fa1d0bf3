/** What the referee found, for a terminal: the verdict, a table of sides, then the findings. */
import { escapeControls } from "../src/core/sentence.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import type { SaidFinding } from "../src/diagnose/finding.ts";
import { causeWords, isOpenReference } from "../src/diagnose/referee/referee_words.ts";
import type { RefereeDocument } from "../src/diagnose/referee/report_schema.ts";
import { countOf } from "../src/diagnose/tokens/words.ts";
import { findingsText, type Layout } from "./findings_text.ts";
import { formatColumns } from "./table.ts";

const HEADER = ["side", " tokens", " mean", " signed", " p50", " p99", " max", "explained by"];

/**
 * Lays a document out.
 *
 * @param layout Columns and colours.
 */
export function refereeText(
  document: Omit<RefereeDocument, "findings"> & { readonly findings: readonly SaidFinding[] },
  layout: Layout,
): string {
  const { verdict, sides, dump, model, adapter, temperature, findings } = document;
  const { columns } = layout;
  const numbers = (values: readonly number[]) =>
    values.map((value) =>
      value === 0 ? "0" : Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(2)
    );
  const rows = sides.map((side) => [
    side.comparedWith === "reference" ? `${side.side} (its folder)` : side.side,
    String(side.tokens),
    ...numbers([side.meanNats, side.signedMeanNats, side.p50, side.p99, side.max]),
    isOpenReference(side) ? "(no folder of its own)" : causeWords(side.explainedBy),
  ]);
  const table = rows.length === 0 ? [] : [
    "",
    "Each side minus the model, nats",
    ...formatColumns(HEADER, rows, { columns, indent: 2 }),
  ];
  const scored = dump.scored === dump.sequences
    ? countOf(dump.scored, "sequence")
    : `${dump.scored} of ${countOf(dump.sequences, "sequence")}`;
  const told = `${dump.path}, ${scored}, ${
    countOf(dump.tokens, "token")
  }, under ${model.path} (${model.architecture}${model.adapter === null ? "" : ", adapter merged"}${
    temperature === 1 ? "" : `, at T ${temperature}`
  }) on ${adapter}`;
  const wrap = (text: string) => wrapText(escapeControls(text), { columns, indent: 0 });
  const absent = (["sampler", "old"] as const).filter((key) =>
    sides.length > 0 &&
    !sides.some(({ side }) => side === key || (key === "old" && side === "trainer"))
  );
  const missing = absent.map((key) =>
    key === "sampler"
      ? "The dump has no log-probs of the sampler (lp_sampler)."
      : "The dump has no log-probs of the trainer (lp_old before its update, lp_new)."
  );
  // A verdict stands at the top; findings with no more to say than it are left out.
  const isOpen = findings.some(({ id, class: kind }) =>
    kind === "not-checkable" && id === "sides_agree"
  );
  const reference = findings.filter(({ id, class: kind }) =>
    kind === "holds" && id === "reference_is_not_start"
  );
  const shown = findings.filter((finding) => finding.class !== "holds");
  const body = shown.length === 0 ? [] : [findingsText(
    {
      source: [],
      name: "this dump",
      nothingToDo: isOpen
        ? "First: give what is missing; it stands below."
        : "First: nothing to do. No side that could be judged left the model.",
      rest: [],
    },
    shown,
    layout,
  )];
  return [
    ...wrap(verdict),
    ...table,
    "",
    ...reference.flatMap(({ sentence }) => [...wrap(sentence), ""]),
    ...wrap(told),
    ...missing.flatMap(wrap),
    ...(body.length > 0 ? ["", ...body] : []),
  ]
    .join("\n");
}
