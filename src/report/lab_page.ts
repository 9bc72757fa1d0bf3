/** The pages of the experiments: what each shows, what must hold, its tables beside the tutorial's numbers, its figures. */
import { z } from "zod";
import { EXPERIMENTS } from "../lab/experiments.ts";
import type { LabCheck, ResultFigure } from "../lab/experiment.ts";
import type { LabRecord } from "../lab/lab.ts";
import { type Chart, chartFigure, type Tone } from "./chart.ts";
import type { Section } from "./document.ts";
import { formatCell } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { partHeading, resultTable, verdictMark } from "./tables.ts";

/** Marks and curves of a figure in turn; the last ones are levels to compare with. */
const TONES: readonly Tone[] = ["first", "second", "third", "fourth", "fifth", "level"];

type FigureSeries = ResultFigure["series"][number];

const constantsSchema = z.record(z.string(), z.number());

/** A line of two points of one height is a level. */
function isLevel({ style, points }: FigureSeries): boolean {
  return style === "line" && points.length === 2 && points[0]?.[1] === points[1]?.[1];
}

/** Figure 6.1 marks constants by name: each becomes a series of its own, so that the legend can tell them apart. */
function namedSeries(record: LabRecord, series: FigureSeries): FigureSeries[] {
  const constants = constantsSchema.safeParse(record.data.constants);
  if (!constants.success || series.style !== "points") return [series];
  const names = Object.entries(constants.data);
  const isNamed = series.points.every(([x]) => names.some(([, value]) => value === x));
  if (!isNamed) return [series];
  return names.map(([name, value]) => ({
    name,
    style: "points",
    points: series.points.filter(([x]) => x === value),
  }));
}

function figureChart(record: LabRecord, figure: ResultFigure, index: number): Chart {
  const { title, xLabel, yLabel } = figure;
  const series = figure.series.flatMap((one) => namedSeries(record, one));
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
  return html`<li>${verdictMark(holds ? "holds" : "missed")} ${requirement} <span class="note">(${
    formatCell(value)
  })</span></li>`;
}

function experiment(record: LabRecord): Html {
  const { title, shows, quick, variant, checks, tables, figures, durationMs } = record;
  const marks = [
    `lab ${record.experiment}${variant === null ? "" : `, variant ${variant}`}`,
    `seed ${record.seed}`,
    `${formatCell(durationMs / 1000)} s`,
    ...(quick ? ["quick"] : []),
  ];
  return html`${partHeading(experimentId(record), title)}
<p>${shows}</p>
<p class="note">${marks.join(" · ")}</p>
${checks.length === 0 ? NOTHING : html`<ul>${checks.map(checkItem)}</ul>`}
<div class="results">${figures.map((figure, i) => chartFigure(figureChart(record, figure, i)))}${
    tables.map(resultTable)
  }</div>`;
}

/**
 * The page of the experiments.
 *
 * @param records At least one.
 */
export function labPage(records: readonly LabRecord[]): Section {
  const order = EXPERIMENTS.map(({ name }) => name);
  const sorted = records.toSorted((a, b) =>
    order.indexOf(a.experiment) - order.indexOf(b.experiment)
  );
  const quick = records.some((record) => record.quick)
    ? " Experiments marked quick ran in smaller sizes, so a requirement may be missed by chance."
    : "";
  return {
    id: "lab",
    title: "Policy gradients: the experiments",
    body:
      html`<p>Each table has the tutorial's numbers beside ours. They come from other random streams and another implementation of the gym, so
they agree in range and shape unless a requirement says that they are exact.${quick}</p>
${sorted.map(experiment)}`,
    parts: sorted.map((record) => ({
      id: experimentId(record),
      title: record.experiment + (record.variant === null ? "" : ` (${record.variant})`),
    })),
  };
}
