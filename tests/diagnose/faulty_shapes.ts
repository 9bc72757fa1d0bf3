/** Runs with one thing wrong: a healthy run, changed where the fault shows. */
import type { LogSettings } from "../../src/logs/run_log.ts";
import { normal, type Row, type Shape, uniforms, type Writer } from "./synthetic_runs.ts";

/** A fault, and what must be said of it. */
export interface FaultyKind {
  readonly shape?: Omit<Shape, "seed" | "steps"> & { readonly steps?: number };
  readonly change: (rows: Row[], random: () => number) => void;
  /** The finding that must come, and its class. */
  readonly id: string;
  readonly class: "violated" | "suspect" | "note" | "expected";
  /** Writers whose logs can show it; all where it is left out. */
  readonly writers?: readonly Writer[];
  readonly flags?: LogSettings;
  readonly settings?: LogSettings;
}

const share = (rows: readonly Row[], index: number) => index / (rows.length - 1);
const each =
  (change: (row: Row, at: number, random: () => number) => void): FaultyKind["change"] =>
  (rows, random) => rows.forEach((row, i) => change(row, share(rows, i), random));

/** The faults by name. */
export const FAULTY_SHAPES: Readonly<Record<string, FaultyKind>> = {
  "the cap cuts most answers": {
    change: each((row, _, random) => {
      row.cut = Math.min(1, 0.91 + 0.02 * normal(random));
      row.lengthMax = 256;
      row.length = 250 + random();
    }),
    id: "answers_cut",
    class: "suspect",
  },
  "answers grow into the cap": {
    change: each((row, at) => {
      row.cut = Math.min(1, at * 1.4);
      row.lengthMax = 1024;
      row.length = 300 * (1 - row.cut) + 1024 * row.cut;
      if (at > 0.7) {
        Object.assign(row, { reward: 0, flat: 1, rewardStd: 0, solved: 0, none: 1, gradNorm: 0 });
      }
    }),
    id: "answers_cut",
    class: "suspect",
  },
  "no task is solved": {
    change: each((row) =>
      Object.assign(row, { reward: 0, flat: 1, rewardStd: 0, solved: 0, none: 1, gradNorm: 0 })
    ),
    id: "flat_groups",
    class: "suspect",
  },
  "evaluation falls while the reward rises": {
    change: each((row, at) => {
      if (!Number.isNaN(row.evalScore!)) row.evalScore = 0.3 * (1 - at) + 0.01;
    }),
    shape: { steps: 160 },
    id: "reward_up_eval_down",
    class: "suspect",
  },
  "the format pays for what the answer loses": {
    change: each((row, at, random) => {
      row.correct = 0.4 * (1 - 0.8 * at) + 0.03 * normal(random);
      row.format = 0.2 + 0.8 * at + 0.03 * normal(random);
    }),
    writers: ["trl"],
    id: "reward_components_diverge",
    class: "suspect",
  },
  "a component never pays": {
    change: each((row) => row.format = 0),
    writers: ["trl"],
    id: "constant_reward_component",
    class: "note",
  },
  "the reward is lost again": {
    change: each((row, at) => {
      if (at > 0.6) row.reward = Math.max(0, row.reward! * (1 - 2.2 * (at - 0.6)) - 0.1);
    }),
    shape: { steps: 150 },
    id: "best_then_worse",
    class: "suspect",
  },
  "training goes on from an adapter": {
    change: each((row, at, random) => row.kl = (1.1 - 0.4 * at) * Math.exp(0.1 * normal(random))),
    writers: ["trl", "verl"],
    id: "reference_is_not_start",
    class: "suspect",
  },
  "a smaller distance from the reference at the start": {
    change: each((row, _, random) => row.kl = 0.33 * Math.exp(0.1 * normal(random))),
    writers: ["trl", "verl"],
    id: "reference_is_not_start",
    class: "suspect",
  },
  "the KL runs away": {
    change: each((row, at) =>
      row.kl = 0.001 + (at < 0.5 ? 0.3 * at * 2 : 0.3 * (128 / 0.3) ** ((at - 0.5) * 2))
    ),
    writers: ["trl", "verl"],
    id: "kl_runaway",
    class: "suspect",
  },
  "the reference is the policy": {
    change: each((row) => row.kl = 0),
    shape: { steps: 160, updates: 4 },
    writers: ["trl", "verl"],
    flags: { klCoef: 0.04 },
    id: "kl_exactly_zero",
    class: "violated",
  },
  "the entropy collapses": {
    shape: { from: 0.35, to: 0.12 },
    change: each((row, at) => row.entropy! *= Math.exp(-6 * at)),
    id: "entropy_collapse",
    class: "suspect",
  },
  "the entropy explodes": {
    shape: { from: 0.3, to: 0.1, entropyLeft: 1 },
    change: each((row, at) => row.entropy! *= Math.exp(2.5 * at)),
    id: "entropy_explosion",
    class: "suspect",
  },
  "answers grow and the reward does not": {
    shape: { from: 0.35, to: 0.12, lengthGrowth: 4 },
    change: () => {},
    id: "length_runaway",
    class: "suspect",
  },
  "answers shrink and the reward does not rise": {
    shape: { from: 0.35, to: 0.12 },
    change: each((row, at) => row.length! *= Math.exp(-3 * at)),
    id: "length_collapse",
    class: "suspect",
  },
  "the gradient is 0": {
    shape: { from: 0.35, to: 0.12 },
    change: each((row) => row.gradNorm = 0),
    writers: ["trl"],
    id: "gradient_zero_with_signal",
    class: "suspect",
  },
  "a gradient comes from nowhere": {
    change: each((row, at, random) => {
      if (at > 0.6) {
        Object.assign(row, {
          flat: 1,
          rewardStd: 0,
          gradNorm: 0.3 * Math.exp(0.3 * normal(random)),
        });
      }
    }),
    writers: ["trl"],
    flags: { klCoef: 0 },
    id: "gradient_without_signal",
    class: "suspect",
  },
  "one update does lasting harm": {
    shape: { steps: 120, spikes: 0 },
    change: (rows, random) => {
      const at = 70;
      rows[at]!.gradNorm = 40;
      rows[at]!.entropy = 6;
      for (const row of rows.slice(at + 1)) row.reward = 0.02 + 0.01 * random();
    },
    id: "joint_spike",
    class: "suspect",
  },
  "a lone spike": {
    shape: { steps: 60, spikes: 0 },
    change: (rows) => {
      for (const row of rows) row.gradNorm = row.gradNorm! * 9 + 0.5;
      rows[15]!.gradNorm = 66;
    },
    id: "gradient_spike",
    class: "note",
  },
  "the learning rate is 0": {
    shape: { from: 0.35, to: 0.12 },
    change: each((row, _, random) => Object.assign(row, { learningRate: 0, kl: 2e-4 * random() })),
    id: "learning_rate_zero",
    class: "violated",
  },
  "the schedule ends early": {
    change: each((row, at) => {
      if (at > 0.6) row.learningRate = 0;
    }),
    id: "learning_rate_zero",
    class: "suspect",
  },
  "numbers break": {
    change: each((row, at) => {
      if (at > 0.5) Object.assign(row, { kl: NaN, loss: NaN });
      if (at > 0.52) Object.assign(row, { entropy: NaN, gradNorm: NaN });
    }),
    writers: ["trl", "verl"],
    id: "non_finite",
    class: "violated",
  },
  "the sampler holds stale weights": {
    shape: { gap: 0.201 },
    change: () => {},
    id: "sampler_trainer_gap",
    class: "suspect",
  },
  "the sampler's weights stop to follow": {
    change: each((row, at) => {
      if (at > 0.5) row.gap! *= 6;
    }),
    id: "gap_jump",
    class: "suspect",
  },
  "sampler and trainer drift apart": {
    change: each((row, at) => row.gap! *= Math.exp(2.5 * at)),
    id: "gap_growth",
    class: "suspect",
  },
  "an entropy below 0": {
    change: each((row) => row.entropy! *= -1),
    id: "metrics_contradict",
    class: "suspect",
  },
  "an entropy that is a sum over micro-batches": {
    change: each((row) => row.entropy! *= 64),
    id: "metrics_contradict",
    class: "suspect",
  },
  "the clip acts with one update per batch": {
    change: each((row, _, random) => row.clip = 0.03 + 0.003 * random()),
    writers: ["trl", "verl"],
    flags: { updatesPerBatch: 1 },
    id: "ratio_not_one_at_start",
    class: "suspect",
  },
  "old log-probs are computed afresh": {
    change: () => {},
    shape: { updates: 1 },
    writers: ["trl", "verl"],
    flags: { updatesPerBatch: 4 },
    id: "ratio_always_one",
    class: "suspect",
  },
  "one update per batch": {
    change: () => {},
    writers: ["trl", "verl"],
    flags: { updatesPerBatch: 1 },
    id: "zero_clip_expected",
    class: "expected",
  },
  "solved at a fifth": {
    change: each((row, at) => {
      if (at > 0.2) {
        Object.assign(row, { reward: 1, flat: 1, rewardStd: 0, solved: 1, none: 0, gradNorm: 0 });
      }
    }),
    id: "nothing_left_to_learn",
    class: "note",
  },
  "more than half of the steps flat": {
    shape: { steps: 2400, groups: 1, groupSize: 4 },
    change: () => {},
    writers: ["trl"],
    id: "flat_groups",
    class: "note",
  },
  "stopped before its plan": {
    change: () => {},
    settings: { plannedSteps: 400 },
    id: "ended_early",
    class: "note",
  },
};

/** A random stream for the change of a fault. */
export const changeRandom = (seed: number) => uniforms(seed + 77);
