/** Invented runs for tests of findings: a small model of how the metrics of a run hang together, seen through the keys of a producer. */
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import type { LogSettings, RunLog } from "../../src/logs/run_log.ts";
import { interpret } from "../../src/producers/interpret.ts";
import type { RunView } from "../../src/producers/run_view.ts";

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function uniforms(seed: number): () => number {
  let state = (seed * 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a synthetic run is like. Every field has a plain default. */
export interface Shape {
  readonly steps: number;
  readonly seed: number;
  /** Steps in a row: means of them, or the last one, as the producer does. */
  readonly every?: number;
  /** Pass rate at the beginning and the most that it comes to. */
  readonly from?: number;
  readonly to?: number;
  /** Share of the run by which half of the gain is made, and how sudden it is. */
  readonly half?: number;
  readonly groups?: number;
  readonly groupSize?: number;
  /** Mean |difference| of sampler and trainer, in nats. */
  readonly gap?: number;
  /** Share by which lengths change over the run. */
  readonly lengthGrowth?: number;
  /** Size of the slow wandering of the tasks' hardness, in logits. */
  readonly wander?: number;
  /** Updates on a batch. */
  readonly updates?: number;
  readonly klCoef?: number;
  readonly schedule?: "constant" | "linear" | "cosine";
  /** Decimals that the values are rounded to. */
  readonly decimals?: number;
  /** Chance of a step with a gradient many times the usual. */
  readonly spikes?: number;
  /** Entropy at the end over that of the start, for a run that learns all it can. */
  readonly entropyLeft?: number;
  readonly cap?: number;
}

/** One step's canonical values. */
export type Row = Record<string, number>;

/** A normal deviate from uniforms. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The rows of a healthy run, one a step, from step 1. */
export function healthyRows(shape: Shape): Row[] {
  const {
    steps,
    seed,
    from = 0.2,
    to = 0.8,
    half = 0.4,
    groups = 8,
    groupSize = 8,
    gap = 0.012,
    lengthGrowth = 0.2,
    wander = 0.15,
    updates = 1,
    klCoef = 0,
    schedule = "constant",
    spikes = 0.005,
    entropyLeft = 0.4,
    cap = 4096,
  } = shape;
  const random = uniforms(seed);
  let hardness = 0, drift = 0, entropyNoise = 0;
  const rows: Row[] = [];
  for (let step = 1; step <= steps; step++) {
    const progress = 1 / (1 + Math.exp(-10 * (step / steps - half)));
    hardness = 0.9 * hardness + wander * normal(random);
    drift = 0.95 * drift + 0.01 * normal(random);
    entropyNoise = 0.8 * entropyNoise + 0.03 * normal(random);
    const p = from + (to - from) * progress;
    let sum = 0, flat = 0, solved = 0, none = 0, groupStd = 0;
    for (let g = 0; g < groups; g++) {
      // Prompts differ in how hard they are.
      const logit = Math.log(p / (1 - p)) + hardness + 1.5 * normal(random);
      const rate = 1 / (1 + Math.exp(-logit));
      let passed = 0;
      for (let s = 0; s < groupSize; s++) if (random() < rate) passed++;
      sum += passed;
      const mean = passed / groupSize;
      groupStd += Math.sqrt(mean * (1 - mean) * groupSize / (groupSize - 1)) / groups;
      if (passed === groupSize) solved++;
      if (passed === 0) none++;
      if (passed === 0 || passed === groupSize) flat++;
    }
    const reward = sum / (groups * groupSize);
    const scale = 1 + normal(random) * 0.05;
    const length = Math.min(0.6 * cap, 300 * (1 + lengthGrowth * progress + drift) * scale);
    const signal = flat === groups ? 0 : Math.sqrt(1 - flat / groups);
    const isSpike = random() < spikes;
    const klGrowth = 0.03 * (step - 1) / (step - 1 + 0.3 * steps);
    const rate = schedule === "constant"
      ? 1
      : schedule === "linear"
      ? 1 - (step - 1) / (steps - 1)
      : 0.5 * (1 + Math.cos(Math.PI * (step - 1) / (steps - 1)));
    const clip = updates === 1 ? 0 : Math.abs(0.002 + 0.0007 * normal(random));
    rows.push({
      reward,
      rewardStd: groupStd,
      batchStd: Math.sqrt(reward * (1 - reward)),
      format: Math.min(1, 0.5 + 0.5 * progress + 0.03 * normal(random)),
      flat: flat / groups,
      solved: solved / groups,
      none: none / groups,
      entropy: 0.6 * (1 - (1 - entropyLeft) * progress) * Math.exp(entropyNoise),
      kl: klGrowth * Math.exp(0.3 * normal(random)) + 2e-4 * random(),
      klOld: updates === 1 ? 0 : 3e-4 * normal(random) + 4e-4,
      clip,
      gradNorm: signal * 0.3 * Math.exp(0.35 * normal(random)) * (isSpike ? 15 : 1) +
        (klCoef > 0 ? 1e-3 : 0),
      loss: updates === 1 ? klCoef * klGrowth : 0.01 * normal(random),
      learningRate: 1e-6 * rate * Math.min(1, step / 5),
      length,
      lengthMax: Math.min(cap, length * (2.2 + 0.3 * random())),
      cut: Math.max(0, 0.03 + 0.01 * normal(random)),
      gap: gap * Math.exp(0.12 * normal(random)),
      time: 14 + normal(random),
      evalScore: step % Math.max(1, Math.round(steps / 8)) === 0
        ? Math.min(1, Math.max(0, 0.95 * p + 0.03 * normal(random)))
        : NaN,
    });
  }
  return rows;
}

/** A producer's key for each canonical value, and whether a row holds its mean, its last value, or only what is there. */
type Keys = Readonly<
  Record<string, readonly [string, "mean" | "last" | "there", ((value: number) => number)?]>
>;

/** What a producer writes. */
export const WRITERS = {
  trl: {
    reward: ["reward", "mean"],
    rewardStd: ["reward_std", "mean"],
    flat: ["frac_reward_zero_std", "mean"],
    format: ["rewards/format/mean", "mean"],
    formatStd: ["rewards/format/std", "mean"],
    correct: ["rewards/correct/mean", "mean"],
    correctStd: ["rewards/correct/std", "mean"],
    entropy: ["entropy", "mean"],
    kl: ["kl", "mean"],
    clip: ["clip_ratio/region_mean", "mean"],
    gradNorm: ["grad_norm", "last"],
    loss: ["loss", "mean"],
    learningRate: ["learning_rate", "last"],
    length: ["completions/mean_length", "mean"],
    lengthMax: ["completions/max_length", "mean"],
    cut: ["completions/clipped_ratio", "mean"],
    gap: ["sampling/sampling_logp_difference/mean", "mean"],
    time: ["step_time", "mean"],
    evalScore: ["eval_reward", "there"],
  },
  verl: {
    reward: ["critic/score/mean", "mean"],
    entropy: ["actor/entropy", "mean"],
    kl: ["actor/kl_loss", "mean"],
    klOld: ["actor/ppo_kl", "mean"],
    clip: ["actor/pg_clipfrac", "mean"],
    gradNorm: ["actor/grad_norm", "mean"],
    loss: ["actor/pg_loss", "mean"],
    learningRate: ["actor/lr", "mean"],
    length: ["response_length/mean", "mean"],
    lengthMax: ["response_length/max", "mean"],
    cut: ["response_length/clip_ratio", "mean"],
    // A difference of log-probs of d changes a probability by less than d.
    gap: ["training/rollout_probs_diff_mean", "mean", (value) => 0.25 * value],
    time: ["timing_s/step", "mean"],
    evalScore: ["val-core/tasks/reward/mean@8", "there"],
  },
  prime_rl: {
    reward: ["train/agg/effective/agent/reward/mean", "mean"],
    solved: ["train/agg/all/solved_all", "mean"],
    none: ["train/agg/all/solved_none", "mean"],
    entropy: ["entropy/all/mean", "mean"],
    gap: ["mismatch_kl/all/mean", "mean", (value) => 0.5 * value * value],
    loss: ["loss/mean", "mean"],
    gradNorm: ["optim/grad_norm", "mean"],
    learningRate: ["optim/lr", "mean"],
    length: ["train/agg/effective/agent/num_output_tokens/mean", "mean"],
    cut: ["train/agg/effective/agent/is_truncated/mean", "mean"],
    time: ["time/step", "mean"],
    evalScore: ["eval/tasks/avg@8", "there"],
  },
} as const satisfies Record<string, Keys>;

/** Name of a writer. */
export type Writer = keyof typeof WRITERS;

function windowValue(
  values: readonly number[],
  how: "mean" | "last" | "there",
): number | undefined {
  if (how === "last") return values.at(-1);
  const there = values.filter((value) => how === "mean" || !Number.isNaN(value));
  if (there.length === 0) return undefined;
  return there.reduce((sum, value) => sum + value, 0) / there.length;
}

/** Writes rows as a producer would. @param options.first The first step. */
export function writeLog(
  rows: readonly Row[],
  { writer, every = 1, decimals, first = 1, settings = {}, without = [] }: {
    readonly writer: Writer;
    readonly every?: number;
    readonly decimals?: number | undefined;
    readonly first?: number;
    readonly settings?: LogSettings;
    /** Canonical values that are left out. */
    readonly without?: readonly string[];
  },
): RunLog {
  const builder = new RunLogBuilder();
  builder.beginFile("synthetic.jsonl");
  const keys: Keys = WRITERS[writer];
  for (let start = 0; start + every <= rows.length; start += every) {
    const window = rows.slice(start, start + every);
    const entries = Object.entries(keys).flatMap(
      ([name, [key, how, change]]): [string, number][] => {
        if (without.includes(name) || !(name in window[0]!)) return [];
        const value = windowValue(window.map((row) => row[name]!), how);
        if (value === undefined) return [];
        const changed = change ? change(value) : value;
        return [[key, decimals === undefined ? changed : Number(changed.toFixed(decimals))]];
      },
    );
    builder.add(first + start + every - 1, { line: start + 1 }, entries);
  }
  builder.set({ ...(every > 1 ? { loggingSteps: every } : {}), ...settings });
  return builder.finish({ path: "synthetic.jsonl", form: "jsonl" });
}

/** Rows as rules see them. */
export function viewOf(
  rows: readonly Row[],
  options: Parameters<typeof writeLog>[1] & { readonly flags?: LogSettings },
): RunView {
  return interpret(writeLog(rows, options), { settings: options.flags ?? {} });
}
