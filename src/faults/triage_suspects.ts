/** What rules a suspected failure out, and the next command about it. */
import type { FaultName } from "./faults.ts";

/** What to do about a suspect. */
export interface Suspect {
  /** Invariants each of which rules it out by holding: the fault cannot pass them. */
  readonly ruledOutBy: readonly number[];
  /** The next command; RUN stands for the run's folder and STEPS for the number of its steps. */
  readonly next: string;
}

const replay = (stage: string, fault: FaultName) =>
  `cli/agentrl replay RUN --step 0 --replace ${stage}=${fault}`;

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
    next: "cli/agentrl replay RUN --step 1",
  },
  mask_end_call: { ruledOutBy: [1], next: replay("lossMask", "mask_end_call") },
  sampler_logp_temp: { ruledOutBy: [2], next: replay("sample", "sampler_logp_temp") },
  denominator: { ruledOutBy: [6], next: replay("accumulate", "denominator") },
  lr_high: {
    ruledOutBy: [],
    next: "cli/agentrl train --steps 2 --set lr=0.001 --out RUN-lower-lr",
  },
  length_bias: {
    ruledOutBy: [],
    next: "cli/agentrl train --set aggregation=token_mean --out RUN-token-mean",
  },
  public_reward: {
    ruledOutBy: [],
    next:
      "cli/agentrl eval --checkpoint RUN/checkpoints/step-STEPS.safetensors --preset rl --transcripts 4",
  },
};
