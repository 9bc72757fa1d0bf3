/** The faults as causes: what rules each out, and what to do about it. */
import type { Advice } from "../diagnose/triage/next_step.ts";
import type { CauseRecord } from "../diagnose/triage/knowledge.ts";
import type { Stages } from "../rl/stages.ts";
import { type FaultName, FAULTS } from "./faults.ts";

/** What triage knows of a fault beside what the catalogue has. */
type Suspicion = Pick<CauseRecord, "ruledOutBy" | "advice">;

/** The first step again, with a stage of the fault's: a run that has the fault stays as it is. */
const replay = (stage: keyof Stages): Advice => ({ kind: "replay", step: 0, stage });

const SUSPICIONS: Readonly<Record<FaultName, Suspicion>> = {
  mask_shift: { ruledOutBy: ["policy_mask"], advice: replay("lossMask") },
  stale_old_logp: { ruledOutBy: ["old_logp_frozen"], advice: replay("minibatchOldLogp") },
  entropy_sign: { ruledOutBy: ["no_signal_no_change"], advice: replay("lossTerms") },
  sign_flip: { ruledOutBy: ["update_follows_advantage"], advice: replay("advantages") },
  accum_local: { ruledOutBy: ["accumulated_is_one_pass"], advice: replay("accumulate") },
  sampler_temp: {
    ruledOutBy: ["sampler_is_trainer", "ratio_one_before_step"],
    advice: replay("sample"),
  },
  ref_is_policy: { ruledOutBy: ["reference_stays_behind"], advice: replay("reference") },
  group_shuffle: { ruledOutBy: ["own_group_advantages"], advice: replay("sample") },
  // In the first step a late sampler is on time.
  stale_sampler: { ruledOutBy: [], advice: { kind: "replay", step: 1 } },
  mask_end_call: { ruledOutBy: ["policy_mask"], advice: replay("lossMask") },
  sampler_logp_temp: { ruledOutBy: ["sampler_is_trainer"], advice: replay("sample") },
  denominator: { ruledOutBy: ["accumulated_is_one_pass"], advice: replay("accumulate") },
  lr_high: {
    ruledOutBy: [],
    advice: { kind: "train", suffix: "lower-lr", steps: 2, config: { lr: 0.001 } },
  },
  length_bias: {
    ruledOutBy: [],
    advice: { kind: "train", suffix: "token-mean", config: { aggregation: "token_mean" } },
  },
  public_reward: { ruledOutBy: [], advice: { kind: "evaluate", transcripts: 4 } },
};

/** Every fault as a cause. */
export const CAUSES: Readonly<Record<FaultName, CauseRecord>> = Object.fromEntries(
  Object.entries(SUSPICIONS).map(([name, suspicion]) => {
    const { summary, kind } = FAULTS[name as FaultName];
    return [name, { summary, kind, ...suspicion }];
  }),
) as Record<FaultName, CauseRecord>;
