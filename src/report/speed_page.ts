/** The page about speed: what `agentrl bench` measured. */
import {
  allSchema,
  caseSchema,
  growthSchema,
  kernelsSchema,
  logprobSchema,
  rolloutSchema,
  scoreSchema,
  stepSchema,
  trainSchema,
} from "../bench/documents.ts";
import { z } from "zod";
import { growthPart, machineFacts, rolloutPart, trainPart } from "./bench_parts.ts";
import type { Section } from "./document.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import { logprobPart } from "./logprob_part.ts";
import { scorePart } from "./score_part.ts";
import { facts, resultTable } from "./tables.ts";

function kernelsPart(bench: z.infer<typeof kernelsSchema>): Html {
  const { adapter, cpu, rowCount, kernels, updateMs } = bench;
  return html`<h3>Kernels</h3>
${
    facts([
      ["adapter", adapter],
      ["CPU", cpu],
      ["batch", `${rowCount} tokens, one update`],
      ["all calls of an update", `${updateMs.toFixed(2)} ms`],
    ])
  }
${
    resultTable({
      title: "Time of one call",
      columns: ["kernel", "shape", "calls", "time µs", "GFLOP/s", "GB/s"],
      rows: kernels.map(({ kernel, shape, calls, timeUs, gflops, gbPerSecond }) => [
        kernel,
        shape,
        calls,
        timeUs,
        gflops,
        gbPerSecond,
      ]),
    })
  }`;
}

function stepPart(bench: z.infer<typeof stepSchema>): Html {
  const cases = Object.entries(bench).flatMap(([name, value]) => {
    const result = caseSchema.safeParse(value);
    return result.success ? [[name, result.data] as const] : [];
  });
  return html`<h3>Steps, runs and rollouts</h3>
${machineFacts(bench)}
${
    resultTable({
      title: "Ours beside the peer program",
      columns: ["case", "ours", "peer", "unit", "ours / peer"],
      rows: cases.map(([name, { oursMs, peerMs, oursMsPerToken, peerMsPerToken, ratio }]) =>
        oursMsPerToken === undefined ? [name, oursMs ?? null, peerMs ?? null, "ms", ratio] : [
          name,
          oursMsPerToken * 1000,
          typeof peerMsPerToken === "number" ? peerMsPerToken * 1000 : null,
          "µs per token",
          ratio,
        ]
      ),
    })
  }`;
}

/** The document of a suite as the page's part of it. */
function suite<S extends z.ZodType>(
  name: string,
  schema: S,
  show: (bench: z.output<S>, id: string) => Html,
) {
  return schema.transform((bench) => ({
    /** As in `agentrl bench SUITE`. */
    suite: name,
    /** The part; `id` is unique in the document. */
    show: (id: string) => show(bench, id),
  }));
}

/** The documents of single suites. That of whole steps has room for any case, so it stands last. */
const suiteSchema = z.union([
  suite("kernels", kernelsSchema, kernelsPart),
  suite("rollout", rolloutSchema, rolloutPart),
  suite("train", trainSchema, trainPart),
  suite("growth", growthSchema, growthPart),
  suite("logprob", logprobSchema, logprobPart),
  suite("score", scoreSchema, scorePart),
  suite("step", stepSchema, stepPart),
]);

/** All suites of one sitting: the machine, the layout, and the part of each suite whose document is known. */
function allPart(bench: z.infer<typeof allSchema>, id: string): Html {
  const { adapter, cpu, agentrl, measuredAt, durationMs, info, tuning, suites } = bench;
  const refused = tuning?.probes.filter(({ refusal }) => refusal !== null).length ?? 0;
  const parts = suites.map(({ suite, document, problem }, i) => {
    const known = suiteSchema.safeParse(document);
    if (known.success) return known.data.show(idOf(id, suite, i));
    return html`<h3>${suite}</h3>
<p>${
      problem === null
        ? "This report does not know the document."
        : `Not measured: ${problem}`
    }</p>`;
  });
  return html`<h3>One sitting</h3>
${
    facts([
      ["adapter", adapter],
      ["CPU", cpu],
      ["measured", `${measuredAt}, in ${Math.round(durationMs / 1000)} s, by agentrl ${agentrl}`],
      ["self-test", info.trusted ? "passed" : "failed: trust none of these numbers"],
      ["layout", sayLayout(tuning?.fastest ?? info.tuning)],
      ...Object.entries(tuning?.times ?? {}).map(([part, { startMs, ms }]) =>
        [
          `search, ${part}`,
          `${formatNumber(startMs)} → ${formatNumber(ms)} ms, ${(startMs / ms).toFixed(2)}×`,
        ] as const
      ),
      ...(refused > 0 ? [["refused", `${refused} layouts`] as const] : []),
    ])
  }
${parts}`;
}

/** The values of a layout, one after the other. */
function sayLayout(layout: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(layout).map(([name, value]) => `${name} ${value}`).join(", ");
}

/** The documents of `agentrl bench SUITE --json`, `all` among them. */
export const benchSchema = z.union([suite("all", allSchema, allPart), suiteSchema]);

/** What a suite measured. */
export type BenchData = z.infer<typeof benchSchema>;

/**
 * The page.
 *
 * @param benches At least one.
 */
export function speedPage(benches: readonly BenchData[]): Section {
  return {
    id: "speed",
    title: "Speed",
    body:
      html`<p>Absolute times belong to the machine that is named; ratios were measured in one sitting, interleaved.</p>
${benches.map(({ suite, show }, i) => show(idOf("speed", suite, i)))}
${NOTHING}`,
  };
}
