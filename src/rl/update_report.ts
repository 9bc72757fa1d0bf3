/** What an update did: the statistics of every minibatch, from its own forward before its step. */
import { at } from "../core/element.ts";
import type { KeptRows, KeptStep } from "../model/learner_batch.ts";
import type { PolicyLossOptions } from "../equations/policy_loss.ts";
import { type PolicyStatistics, policyStatistics } from "../equations/policy_statistics.ts";
import { forEachRow, type PackedBatch } from "../rollout/batch.ts";
import { lossTokens } from "./objective.ts";
import type { TrainBatch } from "./train_batch.ts";

/** One optimizer step. */
export interface MinibatchReport {
  /** Over the trained tokens of the minibatch, weighted as the loss weights its means. */
  readonly statistics: PolicyStatistics;
  /** Norm of the gradient before clipping; not finite where the step was refused. */
  readonly gradNorm: number;
  /** Tokens with a weight in the loss. */
  readonly trainedTokens: number;
  /** |trainer − sampler| log-prob of every trained token, in nats: the consistency of sampler and trainer. */
  readonly logpGaps_N: Float64Array;
}

/** One update: all optimizer steps on one batch. */
export interface UpdateReport {
  /** In the order of their steps. */
  readonly minibatches: readonly MinibatchReport[];
  /** The tokens that were trained, [B, C]. */
  readonly mask_BC: Float32Array;
  /** Advantage of each episode. */
  readonly advantage_B: Float64Array;
  /** True where the batch had no signal and the optimizer was left alone. */
  readonly isSkipped: boolean;
  /** True where a KL reference was scored; elsewhere `klRef` of the statistics means nothing. */
  readonly hasReference: boolean;
  /** Its microbatches, as the device computed them. */
  readonly parts: readonly RecordedPart[];
}

/** The place of the first minibatch whose loss or gradient is not finite; undefined where all are. */
export function nonFiniteMinibatch({ minibatches }: UpdateReport): number | undefined {
  const found = minibatches.findIndex(({ gradNorm, statistics }) =>
    !Number.isFinite(gradNorm) || !Number.isFinite(statistics.loss)
  );
  return found < 0 ? undefined : found;
}

/** A microbatch with what came back from the device. */
export interface RecordedPart {
  /** Its episodes. */
  readonly packed: PackedBatch;
  /** (advantage, weight, mean weight, old log-prob) per row. */
  readonly objective_N4: Float32Array;
  /** Place of its minibatch in the update. */
  readonly minibatch: number;
  /** What its forward gave. */
  readonly rows: KeptRows;
}

/** Rows of several parts, one after the other. */
function joinRows(parts: readonly Float32Array[]): Float32Array {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const part of parts) {
    joined.set(part, filled);
    filled += part.length;
  }
  return joined;
}

/** |trainer − sampler| of the trained tokens of a part; the sampler's record is 0 where nothing was sampled. */
function logpGaps(part: RecordedPart, sampleLogp_BC: Float32Array): number[] {
  const { packed, rows: { result_N4 }, objective_N4 } = part;
  const gaps: number[] = [];
  forEachRow(packed, (row, cell) => {
    if (objective_N4[4 * row + 2] === 0) return;
    gaps.push(Math.abs(at(result_N4, 4 * row) - at(sampleLogp_BC, cell)));
  });
  return gaps;
}

/** The statistics of every minibatch of an update. */
export function reportMinibatches(
  options: {
    readonly parts: readonly RecordedPart[];
    readonly steps: readonly KeptStep[];
    readonly terms: PolicyLossOptions;
    readonly batch: TrainBatch;
  },
): MinibatchReport[] {
  const { parts, steps, terms, batch } = options;
  return steps.map(({ gradNorm }, minibatch) => {
    const own = parts.filter((part) => part.minibatch === minibatch);
    const reference_N4 = joinRows(own.map(({ rows }) => rows.reference_N4));
    const tokens = lossTokens({
      result_N4: joinRows(own.map(({ rows }) => rows.result_N4)),
      objective_N4: joinRows(own.map(({ objective_N4 }) => objective_N4)),
      refLogp_N: reference_N4.length === 0 ? undefined : reference_N4.filter((_, i) => i % 4 === 0),
    });
    const trained = own.flatMap((part) => logpGaps(part, batch.sampleLogp_BC));
    return {
      statistics: policyStatistics(tokens, terms),
      gradNorm,
      trainedTokens: trained.length,
      logpGaps_N: Float64Array.from(trained),
    };
  });
}
