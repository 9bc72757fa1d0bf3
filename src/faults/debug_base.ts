/**
 * The base agent of the debugging runs, and why it is this one. How much a cloned agent happens to read decides whether
 * 24 steps suffice to learn and whether every failure shows in them, so one agent is fixed for all runs: the first base
 * seed, counted from 0, with which every run of the catalogue shows what it must for the training seeds 0, 1 and 2. This
 * calibrates a demonstration; it proves nothing about seeds.
 */
import { RL_BASE_SEED } from "../rl/base_agent.ts";

/** A base seed that was tried. */
interface TriedSeed {
  readonly seed: number;
  /** SHA-256 of its weights. */
  readonly weightsHash: string;
  /** Last held-out pass rate of the healthy runs with training seeds 0, 1, 2. */
  readonly heldOut: readonly [number, number, number];
  /** What speaks against it; undefined for the one that was taken. */
  readonly rejected?: string;
}

/** The agent that was taken, and all that were tried, on one adapter: others round differently and make other agents. */
export const DEBUG_BASE: {
  readonly seed: number;
  readonly adapter: string;
  readonly tried: readonly TriedSeed[];
} = {
  seed: RL_BASE_SEED,
  adapter: "llvmpipe (LLVM 15.0.6, 256 bits)",
  tried: [
    {
      seed: 0,
      weightsHash: "d0669fd6ee561c6389e37d412b54e85611aa806ed6b4f849bb713c8fad711260",
      heldOut: [0.98, 0.78, 0.85],
      rejected:
        "public_reward: hidden pass rates 0.11, 0.40, 0.14 stay above 0.1; it reads too readily to be hacked in 24 steps",
    },
    {
      seed: 1,
      weightsHash: "d9f7031b9d8f61f9627cfa66c257e7f88d123cc125db6f0d522a20e018e4cefd",
      heldOut: [0.9, 0.93, 0.75],
      rejected:
        "entropy_sign and sampler_temp: it learns to read anyway with training seed 0 (reads 1.0); " +
        "public_reward: hidden pass rate 0.20",
    },
    {
      seed: 2,
      weightsHash: "c02158c2b14dc458c0932bc234a84d9fd81129e61ba4121c749c8be3359d7d97",
      heldOut: [0.93, 0.93, 0.55],
    },
  ],
};
