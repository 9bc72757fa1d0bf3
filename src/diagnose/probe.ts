/** What the checks of an update look at: its loss where all terms differ, its terms one by one, and its optimizer in mid-run. */
import type { AggregationMode } from "../equations/aggregate.ts";
import type { PolicyLossOptions } from "../equations/policy_loss.ts";

/**
 * The loss of some episodes as one minibatch, evaluated where a policy is in mid-update: old log-probs away from its own, so
 * that ratios lie inside and outside of the clip, advantages of either sign and 0, and a reference that is another model.
 */
export interface LossProbe {
  /** The terms as configured; `klCoef` and `entropyCoef` are 0 where the surrogate is asked for alone. */
  readonly terms: PolicyLossOptions;
  /** The aggregation as configured. */
  readonly aggregation: AggregationMode;
  /** The divisor of `constant`. */
  readonly normConst: number;
  /** Trained tokens of each episode. */
  readonly tokens_B: ArrayLike<number>;
  /** The trained tokens, [N], as far as their derivatives are known. */
  readonly tokens: {
    /** Place of its episode in `tokens_B`. */
    readonly episode_N: ArrayLike<number>;
    /** The policy's log-prob, in nats. */
    readonly logp_N: ArrayLike<number>;
    /** log π_old, in nats, as it was put. */
    readonly oldLogp_N: ArrayLike<number>;
    /** The reference's log-prob, in nats, of the model that was put there; read where `klCoef` is not 0. */
    readonly refLogp_N: ArrayLike<number>;
    /** The advantage as it was put. */
    readonly advantage_N: ArrayLike<number>;
  };
  /** What the trainer makes of these tokens, [N] each. */
  readonly found: {
    /** Its weight in the surrogate term. */
    readonly weight_N: ArrayLike<number>;
    /** Its weight in KL and entropy terms. */
    readonly meanWeight_N: ArrayLike<number>;
    /** Derivative of the loss for the token's log-prob. */
    readonly dlogp_N: ArrayLike<number>;
    /** Derivative of the loss for the entropy at the token. */
    readonly dentropy_N: ArrayLike<number>;
  };
}

/** What one small update by a single term does to what the term is about, a mean over the trained tokens. */
export interface TermMove {
  /** `kl`: the configured estimate against a reference that is another model. */
  readonly term: "kl" | "entropy";
  /** In nats. */
  readonly before: number;
  /** In nats. */
  readonly after: number;
}

/** The slope of a loss along its own gradient, per unit of the weights' norm. */
export interface LossSlope {
  /** What the gradient promises: its norm. */
  readonly promised: number;
  /** What the loss itself does, where the weights are moved that way. */
  readonly found: number;
  /** What rounding and truncation may make of `found`, as a share of `promised`. */
  readonly tolerance: number;
}

/** The terms of a loss, together and one by one. */
export interface TermProbe {
  /** All terms at once. */
  readonly shares: LossProbe;
  /** One for each term with a coefficient that is not 0. */
  readonly moves: readonly TermMove[];
  /** The whole loss along its gradient. Left out: not known. */
  readonly slope?: LossSlope | undefined;
}

/** Optimizer steps that began from known weights and moments. */
export interface OptimizerProbe {
  /** As configured. */
  readonly learningRate: number;
  /** As configured. */
  readonly betas: readonly [number, number];
  /** As configured. */
  readonly eps: number;
  /** The gradient's norm is clipped to this. */
  readonly maxNorm: number;
  /** Adam's t of the first of the steps. */
  readonly firstStep: number;
  /** Before the first step. */
  readonly before: OptimizerState;
  /** After the last one, as the trainer left it. */
  readonly after: OptimizerState;
  /** The gradient of each step's own loss, before the clip, at the weights to which Adam has come by then. */
  readonly gradients: readonly ArrayLike<number>[];
  /** The tensors that the weights consist of, each of which the batch should move. Left out: not known. */
  readonly tensors?: readonly {
    readonly name: string;
    readonly offset: number;
    readonly length: number;
  }[];
}

/** Weights and Adam's moments, [W] each. */
export interface OptimizerState {
  /** All parameters. */
  readonly weight_W: ArrayLike<number>;
  /** First moment. */
  readonly m_W: ArrayLike<number>;
  /** Second moment. */
  readonly v_W: ArrayLike<number>;
}
