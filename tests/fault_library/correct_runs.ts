/** Runs of the right trainer under 34 settings: nothing may be said against any of them. */

/** A setting of the right trainer. */
export interface CorrectSetting {
  /** How the table calls it. */
  readonly name: string;
  readonly settings: readonly string[];
  /** Default 24. */
  readonly steps?: number;
  /** The base agent by kind and seed; default `rl:2`, from which all faults begin. */
  readonly base?: string;
  /** Default: 0 to 3. */
  readonly seeds?: readonly number[];
}

const THREE = [0, 1, 2] as const;

/** The settings of faults, whose seeds say what is harmless, then those that change one thing each. */
export const CORRECT_SETTINGS: readonly CorrectSetting[] = [
  { name: "grpo", settings: [], seeds: [0, 1, 2, 3, 4, 5] },
  { name: "KL 0.1", settings: ["klCoef=0.1"] },
  { name: "temperature 0.8", settings: ["temperature=0.8"] },
  { name: "KL 0.1, temperature 0.8", settings: ["klCoef=0.1", "temperature=0.8"] },
  { name: "entropy 0.01", settings: ["entropyCoef=0.01"] },
  { name: "entropy 0.05", settings: ["entropyCoef=0.05"] },
  { name: "entropy 0.3", settings: ["entropyCoef=0.3"] },
  { name: "4 microbatches", settings: ["microbatches=4"] },
  { name: "2 epochs", settings: ["epochs=2"] },

  { name: "reinforce", settings: ["algorithm=reinforce"], base: "plain:0" },
  { name: "reinforce in rl", settings: ["algorithm=reinforce", "preset=rl", "lr=0.001"] },
  { name: "ppo", settings: ["algorithm=ppo"] },
  { name: "drgrpo", settings: ["algorithm=drgrpo"] },
  { name: "rloo", settings: ["algorithm=rloo"] },
  { name: "chapter 6", settings: ["preset=chapter6"], base: "plain:0" },
  { name: "learning rate × 0.5", settings: ["lr=0.0005"] },
  { name: "learning rate × 2", settings: ["lr=0.002"] },
  { name: "groups of 4", settings: ["groupSize=4"] },
  { name: "groups of 16", settings: ["groupSize=16"], seeds: THREE },
  { name: "4 problems", settings: ["problems=4"] },
  { name: "16 problems", settings: ["problems=16"], seeds: THREE },
  { name: "temperature 1.2", settings: ["temperature=1.2"] },
  { name: "12 turns", settings: ["maxTurns=12"], seeds: THREE },
  { name: "3 turns", settings: ["maxTurns=3"] },
  { name: "1 minibatch", settings: ["minibatches=1"] },
  { name: "8 minibatches", settings: ["minibatches=8"], seeds: THREE },
  { name: "KL 0.1 by k2", settings: ["klCoef=0.1", "klKind=k2"], seeds: THREE },
  { name: "clip 0.2 and 0.28", settings: ["clipHigh=0.28"], seeds: THREE },
  { name: "seq_mean_token_sum", settings: ["aggregation=seq_mean_token_sum"], seeds: THREE },
  { name: "seq_mean_token_mean", settings: ["aggregation=seq_mean_token_mean"], seeds: THREE },
  { name: "constant", settings: ["aggregation=constant"], seeds: THREE },
  { name: "base agent rl:0", settings: [], base: "rl:0", seeds: THREE },
  { name: "base agent rl:1", settings: [], base: "rl:1", seeds: THREE },
  { name: "60 steps", settings: [], steps: 60, seeds: THREE },
];

/** The seeds of a setting. */
export function seedsOf({ seeds = [0, 1, 2, 3] }: CorrectSetting): readonly number[] {
  return seeds;
}
