/** The part of the page about speed that scores under the shape of a real model. */
import type { z } from "zod";
import type { scoreSchema } from "../bench/documents.ts";
import { machineFacts } from "./bench_parts.ts";
import { type Html, html } from "./html.ts";
import { resultTable } from "./tables.ts";

/** Ours and the peer's dtypes. */
export function scorePart(bench: z.infer<typeof scoreSchema>): Html {
  const { shape, tokens, weights, weightBytes, workspaceBytes, ours, peers } = bench;
  const cells = (name: string, row: typeof ours, bytes: number) => [
    name,
    row.ms,
    row.tokensPerSecond,
    row.gflops,
    100 * row.rooflineShare,
    bytes / 1e6,
  ];
  return html`<h3>Scoring under the shape of a real model</h3>
${
    machineFacts(bench, [
      ["model", `${shape}, random weights, ${(weightBytes / 1e6).toFixed(0)} MB in ${weights}`],
      ["sequence", `${tokens.toLocaleString("en")} tokens`],
    ])
  }
<p>Memory is what is needed beyond the weights: of ours on the device, of the peer's allocator.</p>
<div class="results">${
    resultTable({
      title: "Log-prob and entropy of every token",
      columns: ["way", "ms", "tokens/s", "GFLOP/s", "roofline %", "MB", "log-probs off"],
      rows: [
        [...cells(`ours, ${weights}`, ours, workspaceBytes), null],
        ...peers.map((row) => [
          ...cells(`peer, ${row.dtype}, ${row.threads} threads`, row, row.peakBytes),
          row.offNats,
        ]),
      ],
    })
  }</div>`;
}
