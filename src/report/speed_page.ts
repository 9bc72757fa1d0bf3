/** The page about speed: what `agentrl bench` measured. */
import {
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

/** The documents of `agentrl bench SUITE --json`. That of whole steps has room for any case, so it stands last. */
export const benchSchema = z.union([
  suite("kernels", kernelsSchema, kernelsPart),
  suite("rollout", rolloutSchema, rolloutPart),
  suite("train", trainSchema, trainPart),
  suite("growth", growthSchema, growthPart),
  suite("logprob", logprobSchema, logprobPart),
  suite("score", scoreSchema, scorePart),
  suite("step", stepSchema, stepPart),
]);

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
