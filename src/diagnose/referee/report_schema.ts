/** What the referee hands out as a document, as a schema: docs/formats.md shows what is made from it. */
import { z } from "zod";
import { isRecord } from "../../core/record.ts";
import { FINDING_CLASSES } from "../finding.ts";
import { LOG_PROB_SIDES, type TokenSequence } from "../../tokens/token_batch.ts";
import { gapCurves } from "./gap_curves.ts";
import type { RefereeReport, RefereeSide } from "./referee.ts";
import { sequencePlace, worstSequences } from "./worst_sequences.ts";

/** Names the document, so that whoever reads it need not guess. */
const FORMAT = "agentrl_referee";

const NATS = z.number();
const GAP = {
  tokens: z.int(),
  meanNats: NATS.describe("mean size of side − model"),
  signedMeanNats: NATS.describe("mean of side − model"),
};
const PARTS = z.array(z.object({ part: z.string(), ...GAP }));
const CURVE = z.array(z.object({ at: z.number(), ...GAP, max: NATS }));
const PLACE = { file: z.string(), row: z.int(), sample: z.string().optional() };

const CAUSE = z.object({
  cause: z.enum([
    "temperature",
    "shift",
    "padding",
    "bf16_noise",
    "f16_noise",
    "context",
    "other_folder",
    "cut_distribution",
    "other_weights_or_context",
    "unexplained",
  ]),
  temperature: z.number().optional(),
  offset: z.int().optional().describe("of a shift: value i is the one of token i + offset"),
  padId: z.int().optional().describe("the id that the padding consists of"),
  beforeId: z.int().nullable().optional().describe(
    "of a context: the token before each sequence; null: its first one is missing",
  ),
  leftNats: NATS.optional().describe("mean size of what the cause leaves"),
  correlation: z.number().optional().describe("of other weights or context: of both log-probs"),
});

const SIDE = z.object({
  side: z.enum(LOG_PROB_SIDES),
  comparedWith: z.enum(["model", "reference"]).describe("which folder"),
  ...GAP,
  p50: NATS.describe("quantiles of the size"),
  p99: NATS,
  max: NATS,
  nonFinite: z.int().describe("tokens that the side gives as NaN or infinite"),
  worst: z.object({ ...PLACE, token: z.int(), side: NATS, model: NATS }),
  byPosition: PARTS,
  byProbability: PARTS.describe("by the model's probability of the token"),
  byTurn: PARTS,
  curves: z.object({
    byToken: CURVE.describe("by the token's index in its sequence"),
    byTurnToken: CURVE.describe("by its index in its turn, 0 of the first"),
    byLogProb: CURVE.describe("by the model's log-prob of it"),
  }),
  bySequence: z.array(z.object({
    ...PLACE,
    ...GAP,
    sequence: z.int().describe("its index among those that were scored"),
  })).describe("the largest gaps first, at most 200"),
  explainedBy: CAUSE.nullable().describe("null: f32 numbers of the same weights"),
});

const WORST = z.object({
  ...PLACE,
  length: z.int().describe("its tokens"),
  first: z.int().describe("index of the first token that is listed"),
  tokens: z.array(z.object({
    id: z.int(),
    text: z.string().optional().describe("where the folder has a tokenizer"),
    isCompared: z.boolean().describe("whether sides are compared here"),
    model: NATS.nullable(),
    sides: z.partialRecord(z.enum(LOG_PROB_SIDES), NATS.nullable()).describe(
      "log-probs by side; null where the dump has none that is finite",
    ),
  })),
});

const FINDING = z.looseObject({
  id: z.string(),
  class: z.enum(FINDING_CLASSES),
  sentence: z.string(),
  value: z.number().nullable().optional(),
  bound: z.number().optional(),
  boundFrom: z.string().optional(),
  alternatives: z.array(z.string()).readonly().optional(),
  next: z.string().optional(),
  at: z.object({
    file: z.string(),
    row: z.int().optional(),
    sample: z.string().optional(),
    token: z.int().optional(),
  }).optional(),
});

/** The document. */
export const REFEREE_DOCUMENT = z.object({
  format: z.literal(FORMAT),
  version: z.literal(1),
  model: z.object({
    path: z.string(),
    architecture: z.string(),
    adapter: z.string().nullable(),
    reference: z.string().nullable(),
  }),
  dump: z.object({
    path: z.string(),
    form: z.string(),
    sequences: z.int().describe("in the dump, of the step that was asked for"),
    scored: z.int().describe("sequences that were scored"),
    tokens: z.int().describe("their tokens"),
  }),
  temperature: z.number().describe("what the model's logits were divided by"),
  adapter: z.string().describe("the WebGPU adapter"),
  sides: z.array(SIDE),
  verdict: z.string().describe("one sentence"),
  worst: z.array(WORST).describe("sequences with the largest gaps, at most 8"),
  findings: z.array(FINDING).describe("as those of triage"),
});

/** True of a value that says it is such a document, whether or not it is a sound one. */
export function isRefereeDocument(value: unknown): boolean {
  return isRecord(value) && value.format === FORMAT;
}

/** The document of a referee's report. */
export type RefereeDocument = z.infer<typeof REFEREE_DOCUMENT>;

/** Sequences of a side in the document. */
const MOST_SEQUENCES = 200;

/** A side as the document holds it. */
function sideDocument(
  { side, comparedWith, figures, nonFinite, explainedBy, tokens: all }: RefereeSide,
  sequences: readonly TokenSequence[],
): RefereeDocument["sides"][number] {
  const { worst, bySequence, byPosition, byProbability, byTurn } = figures;
  const { tokens, meanNats, signedMeanNats, p50, p99, max } = figures;
  return {
    side,
    comparedWith,
    tokens,
    meanNats,
    signedMeanNats,
    p50,
    p99,
    max,
    nonFinite,
    worst: {
      ...sequencePlace(sequences[worst.sequence]),
      token: sequences[worst.sequence].offset + worst.token,
      side: worst.side,
      model: worst.own,
    },
    byPosition: [...byPosition],
    byProbability: [...byProbability],
    byTurn: [...byTurn],
    curves: gapCurves(all),
    bySequence: bySequence.slice(0, MOST_SEQUENCES).map((gap) => ({
      ...sequencePlace(sequences[gap.sequence]),
      ...gap,
    })),
    explainedBy,
  };
}

/** What a report says, as the document holds it. */
export function reportDocument(
  report: RefereeReport,
  { sequences, textOf }: {
    readonly sequences: readonly TokenSequence[];
    readonly textOf?: ((id: number) => string | undefined) | undefined;
  },
): Pick<RefereeDocument, "format" | "version" | "sides" | "verdict" | "worst"> {
  return {
    format: FORMAT,
    version: 1,
    verdict: report.verdict,
    sides: report.sides.map((side) => sideDocument(side, sequences)),
    worst: worstSequences(report, { textOf }),
  };
}

/** The schema in JSON Schema's words. */
export function refereeJsonSchema(): object {
  return z.toJSONSchema(REFEREE_DOCUMENT);
}
