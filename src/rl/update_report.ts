/** What an update did: the statistics of every minibatch, from its own forward before its step. */
import type { KeptRows, KeptStep } from "../model/learner_batch.ts";
import type { PolicyLossOptions, PolicyLossTokens } from "../equations/policy_loss.ts";
import { type PolicyStatistics, policyStatistics } from "../equations/policy_statistics.ts";
import { lossTokens } from "./objective.ts";
import type { Part } from "./stages.ts";
import { gridRows, type TrainBatch } from "./train_batch.ts";

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
}

/** A microbatch with what came back from the device. */
export interface RecordedPart {
  readonly part: Part;
  readonly objective_N4: Float32Array;
  /** Place of its minibatch in the update. */
  readonly minibatch: number;
  readonly rows: KeptRows;
}

function joinTokens(parts: readonly PolicyLossTokens[]): PolicyLossTokens {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const join = (name: keyof PolicyLossTokens): number[] =>
    parts.flatMap((tokens) => Array.from(tokens[name]));
  return {
    logp_N: join("logp_N"),
    entropy_N: join("entropy_N"),
    oldLogp_N: join("oldLogp_N"),
    refLogp_N: join("refLogp_N"),
    advantage_N: join("advantage_N"),
    weight_N: join("weight_N"),
    meanWeight_N: join("meanWeight_N"),
  };
}

/** |trainer − sampler| of the trained tokens of a part; the sampler's record is 0 where nothing was sampled. */
function logpGaps(recorded: RecordedPart, batch: TrainBatch): number[] {
  const { part: { episodes }, rows: { result_N4 }, objective_N4 } = recorded;
  const { columnCount } = batch.packed;
  const sampled = gridRows(batch.sampleLogp_BC, episodes, columnCount);
  const gaps: number[] = [];
  let row = 0;
  episodes.forEach((b, i) => {
    const length = batch.packed.length_B[b] ?? 0;
    for (let t = 0; t < length; t++, row++) {
      if (t >= columnCount || objective_N4[4 * row + 2] === 0) continue;
      gaps.push(Math.abs((result_N4[4 * row] ?? NaN) - (sampled[i * columnCount + t] ?? 0)));
    }
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
    const tokens = joinTokens(own.map(({ rows, objective_N4 }) =>
      lossTokens({
        result_N4: rows.result_N4,
        objective_N4,
        refLogp_N: rows.reference_N4.length === 0
          ? undefined
          : rows.reference_N4.filter((_, i) => i % 4 === 0),
      })
    ));
    const trained = own.flatMap((recorded) => logpGaps(recorded, batch));
    return {
      statistics: policyStatistics(tokens, terms),
      gradNorm,
      trainedTokens: trained.length,
      logpGaps_N: Float64Array.from(trained),
    };
  });
}
