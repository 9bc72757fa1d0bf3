/** What the referee hands out as a document, as a schema: docs/formats.md shows what is made from it. */
import { z } from "zod";
import { FINDING_CLASSES } from "../finding.ts";
import { LOG_PROB_SIDES, type TokenSequence } from "../../tokens/token_batch.ts";
import type { RefereeReport, RefereeSide } from "./referee.ts";

const NATS = z.number();
const GAP = {
  tokens: z.int(),
  meanNats: NATS.describe("mean size of side − model"),
  signedMeanNats: NATS.describe("mean of side − model"),
};
const PARTS = z.array(z.object({ part: z.string(), ...GAP }));
const PLACE = { file: z.string(), row: z.int(), sample: z.string().optional() };

const CAUSE = z.object({
  cause: z.enum([
    "temperature",
    "shift",
    "padding",
    "bf16_noise",
    "f16_noise",
    "other_weights",
    "unexplained",
  ]),
  temperature: z.number().optional(),
  offset: z.int().optional().describe("of a shift: value i is the one of token i + offset"),
  padId: z.int().optional().describe("the id that the padding consists of"),
  leftNats: NATS.optional().describe("mean size of what the cause leaves"),
  correlation: z.number().optional().describe("of other weights: of both log-probs"),
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
  bySequence: z.array(z.object({ ...PLACE, ...GAP })).describe(
    "the largest gaps first, at most 20",
  ),
  explainedBy: CAUSE.nullable().describe("null: f32 numbers of the same weights"),
});

/** The document. */
export const REFEREE_DOCUMENT = z.object({
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
  findings: z.array(z.looseObject({
    id: z.string(),
    class: z.enum(FINDING_CLASSES),
    sentence: z.string(),
  })).describe("as those of triage"),
});

/** The document of a referee's report. */
export type RefereeDocument = z.infer<typeof REFEREE_DOCUMENT>;

/** Sequences of a side in the document. */
const MOST_SEQUENCES = 20;

function placeIn({ file, row, sample }: TokenSequence) {
  return { file, row, ...(sample !== undefined && { sample }) };
}

/** A side as the document holds it. */
export function sideDocument(
  { side, comparedWith, figures, nonFinite, explainedBy }: RefereeSide,
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
      ...placeIn(sequences[worst.sequence]),
      token: sequences[worst.sequence].offset + worst.token,
      side: worst.side,
      model: worst.own,
    },
    byPosition: [...byPosition],
    byProbability: [...byProbability],
    byTurn: [...byTurn],
    bySequence: bySequence.slice(0, MOST_SEQUENCES).map(({ sequence, ...gap }) => ({
      ...placeIn(sequences[sequence]),
      ...gap,
    })),
    explainedBy,
  };
}

/** The sides of a report as the document holds them. */
export function sidesDocument(
  { sides }: RefereeReport,
  sequences: readonly TokenSequence[],
): RefereeDocument["sides"] {
  return sides.map((side) => sideDocument(side, sequences));
}

/** The schema in JSON Schema's words. */
export function refereeJsonSchema(): object {
  return z.toJSONSchema(REFEREE_DOCUMENT);
}
