/** The part of the page about speed that compares ways to log-probs and entropies. */
import type { logprobSchema, wayShape } from "../bench/documents.ts";
import type { z } from "zod";
import { machineFacts } from "./bench_parts.ts";
import { type Html, html, NOTHING } from "./html.ts";
import { resultTable } from "./tables.ts";

type Way = z.infer<z.ZodObject<typeof wayShape>>;

function wayCells(name: string, vocabSize: number, way: Way) {
  const { forwardMs, backwardMs, workspaceBytes, errors } = way;
  const { logp, entropy, dh, dhead } = errors;
  const mebibytes = workspaceBytes / 2 ** 20;
  return [
    vocabSize.toLocaleString("en"),
    name,
    forwardMs,
    backwardMs,
    mebibytes,
    logp,
    entropy,
    dh,
    dhead,
  ];
}

/** Fused, unfused and the peer, by vocabulary. */
export function logprobPart(bench: z.infer<typeof logprobSchema>): Html {
  const { rows, width, rounds, cases } = bench;
  const refusals = cases.flatMap(({ vocabSize, unfusedRefusal }) =>
    unfusedRefusal === null ? [] : [
      html`<p>The unfused way does not fit at ${
        vocabSize.toLocaleString("en")
      } entries: ${unfusedRefusal}.</p>`,
    ]
  );
  const fewer = cases.filter((row) => row.rounds < rounds).map((row) =>
    `${row.rounds} rounds at ${row.vocabSize.toLocaleString("en")} entries`
  );
  return html`<h3>Log-probs and entropies</h3>
${
    machineFacts(bench, [
      ["batch", `${rows.toLocaleString("en")} rows of width ${width}`],
      ...(fewer.length === 0 ? [] : [["fewer", fewer.join(", ")] as const]),
      [
        "checked",
        `${
          cases.map(({ checkedRows }) => checkedRows.toLocaleString("en")).join(", ")
        } rows against float64; errors of gradients over their largest entry`,
      ],
    ])
  }
<p>The fused way recomputes logits tile by tile; the unfused one stores them and their gradient.
Memory is what is needed beyond inputs and outputs.</p>
<div class="results">${
    resultTable({
      title: "Forward and backward by vocabulary",
      columns: [
        "vocabulary",
        "way",
        "forward ms",
        "backward ms",
        "MiB",
        "log-prob error",
        "entropy error",
        "dh error",
        "dhead error",
      ],
      rows: cases.flatMap(({ vocabSize, fused, unfused, peer }) => [
        wayCells("fused", vocabSize, fused),
        ...(unfused ? [wayCells("unfused", vocabSize, unfused)] : []),
        ...(peer ? [wayCells(`peer ×${peer.threads}`, vocabSize, peer)] : []),
      ]),
    })
  }</div>
${refusals.length > 0 ? refusals : NOTHING}`;
}
