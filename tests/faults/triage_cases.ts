/** A run for each symptom that a rule of src/faults/triage_rules.ts looks for, made of a pinned healthy one, and the cause that must come first. */
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import type { FaultName } from "../../src/faults/faults.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import type { CheckVerdict } from "../../src/diagnose/invariant.ts";
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import type { LaterCheck, RecordedCheck, TestedRun } from "../../src/diagnose/triage/evaluate.ts";
import { triage, type TriageReport } from "../../src/diagnose/triage/triage.ts";
import { tinyAgentKnowledge } from "../../src/faults/tiny_agent_knowledge.ts";
import { TRIAGE_METRICS } from "../../src/faults/triage_rules.ts";

/** A row of metrics. */
export type Row = Readonly<Record<string, number>>;

export const KNOWLEDGE = tinyAgentKnowledge();
/** A healthy run; its seed is one of the reference's. */
export const HEALTHY: readonly Row[] = HEALTHY_REFERENCE_FILE.seeds[1]!.rows;

/** The healthy run with some metrics made afresh from their value and step; what is rewarded still is what passes. */
export function altered(
  changes: Readonly<Record<string, (value: number, step: number) => number>>,
) {
  return HEALTHY.map((row): Row => {
    const own = Object.fromEntries(
      Object.entries(changes).map(([name, change]) => [name, change(row[name] ?? 0, row.step!)]),
    );
    const { reward = row.reward!, pass_rate = reward } = own;
    return { ...row, ...own, pass_rate };
  });
}

/** All invariants hold, but for some verdicts. */
export function verdicts(others: Readonly<Record<number, CheckVerdict>> = {}): RecordedCheck[] {
  return INVARIANTS.map(({ id, name }) => ({
    id,
    name,
    value: others[id] === "not-applicable" ? null : 0.5,
    bound: 0.1,
    verdict: others[id] ?? "holds",
  }));
}

export function judge(
  rows: readonly Row[],
  checks?: readonly RecordedCheck[],
  told: Partial<TestedRun> = {},
): TriageReport {
  const metrics = metricSeries(rows, { names: TRIAGE_METRICS, source: "run" });
  return triage({ metrics, checks, runFolder: "runs/a", ...told }, KNOWLEDGE);
}

export const broken = (...ids: readonly number[]) =>
  verdicts(Object.fromEntries(ids.map((id) => [id, "violated" as const])));

export const falling = (_: number, step: number) => 0.2 - 0.008 * step;
export const rising = (_: number, step: number) => 0.1 + 0.03 * step;
export const constant = (value: number) => () => value;

/** A run for each symptom, and the cause that must come first. */
export const CASES: Readonly<
  Record<string, {
    readonly rows?: readonly Row[];
    readonly checks?: readonly RecordedCheck[];
    readonly later?: readonly LaterCheck[];
    readonly told?: Partial<TestedRun>;
    /** Undefined where no failure of the catalogue shows itself so. */
    readonly first: FaultName | undefined;
  }>
