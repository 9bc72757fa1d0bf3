/** The contract of the invariants: what a trainer must answer to be checked, what a check looks at, and what it says. */
import type { AdvantageRule } from "./advantage_rule.ts";
import type { LossProbe, OptimizerProbe, TermProbe } from "./probe.ts";

/** An episode as it was sampled, seen apart from the trainer under test. */
export interface CheckedEpisode {
  /** Who wrote each token; 2 is the policy. */
  readonly owners: ArrayLike<number>;
  /** The sampler's log-prob of each token, in nats; read at policy tokens, and where the trainer's mask strays. */
  readonly logps: ArrayLike<number>;
  /** What it earned. */
  readonly reward: number;
  /** What it is an attempt at: episodes of one problem form a group, wherever they stand. */
  readonly problem: string | number;
  /** Its tokens. Left out: not known, as are the next ones. */
  readonly ids?: ArrayLike<number>;
  /**
   * What the environment pays when the episode's calls are made again in its problem; NaN where it then answers otherwise. A
   * sample of a batch's episodes will do.
   */
  readonly replayedReward?: number;
}

/** A batch as the loss sees it. On a [B, C] grid, column t belongs to the token at position t + 1. */
export interface LossInputs {
  /** C. */
  readonly columnCount: number;
  /** The trained tokens, [B, C]. */
  readonly mask_BC: ArrayLike<number>;
  /** log π_old, [B, C], in nats. */
  readonly oldLogp_BC: ArrayLike<number>;
  /** The trainer's own log-probs under the current weights, [B, C], in nats. */
  readonly logp_BC: ArrayLike<number>;
  /** One advantage for all tokens of an episode. */
  readonly advantage_B: ArrayLike<number>;
  /** The loss of the whole batch as one minibatch. */
  readonly loss: number;
  /** The gradient of that loss: where its terms cancel, padding shows here alone. Left out: not known. */
  readonly gradient_W?: ArrayLike<number>;
  /** The trainer's own distribution of each token under the current weights. Left out: not known. */
  readonly distribution?: TokenDistribution;
}

/** How uncertain a policy is of each token, on the grid of {@linkcode LossInputs}. */
export interface TokenDistribution {
  /** Entropy: the mean of −log p over the tokens that could come, [B, C], in nats; NaN where it is not known. */
  readonly entropy_BC: ArrayLike<number>;
  /** Variance of −log p over the same tokens, [B, C], in nats². Left out: estimated, with less power. */
  readonly variance_BC?: ArrayLike<number>;
  /** The random numbers that drew the tokens, where the sampler inverts the cumulative distribution. Left out: not known. */
  readonly draws?: TokenDraws;
}

/** Which token each random number points to, on the grid; NaN where that is not known. */
export interface TokenDraws {
  /** The random number of each token, as the configuration says, in [0, 1). */
  readonly uniform_BC: ArrayLike<number>;
  /** Probability of all tokens that stand before it in the vocabulary. */
  readonly below_BC: ArrayLike<number>;
  /** The same with its own. */
  readonly upTo_BC: ArrayLike<number>;
}

/** One optimizer step of an update: the tokens that its loss was computed over, each as the loss read it. */
export interface LoadedMinibatch {
  /** Place of each token on the batch's [B, C] grid; no place twice, unless the loss counts the token twice. */
  readonly cell_N: ArrayLike<number>;
  /** Its advantage. */
  readonly advantage_N: ArrayLike<number>;
  /** Its weight in the surrogate term. */
  readonly weight_N: ArrayLike<number>;
  /** Its weight in KL and entropy terms. */
  readonly meanWeight_N: ArrayLike<number>;
  /** log π_old, in nats. */
  readonly oldLogp_N: ArrayLike<number>;
}

/** What one whole update did to a copy of the model, with a fresh optimizer. */
export interface CheckedUpdate {
  /** Mean k3 estimate over all minibatches, each from its forward before its step, in nats. */
  readonly approxKl: number;
  /**
   * Largest |trainer − sampler| log-prob of a trained token over the minibatches, each from its forward before its step, in nats:
   * as long as nothing has moved the policy, it is 0 up to rounding. Left out: not known.
   */
  readonly largestGap?: number;
  /** The trainer's log-probs afterwards, [B, C], in nats. */
  readonly logp_BC: ArrayLike<number>;
  /** The KL reference's log-probs afterwards, [B, C], in nats; undefined without a KL term. */
  readonly referenceLogp_BC?: ArrayLike<number> | undefined;
  /** What they were where the reference was made, [B, C], in nats. Left out: not known. */
  readonly startLogp_BC?: ArrayLike<number>;
  /** Its optimizer steps, epoch after epoch. Left out: not known. */
  readonly minibatches?: readonly LoadedMinibatch[];
}

