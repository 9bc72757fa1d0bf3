/** The page about speed: what `agentrl bench` measured, kernels and whole steps. */
import { z } from "zod";
import type { Section } from "./document.ts";
import { type Html, html, NOTHING } from "./html.ts";
import { facts, resultTable } from "./tables.ts";

const kernelsSchema = z.object({
  adapter: z.string(),
  cpu: z.string(),
  rowCount: z.number(),
  kernels: z.array(z.object({
    kernel: z.string(),
    shape: z.string(),
    calls: z.number(),
    timeUs: z.number(),
    gflops: z.number().nullable(),
    gbPerSecond: z.number().nullable(),
  })),
  updateMs: z.number(),
});

/** A case is timed whole or by the token. */
const caseSchema = z.object({
  oursMs: z.number().optional(),
  peerMs: z.number().nullable().optional(),
  oursMsPerToken: z.number().optional(),
  peerMsPerToken: z.number().nullable().optional(),
  ratio: z.number().nullable(),
});

const stepSchema = z.looseObject({
  adapter: z.string(),
  cpu: z.string(),
  rounds: z.number(),
  reinforce: caseSchema,
});

/** The document of `agentrl bench kernels --json` or `agentrl bench step --json`. */
export const benchSchema = z.union([kernelsSchema, stepSchema]);

/** Timings. */
export type BenchData = z.infer<typeof benchSchema>;

type Kernels = z.infer<typeof kernelsSchema>;

function isKernels(bench: BenchData): bench is Kernels {
  return "kernels" in bench;
}

function kernelsPart({ adapter, cpu, rowCount, kernels, updateMs }: Kernels): Html {
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
${
    facts([
      ["adapter", bench.adapter],
      ["CPU", bench.cpu],
      ["rounds", `${bench.rounds}, interleaved; medians`],
    ])
  }
${
    resultTable({
      title: "Ours beside the peer program",
      columns: ["case", "ours", "peer", "unit", "ours / peer"],
      rows: cases.map(([name, { oursMs, peerMs, oursMsPerToken, peerMsPerToken, ratio }]) =>
        oursMsPerToken === undefined ? [name, oursMs ?? null, peerMs ?? null, "ms", ratio] : [
          name,
          oursMsPerToken * 1000,
          typeof peerMsPerToken === "number" ? peerMsPerToken * 1000 : null,
          "µs a token",
          ratio,
        ]
      ),
    })
  }`;
}

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
${benches.map((bench) => isKernels(bench) ? kernelsPart(bench) : stepPart(bench))}
${NOTHING}`,
  };
}
