/** The pages of the experiments: what each shows, what must hold, its tables beside the tutorial's numbers, its figures. */
import type { LabCheck, ResultFigure } from "../lab/experiment.ts";
import type { LabRecord } from "../lab/lab.ts";
import { type Chart, chartFigure, type Tone } from "./chart.ts";
import type { Section } from "./document.ts";
import { formatCell } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { resultTable, verdictMark } from "./tables.ts";

/** Marks and curves of a figure in turn; the last ones are levels to compare with. */
const TONES: readonly Tone[] = ["first", "second", "third", "fourth"];

/** A line of two points of one height is a level. */
function isLevel({ style, points }: ResultFigure["series"][number]): boolean {
  return style === "line" && points.length === 2 && points[0]?.[1] === points[1]?.[1];
}

function figureChart(record: LabRecord, figure: ResultFigure, index: number): Chart {
  const { title, xLabel, yLabel, series } = figure;
  return {
    id: idOf(experimentId(record), "figure", index),
    title,
    xLabel,
    yLabel,
    series: series.map((one, i) => ({
      ...one,
      tone: isLevel(one) && i === series.length - 1 ? "level" : TONES[i % TONES.length],
    })),
  };
}

/** The element that shows an experiment. */
export function experimentId({ experiment, variant }: LabRecord): string {
  return idOf("lab", experiment, ...(variant === null ? [] : [variant]));
}

function checkItem({ requirement, value, holds }: LabCheck): Html {
  return html`<li>${verdictMark(holds ? "holds" : "violated")} ${requirement} <span class="note">(${
    formatCell(value)
  })</span></li>`;
}

function experiment(record: LabRecord): Html {
  const { title, shows, quick, variant, checks, tables, figures, durationMs } = record;
  const marks = [
    `lab ${record.experiment}${variant === null ? "" : ` --variant ${variant}`}`,
    `seed ${record.seed}`,
    `${formatCell(durationMs / 1000)} s`,
    ...(quick ? ["quick: smaller sizes, so a requirement may be missed by chance"] : []),
  ];
  return html`<h3 id="${experimentId(record)}">${title}</h3>
<p>${shows}</p>
<p class="note">${marks.join(" · ")}</p>
${checks.length === 0 ? NOTHING : html`<ul>${checks.map(checkItem)}</ul>`}
${tables.map(resultTable)}
${
    figures.length === 0
      ? NOTHING
      : html`<div class="charts wide">${
        figures.map((figure, i) => chartFigure(figureChart(record, figure, i)))
      }</div>`
  }`;
}

/**
 * The page of the experiments.
 *
 * @param records At least one.
 */
export function labPage(records: readonly LabRecord[]): Section {
  return {
    id: "lab",
    title: "Policy gradients: the experiments",
    body:
      html`<p>Each table has the tutorial's numbers beside ours. They come from other random streams and another implementation of the gym, so
they agree in range and shape unless a requirement says that they are exact.</p>
${records.map(experiment)}`,
    parts: records.map((record) => ({
      id: experimentId(record),
      title: record.experiment + (record.variant === null ? "" : ` (${record.variant})`),
    })),
  };
}