/** A trainer that can be checked. Every question is about the same batch and the same weights. */
export interface CheckableTrainer {
  /** The batch. */
  readonly episodes: readonly CheckedEpisode[];
  /** The group of each episode as the trainer lays them out; undefined where its advantages know no groups. */
  readonly groupId_B: readonly number[] | undefined;
  /** Optimizer steps of an update. */
  readonly stepsPerUpdate: number;
  /**
   * What rounding may change in a log-prob, in nats: 0 where sampler and trainer compute the same bits, 1e-4 between two
   * f32 engines (measured there: about 1e-6), and for bf16 engines a high quantile of a measured healthy mismatch.
   */
  readonly logpTolerance: number;
  /** Prepares the batch with so many more columns of padding. */
  lossInputs(padColumns: number): Promise<LossInputs>;
  /** The trainer's own advantages for another layout of groups. */
  advantages(groupId_B: readonly number[]): ArrayLike<number>;
  /** The gradient of the whole batch: as the trainer is configured to accumulate it, or in one pass. */
  gradient(kind: "accumulated" | "one-pass"): Promise<ArrayLike<number>>;
  /** Updates a copy. */
  update(): Promise<CheckedUpdate>;
  /** Updates a copy with every advantage 0 and the configured KL and entropy coefficients 0. @returns Largest |Δweight|. */
  updateWithoutSignal(): Promise<number>;
  /** How rewards become advantages, as configured. Left out: not known, as are the next ones. */
  readonly advantageRule?: AdvantageRule;
  /** How often an update goes over the batch. */
  readonly epochs?: number;
  /** How the batch was drawn, as configured. */
  readonly draw?: BatchDraw;
  /** Samples the next step's episodes, or the first of each problem, with the same weights and without a step between. */
  nextEpisodes?(): Promise<readonly CheckedEpisode[]>;
  /** Evaluates all terms of the loss together, and updates a copy by each of them alone. */
  termProbe?(): Promise<TermProbe>;
  /** Evaluates the surrogate alone. */
  lossProbe?(): Promise<LossProbe>;
  /** Makes optimizer steps on a copy, from stored moments. */
  optimizerProbe?(): Promise<OptimizerProbe>;
}

/** What is known of a trainer, or of a batch that it left: any part may be left out. */
export type KnownTrainer =
  & Partial<Omit<CheckableTrainer, "lossInputs" | "update">>
  & {
    /** As of {@linkcode CheckableTrainer}, as far as it is known. */
    lossInputs?(padColumns: number): Promise<Partial<LossInputs> | undefined>;
    /** As of {@linkcode CheckableTrainer}, as far as it is known. */
    update?(): Promise<Partial<CheckedUpdate>>;
  };

/** How the episodes of a batch are drawn. */
export interface BatchDraw {
  /** Episodes of each problem that is drawn; undefined where every episode draws one of its own. */
  readonly groupSize: number | undefined;
  /** Problems to draw from. */
  readonly problemCount: number;
}

/** What the checks look at, asked for once. A part that nobody tells ends the check that asks for it, as `not-checkable`. */
export interface CheckMaterial {
  readonly trainer: CheckableTrainer & Required<Pick<CheckableTrainer, "advantageRule">>;
  readonly inputs: LossInputs & Required<Pick<LossInputs, "distribution">>;
  readonly padded: LossInputs;
  readonly accumulated_W: ArrayLike<number>;
  readonly onePass_W: ArrayLike<number>;
  readonly update: CheckedUpdate;
  /** Largest |Δweight| of the update without a signal. */
  readonly movement: number;
  readonly termProbe: TermProbe;
  readonly lossProbe: LossProbe;
  readonly optimizerProbe: OptimizerProbe;
  /** The update's optimizer steps; undefined where they are not known. */
  readonly minibatches?: readonly LoadedMinibatch[] | undefined;
  /** The next step's episodes; undefined where they are not known. */
  readonly next?: readonly CheckedEpisode[] | undefined;
}

/**
 * What an invariant says. `not-applicable`: the setting, or this batch, has none of what it compares. `not-checkable`: the
 * trainer or the record does not tell what it needs.
 */
export const CHECK_VERDICTS = ["holds", "violated", "not-applicable", "not-checkable"] as const;

/** What an invariant says. */
export type CheckVerdict = typeof CHECK_VERDICTS[number];

/** Verdicts in the cells of a table of text. */
export const VERDICT_MARKS = {
  holds: "ok",
  violated: "FAIL",
  "not-applicable": "-",
  "not-checkable": "?",
} as const satisfies Record<CheckVerdict, string>;

/** Where a check that is not applicable lacks its object: the `setting` has none in any batch, or this `batch` has none. */
export const CHECK_LACKS = ["setting", "batch"] as const;

/** Where a check that is not applicable lacks its object. */
export type CheckLack = typeof CHECK_LACKS[number];

/** The result of one check. */
export interface CheckResult {
  /** 1 to 9 are the tutorial's; further ones follow. */
  readonly id: number;
  /** The identity that must hold. */
  readonly name: string;
  /** What was measured; null where there is no number. */
  readonly value: number | null;
  /** How the value must stand to the bound. */
  readonly relation: "<=" | ">";
  /** The bound. */
  readonly bound: number;
  /** Where the bound comes from. */
  readonly boundReason: string;
  /** Whether it holds. */
  readonly verdict: CheckVerdict;
  /** What the value is, or why there is none. */
  readonly reason: string;
  /** Where the reason lies; only with `not-applicable`. */
  readonly lack?: CheckLack | undefined;
}

/** A measured value and what it is, or why the check cannot be made. */
export type Measured =
  | {
    readonly value: number;
    readonly reason: string;
    /** Where the value is compared with another bound than the invariant's. */
    readonly bound?: number;
  }
  | { readonly notApplicable: string; readonly lack: CheckLack }
  /** What is not told, as a noun phrase. */
  | { readonly notTold: string };

/** One invariant. */
export interface Invariant {
  readonly id: number;
  /** Its name for programs: the id of the finding that it is violated. */
  readonly key: string;
  readonly name: string;
  readonly relation: "<=" | ">";
  /** @param logpTolerance The trainer's. */
  readonly bound: (logpTolerance: number) => number;
  readonly boundReason: string;
  readonly measure: (material: CheckMaterial) => Measured;
}
