/** Parts of the page about speed: rollouts, training steps and growth. */
import type {
  curveSchema,
  growthSchema,
  machineSchema,
  peakSchema,
  rolloutSchema,
  trainSchema,
} from "../bench/documents.ts";
import type { z } from "zod";
import { mean } from "../core/statistics.ts";
import { type Chart, chartFigure } from "./chart.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf } from "./html.ts";
import { facts, resultTable } from "./tables.ts";

type Machine = z.infer<typeof machineSchema>;

/** Adapter, CPU and rounds, and what else is known. */
export function machineFacts(
  { adapter, cpu, rounds }: Machine,
  more: readonly (readonly [string, string])[] = [],
): Html {
  return facts([
    ["adapter", adapter],
    ["CPU", cpu],
    ["rounds", `${rounds}, interleaved; medians`],
    ...more,
  ]);
}

function peakFact({ gflops, gbPerSecond }: z.infer<typeof peakSchema>) {
  const text = `${formatNumber(gflops)} GFLOP/s from registers, ${formatNumber(gbPerSecond)} GB/s`;
  return ["peak", text] as const;
}

/** Rollouts by the number of their episodes. */
export function rolloutPart(bench: z.infer<typeof rolloutSchema>, id: string): Html {
  const { rollouts, peak } = bench;
  const chart: Chart = {
    id,
    title: "Time of a rollout, by the token",
    xLabel: "episodes",
    yLabel: "µs per token",
    series: [{
      name: "µs per token",
      style: "line",
      tone: "first",
      points: rollouts.map(({ episodes, usPerToken }) => [episodes, usPerToken]),
    }],
  };
  return html`<h3>Rollouts</h3>
${machineFacts(bench, [peakFact(peak)])}
<div class="results">${chartFigure(chart)}${
    resultTable({
      title: "Rollouts, and the roofline's least time as a share of the measured one",
      columns: ["episodes", "ms", "tokens/s", "episodes/s", "µs per token", "roofline %"],
      rows: rollouts.map((row) => [
        row.episodes,
        row.ms,
        row.tokensPerSecond,
        row.episodesPerSecond,
        row.usPerToken,
        100 * row.rooflineShare,
      ]),
    })
  }</div>`;
}

/** Training steps by their phases. */
export function trainPart(bench: z.infer<typeof trainSchema>): Html {
  const { steps, peak } = bench;
  const tables = steps.map(({ algorithm, ms, phases, phasesMs, tokensPerSecond, rooflineShare }) =>
    resultTable({
      title: `${algorithm}: ${formatNumber(tokensPerSecond)} tokens/s trained, ${
        formatNumber(100 * rooflineShare)
      } % of the roofline`,
      columns: ["phase", "ms", "% of the step"],
      rows: [
        ...phases.map((phase) => [phase.phase, phase.ms, 100 * phase.share]),
        ["sum of the phases", phasesMs, 100 * phasesMs / ms],
        ["whole step", ms, 100],
      ],
    })
  );
  return html`<h3>A training step by its phases</h3>
${machineFacts(bench, [peakFact(peak)])}
<div class="results">${tables}</div>`;
}

/** A power law through the middle of the points, at the first and the last size and between. */
function fittedLine({ sizes, ms, exponent }: z.infer<typeof curveSchema>) {
  const scale = mean(ms.map(Math.log)) - exponent * mean(sizes.map(Math.log));
  return sizes.map((size) => [size, Math.exp(scale + exponent * Math.log(size))] as const);
}

/** Curves of growth with their exponents. */
export function growthPart(bench: z.infer<typeof growthSchema>, id: string): Html {
  const figures = bench.curves.map((curve) => {
    const { axis, unit, timed, sizes, ms, exponent, expected } = curve;
    const power = `${axis}^${exponent.toFixed(2)}`;
    const chart: Chart = {
      id: idOf(id, axis),
      title: `Time against ${axis}: ${power}`,
      xLabel: unit,
      yLabel: "ms",
      isLogLog: true,
      series: [
        {
          name: "measured",
          style: "line",
          tone: "first",
          points: sizes.map((size, i) => [size, ms[i]]),
        },
        { name: power, style: "line", tone: "second", points: fittedLine(curve) },
      ],
    };
    const caption = html`${timed}; its operations grow as ${axis}^${expected.toFixed(2)}.`;
    return chartFigure(chart, caption);
  });
  return html`<h3>How time grows</h3>
${machineFacts(bench)}
<div class="results">${figures}</div>`;
}
