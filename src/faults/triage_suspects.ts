/** What rules a suspected failure out, and the next step about it. */
import type { TrainConfig } from "../rl/config.ts";
import type { Stages } from "../rl/stages.ts";
import type { FaultName } from "./faults.ts";

/** What to do next, as data; the command line has the words. */
export type NextStep =
  /** Do a step of the run again, with one stage replaced by the fault's. */
  | {
    readonly kind: "replay";
    readonly run: string;
    readonly step: number;
    readonly replace?: { readonly stage: keyof Stages; readonly fault: FaultName };
  }
  /** Train another run beside it. */
  | {
    readonly kind: "train";
    readonly out: string;
    readonly steps?: number;
    readonly config: Partial<TrainConfig>;
  }
  /** Look at episodes of the run's weights after so many steps. */
  | {
    readonly kind: "evaluate";
    readonly run: string;
    readonly steps: number;
    readonly transcripts: number;
  }
  /** There is no run to look into: check, or train, a trainer with the fault, to compare with. */
  | { readonly kind: "check" | "make"; readonly fault: FaultName };

/** A run to look into. */
export interface SuspectedRun {
  /** Its folder. */
  readonly folder: string;
  /** Steps that it has. */
  readonly steps: number;
}

/** What to do about a suspect. */
export interface Suspect {
  /** Invariants each of which rules it out by holding: the fault cannot pass them. */
  readonly ruledOutBy: readonly number[];
  /** The next step. */
  readonly next: (run: SuspectedRun) => NextStep;
}

const replay = (stage: keyof Stages, fault: FaultName): Suspect["next"] => ({ folder }) => ({
  kind: "replay",
  run: folder,
  step: 0,
  replace: { stage, fault },
});

/** The folder of a run beside another one. */
const beside = (folder: string, suffix: string) => `${folder.replace(/(?<=.)\/+$/, "")}-${suffix}`;

/** Every failure as a suspect. */
export const SUSPECTS: Readonly<Record<FaultName, Suspect>> = {
  mask_shift: { ruledOutBy: [1], next: replay("lossMask", "mask_shift") },
  stale_old_logp: { ruledOutBy: [7], next: replay("minibatchOldLogp", "stale_old_logp") },
  entropy_sign: { ruledOutBy: [10], next: replay("lossTerms", "entropy_sign") },
  sign_flip: { ruledOutBy: [8], next: replay("advantages", "sign_flip") },
  accum_local: { ruledOutBy: [6], next: replay("accumulate", "accum_local") },
  sampler_temp: { ruledOutBy: [2, 3], next: replay("sample", "sampler_temp") },
  ref_is_policy: { ruledOutBy: [9], next: replay("reference", "ref_is_policy") },
  group_shuffle: { ruledOutBy: [11], next: replay("sample", "group_shuffle") },
  stale_sampler: {
    // In the first step a late sampler is on time.
    ruledOutBy: [],
    next: ({ folder }) => ({ kind: "replay", run: folder, step: 1 }),
  },
  mask_end_call: { ruledOutBy: [1], next: replay("lossMask", "mask_end_call") },
  sampler_logp_temp: { ruledOutBy: [2], next: replay("sample", "sampler_logp_temp") },
  denominator: { ruledOutBy: [6], next: replay("accumulate", "denominator") },
  lr_high: {
    ruledOutBy: [],
    next: ({ folder }) => ({
      kind: "train",
      out: beside(folder, "lower-lr"),
      steps: 2,
      config: { lr: 0.001 },
    }),
  },
  length_bias: {
    ruledOutBy: [],
    next: ({ folder }) => ({
      kind: "train",
      out: beside(folder, "token-mean"),
      config: { aggregation: "token_mean" },
    }),
  },
  public_reward: {
    ruledOutBy: [],
    next: ({ folder, steps }) => ({ kind: "evaluate", run: folder, steps, transcripts: 4 }),
  },
};