> = {
  "the mask strays onto tokens that nobody sampled": {
    checks: broken(1, 2, 5),
    first: "mask_shift",
  },
  "the mask leaves out tokens of the policy": { checks: broken(1), first: "mask_end_call" },
  "the sampler's log-probs are not the trainer's, and they serve as the old ones": {
    checks: broken(2, 3, 12),
    first: "sampler_temp",
  },
  "the sampler's record is not the trainer's log-prob, and the ratio is right": {
    checks: broken(2),
    first: "sampler_logp_temp",
  },
  "the gradient depends on how the batch is cut, and the loss on padding": {
    checks: broken(5, 6),
    first: "denominator",
  },
  "the gradient depends on how the batch is cut": { checks: broken(6), first: "accum_local" },
  "the ratio stays 1 within an update": { checks: broken(7), first: "stale_old_logp" },
  "an update makes good episodes less likely, and advantages are off by twice their size": {
    checks: broken(8, 13).map((check) => check.id === 13 ? { ...check, value: 2 } : check),
    first: "sign_flip",
  },
  // As files of earlier versions have it.
  "an update makes good episodes less likely": {
    checks: broken(8).filter(({ id }) => id < 12),
    first: "sign_flip",
  },
  "the reference follows the policy": { checks: broken(9), first: "ref_is_policy" },
  "the sampler draws as the trainer would, and records and old log-probs are off": {
    checks: broken(2, 3),
    first: "sampler_logp_temp",
  },
  "without a signal, an update still moves the weights, and entropy falls away": {
    checks: broken(10, 15),
    rows: altered({ entropy: (_, step) => 0.5 * 0.8 ** step }),
    first: "entropy_sign",
  },
  "the entropy bonus pulls with its full size but the wrong sign": {
    checks: broken(15).map((check) => check.id === 15 ? { ...check, value: 2 } : check),
    told: { settings: { entropyCoef: 0.01, klCoef: 0 } },
    first: "entropy_sign",
  },
  "without a signal, an update still moves the weights": {
    checks: broken(10, 15),
    first: "entropy_sign",
  },
  "episodes are compared with those of other problems": {
    checks: broken(11, 12, 13),
    first: "group_shuffle",
  },
  "sampler and trainer agree before the first step and disagree at a later one": {
    checks: verdicts(),
    later: [{ ...verdicts({ 2: "violated" })[1]!, step: 8 }],
    first: "stale_sampler",
  },
  "the loss trains on tokens that nobody sampled": {
    rows: altered({ logp_gap: constant(3) }),
    first: "mask_shift",
  },
  "the loss trains on fewer tokens than the policy wrote": {
    rows: altered({ loss_tokens: (tokens) => 0.7 * tokens }),
    first: "mask_end_call",
  },
  "the loss trains on more tokens than the policy wrote": {
    rows: altered({ loss_tokens: (tokens) => 1.2 * tokens }),
    first: undefined,
  },
  "the policy is far from the reference before it has moved": {
    rows: altered({ kl_ref: constant(0.5) }),
    first: undefined,
  },
  "what is rewarded is not what passes the hidden tests": {
    rows: altered({ pass_rate: (rate) => rate / 2 }),
    first: "public_reward",
  },
  "sampler and trainer disagree from the first step": {
    // Which of the two it is, the ratio would tell.
    rows: altered({ logp_gap: constant(0.07) }).map(({ ratio_max: _, ...row }) => row),
    first: "sampler_temp",
  },
  "sampler and trainer disagree from the first step, and the ratio is off with them": {
    rows: altered({ logp_gap: constant(0.07), ratio_max: constant(4) }),
    first: "sampler_temp",
  },
  "sampler and trainer disagree from the first step, and the ratio is right": {
    rows: altered({ logp_gap: constant(0.07) }),
    first: "sampler_logp_temp",
  },
  "sampler and trainer agree in the first step and then drift apart": {
    rows: altered({ logp_gap: (_, step) => step === 0 ? 0 : 0.01 }),
    first: "stale_sampler",
  },
  "nothing is ever clipped and the ratio is exactly 1 throughout": {
    rows: altered({ clip_frac: constant(0), ratio_max: constant(1), approx_kl: constant(0) }),
    first: "stale_old_logp",
  },
  "the KL to the reference is exactly 0 throughout": {
    rows: altered({ kl_ref: constant(0) }),
    first: "ref_is_policy",
  },
  "the first update goes much too far": {
    rows: altered({ approx_kl: (kl) => 60 * kl }),
    first: "lr_high",
  },
  "the policy forgets how to write a call": {
    rows: altered({ malformed: constant(3) }),
    first: "lr_high",
  },
  "gradients are too large from the start": {
    rows: altered({ grad_norm: (norm) => 3 * norm }),
    first: "mask_shift",
  },
  "gradients are too small throughout": {
    rows: altered({ grad_norm: (norm) => 0.3 * norm }),
    first: "denominator",
  },
  "entropy falls ahead of the reward, and exploration ends": {
    rows: altered({
      entropy: (_, step) => 0.5 * 0.8 ** step,
      reads: (_, step) => 0.3 * 0.7 ** step,
      reward: constant(0.2),
    }),
    first: "entropy_sign",
  },
  "failing episodes grow longer while the reward does not fall": {
    rows: altered({ length_fail: (_, step) => 16 + step }),
    first: "length_bias",
  },
  "the reward falls while the updates are of the usual size": {
    rows: altered({ reward: falling, entropy: constant(0.5) }),
    first: "sign_flip",
  },
  "the reward rises and the held-out pass rate does not": {
    rows: altered({ reward: rising, eval_pass: (_, step) => 0.2 - 0.01 * step }),
    first: "public_reward",
  },
  "the reward rises with the share of a known exploit": {
    rows: altered({ reward: rising, hardcode: rising }),
    first: "public_reward",
  },
};
