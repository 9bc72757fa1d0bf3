/**
 * Our own runs as other frameworks would have logged them: the same numbers under TRL's, verl's and prime-rl's keys, in their
 * files' forms. Known truth for the readers, the dictionary and the findings at once.
 */
import type { MetricsRow } from "../../src/rl/metrics.ts";

/** What a framework knows of a run beside its rows. */
export interface RunFacts {
  readonly lr: number;
  readonly klCoef: number;
  /** Optimizer steps on one batch. */
  readonly updatesPerBatch: number;
  /** Steps that the run was to make, in ours. */
  readonly plannedSteps: number;
}

/** A log in the form of a framework. */
export interface ForeignLog {
  /** The name that its file would have. */
  readonly name: string;
  readonly text: string;
}

/** Standard deviation of rewards of 0 and 1 with this mean. */
function spread(mean: number): number {
  return Math.sqrt(Math.max(0, mean * (1 - mean)));
}

/** Mean |exp(a) − exp(b)| of log-probs that differ by `gap` nats, at the usual probability of a sampled token here. */
function probabilityGap(gap: number): number {
  const USUAL = 0.7;
  return USUAL * (1 - Math.exp(-gap));
}

/** The k3 estimate of two log-probs that differ by `gap` nats. */
function k3(gap: number): number {
  return Math.exp(-gap) - 1 + gap;
}

/** TRL's trainer_state.json: a row of steps of the optimizer, evaluations as rows of their own. */
export function asTrl(rows: readonly MetricsRow[], facts: RunFacts): ForeignLog {
  const { lr, klCoef, updatesPerBatch, plannedSteps } = facts;
  const history = rows.flatMap((row) => {
    const step = (row.step + 1) * updatesPerBatch;
    const epoch = step / (updatesPerBatch * 20);
    const train = {
      "clip_ratio/high_max": row.clip_frac,
      "clip_ratio/high_mean": row.clip_frac / 2,
      "clip_ratio/low_mean": row.clip_frac / 2,
      "clip_ratio/low_min": 0,
      "clip_ratio/region_mean": row.clip_frac,
      "completions/clipped_ratio": 1 - (row.submitted ?? NaN),
      "completions/max_length": row.length * 2,
      "completions/mean_length": row.length,
      "completions/mean_terminated_length": row.length,
      "completions/min_length": row.length / 2,
      entropy: row.entropy,
      epoch,
      frac_reward_zero_std: row.zero_adv_frac,
      grad_norm: row.grad_norm,
      ...(klCoef > 0 && { kl: row.kl_ref ?? 0 }),
      learning_rate: lr,
      loss: Number(row.loss.toFixed(4)),
      num_tokens: step * 1000,
      reward: row.reward,
      reward_std: spread(row.reward),
      "rewards/tests_pass/mean": row.reward,
      "rewards/tests_pass/std": spread(row.reward),
      "sampling/sampling_logp_difference/max": row.logp_gap_max,
      "sampling/sampling_logp_difference/mean": row.logp_gap,
      step,
      step_time: 1.2,
    };
    if (row.eval_pass === undefined) return [train];
    return [train, {
      epoch,
      eval_reward: row.eval_pass,
      eval_runtime: 3.1,
      step,
    }];
  });
  return {
    name: "trainer_state.json",
    text: JSON.stringify(
      {
        global_step: rows.length * updatesPerBatch,
        logging_steps: updatesPerBatch,
        log_history: history,
        max_steps: plannedSteps * updatesPerBatch,
        train_batch_size: 32,
      },
      null,
      2,
    ),
  };
}

/** verl's console, behind Ray's prefix and among other lines. */
export function asVerl(rows: readonly MetricsRow[], facts: RunFacts): ForeignLog {
  const { lr, klCoef } = facts;
  const lines = rows.flatMap((row) => {
    const entries: Readonly<Record<string, number>> = {
      "training/global_step": row.step + 1,
      "actor/entropy": row.entropy,
      ...(klCoef > 0 && { "actor/kl_loss": row.kl_ref ?? 0, "actor/kl_coef": klCoef }),
      "actor/pg_loss": row.loss,
      "actor/pg_clipfrac": row.clip_frac,
      "actor/ppo_kl": row.approx_kl,
      "actor/pg_clipfrac_lower": 0,
      "actor/grad_norm": row.grad_norm,
      "actor/lr": lr,
      "critic/score/mean": row.reward,
      "critic/score/max": row.all_fail === 1 ? 0 : 1,
      "critic/score/min": row.all_pass === 1 ? 1 : 0,
      "critic/rewards/mean": row.reward,
      "critic/rewards/max": row.all_fail === 1 ? 0 : 1,
      "critic/rewards/min": row.all_pass === 1 ? 1 : 0,
      "response_length/mean": row.length,
      "response_length/max": row.length * 2,
      "response_length/min": row.length / 2,
      "response_length/clip_ratio": 1 - (row.submitted ?? NaN),
      "num_turns/mean": row.turns,
      "training/rollout_probs_diff_mean": probabilityGap(row.logp_gap),
      "training/rollout_probs_diff_max": probabilityGap(row.logp_gap_max),
      ...(row.eval_pass !== undefined && { "val-core/bugfix/reward/mean@4": row.eval_pass }),
      "timing_s/step": 1.2,
      "perf/throughput": 1000,
    };
    const text = Object.entries(entries).map(([key, value]) => `${key}:${value}`).join(" - ");
    return [
      `(WorkerDict pid=41) INFO: update of step ${row.step + 1}`,
      `(TaskRunner pid=17) step:${row.step + 1} - ${text}`,
    ];
  });
  return { name: "verl.log", text: `${lines.join("\n")}\n` };
}

/** prime-rl's metrics.jsonl: the trainer and the orchestrator write rows of their own. */
export function asPrimeRl(rows: readonly MetricsRow[], facts: RunFacts): ForeignLog {
  const lines = rows.flatMap((row) => {
    const { step } = row;
    const time = 1.7e9 + 10 * step;
    return [
      {
        step,
        time,
        "loss/mean": row.loss,
        "entropy/all/mean": row.entropy,
        "mismatch_kl/all/mean": k3(row.logp_gap),
        "is_masked/mean": row.clip_frac,
      },
      { step, time: time + 1, "optim/lr": facts.lr, "optim/grad_norm": row.grad_norm },
      {
        step,
        time: time + 2,
        "train/agg/effective/agent/reward/mean": row.reward,
        "train/agg/effective/agent/num_output_tokens/mean": row.length,
        "train/agg/effective/agent/num_turns/mean": row.turns,
        "train/agg/effective/agent/solved_none": row.all_fail,
        "train/agg/effective/agent/solved_all": row.all_pass,
        "train/agg/effective/agent/is_truncated/mean": 1 - (row.submitted ?? NaN),
        ...(row.eval_pass !== undefined &&
          { "eval/bugfix/effective/agent/reward/mean": row.eval_pass }),
      },
    ];
  });
  return {
    name: "metrics.jsonl",
    text: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  };
}

/** The writers by framework. */
export const WRITERS = { trl: asTrl, verl: asVerl, "prime-rl": asPrimeRl } as const;
