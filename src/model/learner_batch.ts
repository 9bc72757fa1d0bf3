/** The order of a learner's work in types: a loaded batch gives a scored one, that a gradient, and that a step. */
import type { Plan } from "../gpu/commands.ts";
import type { AdamArguments } from "../kernels/clip_adam.ts";
import type { LossArguments } from "../kernels/policy_loss.ts";
import type { ForwardSize } from "./tiny_agent.ts";

/** Results of one kept forward, per packed row; 0 in rows that were not scored. */
export interface KeptRows {
  /** (log-prob, entropy, lse, 0) per row, f32. */
  readonly result_N4: Float32Array;
  /** The same of the reference model; empty where none was scored. */
  readonly reference_N4: Float32Array;
}

/** Results of one kept optimizer step. */
export interface KeptStep {
  /** Gradient norm before clipping; not finite where the step was refused. */
  readonly gradNorm: number;
  /** The clip factor; 0 where the step was refused. */
  readonly clipFactor: number;
}

/** A batch on the device, until its forward or the next `load`; then its methods throw a RangeError. */
export interface LoadedBatch {
  /** Records a frozen model's forward, whose results `keepRows` keeps as well. @param temperature Divides the logits (default 1). */
  readonly reference: (plan: Plan<ForwardSize>, temperature?: number) => void;
  /** Uploads reference log-probs instead of computing them. @param logp_N One per row. */
  readonly loadReference: (logp_N: Float32Array) => void;
  /** Records the forward. @param temperature Divides the logits, here and in the backward; above 0 (default 1). */
  readonly forward: (temperature?: number) => ScoredBatch;
}

/** A batch after its forward, until the next `load`; then its methods throw a RangeError. */
export interface ScoredBatch {
  /** Keeps the forward's results for `collect`. @throws {RangeError} When there is no room left. */
  readonly keepRows: () => void;
  /**
   * Records loss and backward.
   * @param options.onto The gradient to which this one is added (default none: it replaces what the learner holds).
   */
  readonly backward: (
    options: { readonly loss: LossArguments["loss"]; readonly onto?: Gradient | undefined },
  ) => Gradient;
}

/** The learner's gradient, of one batch or more, until a backward replaces it; then its methods throw a RangeError. */
export interface Gradient {
  /** Records its norm and clip, without a step. */
  readonly norm: (maxNorm: number) => RecordedStep;
  /** Records norm, clip and one Adam step. A gradient that is not finite changes nothing. */
  readonly step: (maxNorm: number, adam: AdamArguments["adam"]) => RecordedStep;
}

/** A norm or a step that was recorded. */
export interface RecordedStep {
  /** Keeps norm and clip factor for `collect`. @throws {RangeError} When there is no room left. */
  readonly keep: () => void;
}
