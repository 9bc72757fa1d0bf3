/** What an algorithm is: an advantage, a surrogate and an aggregation under a title. */
import type { AdvantageRule } from "../diagnose/advantage_rule.ts";
import type { AggregationMode } from "../equations/aggregate.ts";
import type { SurrogateKind } from "../equations/policy_loss.ts";

/** What an advantage may read. */
export interface AdvantageInput {
  /** Reward of every episode. */
  readonly rewards_B: ArrayLike<number>;
  /** Group of every episode; the episodes of one problem share an id. */
  readonly groupId_B: ArrayLike<number>;
  /** The moving baseline before the batch; a trainer keeps it between steps, even for algorithms that do not use it. */
  readonly baseline: number;
  /** ε of the standardized advantage; left out: 1e-6. */
  readonly advantageEps?: number | undefined;
  /** Decay of the moving baseline; left out: 0.9. */
  readonly baselineDecay?: number | undefined;
}

/** A number of {@linkcode AdvantageInput} that the configuration sets. */
export type AdvantageSetting = "advantageEps" | "baselineDecay";

/** The advantages of a batch and the moving baseline after it. */
export interface AdvantageOutput {
  /** Advantage of every episode. */
  readonly advantage_B: Float64Array;
  /** The moving baseline for the next batch. */
  readonly baseline: number;
}

/** A policy-gradient algorithm. */
export interface Algorithm {
  /** How it is written in prose. */
  readonly title: string;
  /** True: problems drawn without replacement, a group of episodes each. False: episodes of tasks drawn with replacement. */
  readonly grouped: boolean;
  /** Turns the rewards of a batch into advantages. */
  readonly advantage: (input: AdvantageInput) => AdvantageOutput;
  /** What `advantage` promises, for the invariants; left out: they cannot hold it to anything. */
  readonly advantageRule?: AdvantageRule["kind"];
  /** The settings that `advantage` reads (none where left out); the configuration refuses the others. */
  readonly advantageSettings?: readonly AdvantageSetting[];
  /** The term that every token contributes to the loss. */
  readonly surrogate: SurrogateKind;
  /** The aggregation where the user names none; `constant` also needs its constant. */
  readonly aggregation: AggregationMode;
}

/** An advantage that looks at the groups alone: the moving baseline stays what it was. */
export function grouped(
  advantage: (input: AdvantageInput) => Float64Array,
): Algorithm["advantage"] {
  return (input) => ({ advantage_B: advantage(input), baseline: input.baseline });
}
