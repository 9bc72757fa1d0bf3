/** Tests of judgeLog() just beside each finding: what looks like a fault and is none. */
import { assertEquals } from "@std/assert";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import type { LogSettings } from "../../src/logs/run_log.ts";
import { normal, type Row, type Shape, uniforms, viewOf, type Writer } from "./synthetic_runs.ts";
import { healthyRows } from "./synthetic_runs.ts";

interface NearMiss {
  readonly shape?: Omit<Shape, "seed" | "steps"> & { readonly steps?: number };
  readonly change?: (row: Row, at: number, random: () => number) => void;
  readonly writer?: Writer;
  readonly every?: number;
  readonly decimals?: number;
  readonly flags?: LogSettings;
  readonly settings?: LogSettings;
  readonly without?: readonly string[];
  /** Ids that must not come as an accusation. */
  readonly never: readonly string[];
  /** Ids that must not come at all. */
  readonly silent?: readonly string[];
}

const NEAR_MISSES: Readonly<Record<string, NearMiss>> = {
  "less than half of the answers are cut": {
    change: (row) => row.cut = 0.42,
    never: ["answers_cut"],
  },
  "stop strings end all answers well below the cap": {
    change: (row) => Object.assign(row, { cut: 1, length: 120, lengthMax: 400 }),
    never: ["answers_cut"],
  },
  "answers are long, and the longest differ": {
    change: (row, _, random) =>
      Object.assign(row, { length: 900 + 10 * random(), lengthMax: 950 + 30 * random() }),
    without: ["cut"],
    never: ["answers_cut"],
  },
  "nine in ten groups are flat": {
    change: (row, _, random) => row.flat = Math.min(1, 0.9 + 0.03 * normal(random)),
    never: ["flat_groups"],
  },
  "a streak of flat steps with one group a step": {
    shape: { steps: 200, groups: 1, groupSize: 2 },
    never: ["flat_groups"],
  },
  "solved in the last tenth": {
    change: (row, at) => at > 0.92 && Object.assign(row, { reward: 1, flat: 1, rewardStd: 0 }),
    never: ["flat_groups"],
    silent: ["nothing_left_to_learn"],
  },
  "a component that hardly varies": {
    change: (row, _, random) => row.format = 0.999 + 0.001 * random(),
    never: ["constant_reward_component"],
    silent: ["constant_reward_component"],
  },
  "the correct answers fall by a third": {
    change: (row, at, random) => row.correct = 0.6 * (1 - 0.33 * at) + 0.03 * normal(random),
    never: ["reward_components_diverge"],
  },
  "a style fades while answers get better": {
    change: (row, at, random) => row.format = 0.6 * (1 - 0.8 * at) + 0.03 * normal(random),
    never: ["reward_components_diverge"],
  },
  "the evaluation wanders": {
    change: (row, _, random) => {
      if (!Number.isNaN(row.evalScore!)) row.evalScore = 0.4 + 0.05 * normal(random);
    },
    never: ["reward_up_eval_down"],
  },
  "the reward dips and comes back": {
    change: (row, at) => at > 0.6 && at < 0.75 && (row.reward! *= 0.6),
    never: ["best_then_worse"],
  },
  "a first KL of rounding": {
    change: (row, at, random) => row.kl = 0.004 + 0.05 * at + 0.003 * random(),
    never: ["reference_is_not_start"],
  },
  "the log begins late, where the KL is large already": {
    change: (row) => row.kl = 0.4,
    never: ["reference_is_not_start"],
  },
  "a first KL that is a mean over ten steps": {
    shape: { steps: 200 },
    change: (row, at, random) => row.kl = 0.8 * at * Math.exp(0.2 * normal(random)),
    every: 10,
    never: ["reference_is_not_start"],
  },
  "the KL grows a thousandfold and stays small": {
    change: (row, at, random) => row.kl = 1e-4 + 0.3 * at ** 2 * Math.exp(0.2 * normal(random)),
    never: ["kl_runaway", "reference_is_not_start"],
  },
  "a single huge KL": {
    change: (row, at) => Math.abs(at - 0.8) < 0.004 && (row.kl = 40),
    never: ["kl_runaway"],
  },
  "a KL of 0 in three decimals": {
    change: (row) => row.kl = 1e-4,
    decimals: 3,
    flags: { klCoef: 0.04 },
    never: ["kl_exactly_zero"],
  },
  "a KL of 0 with a coefficient of 0": {
    change: (row) => row.kl = 0,
    flags: { klCoef: 0 },
    never: ["kl_exactly_zero"],
  },
  "the entropy falls to a third, and nothing is learned": {
    shape: { from: 0.3, to: 0.3, entropyLeft: 0.35 },
    never: ["entropy_collapse"],
  },
  "the entropy doubles": {
    shape: { entropyLeft: 2 },
    never: ["entropy_explosion"],
  },
  "answers grow by a half without a gain": {
    shape: { from: 0.3, to: 0.3, lengthGrowth: 0.5 },
    never: ["length_runaway"],
  },
  "gradients of 0 where all groups are flat": {
    change: (row, at) => at > 0.5 && Object.assign(row, { flat: 1, rewardStd: 0, gradNorm: 0 }),
    shape: { from: 0.9, to: 0.97 },
    never: ["gradient_zero_with_signal", "gradient_without_signal"],
  },
  "a KL penalty trains where all groups are flat": {
    change: (row, at) => at > 0.5 && Object.assign(row, { flat: 1, rewardStd: 0, gradNorm: 0.2 }),
    shape: { from: 0.9, to: 0.97 },
    flags: { klCoef: 0.04 },
    never: ["gradient_without_signal"],
  },
  "a spread over the batch says nothing about groups": {
    change: (row) => Object.assign(row, { gradNorm: 0, rewardStd: 0.4 }),
    without: ["flat"],
    never: ["gradient_zero_with_signal"],
  },
  "everything spikes and nothing is lost": {
    shape: { steps: 120, spikes: 0 },
    change: (row, at) =>
      Math.abs(at - 0.5) < 0.004 && Object.assign(row, { gradNorm: 50, entropy: 6 }),
    never: ["joint_spike", "gradient_spike"],
  },
  "a decay that ends at 0": {
    shape: { schedule: "linear" },
    never: ["learning_rate_zero"],
  },
  "a learning rate of 1e-6 in three decimals": {
    decimals: 3,
    shape: { updates: 4 },
    never: ["learning_rate_zero"],
  },
  "an update that fp16 skipped": {
    change: (row, at) => Math.abs(at - 0.5) < 0.004 && (row.gradNorm = NaN),
    never: ["non_finite"],
  },
  "a gap of half of what is worth a look": {
    shape: { gap: 0.05 },
    never: ["sampler_trainer_gap"],
  },
  "a gap of a sampler in fp8": {
    shape: { gap: 0.15 },
    flags: { sampler: "fp8" },
    never: ["sampler_trainer_gap"],
  },
  "a gap that doubles": {
    change: (row, at) => at > 0.5 && (row.gap! *= 2),
    never: ["gap_jump", "gap_growth"],
  },
  "a gap that grows tenfold below the noise of bf16": {
    shape: { gap: 0.0012 },
    change: (row, at) => row.gap! *= Math.exp(2.3 * at),
    never: ["gap_jump", "gap_growth"],
  },
  "a clip that acts where nobody says how many updates": {
    change: (row, _, random) => row.clip = 0.03 + 0.003 * random(),
    never: ["ratio_not_one_at_start"],
  },
  "a clip that never acts on steps that are small": {
    shape: { updates: 4 },
    change: (row) => row.clip = 0,
    writer: "verl",
    flags: { updatesPerBatch: 4 },
    never: ["ratio_always_one"],
  },
  "a share above 1 by rounding": {
    change: (row) => row.flat = 1.0000001 * row.flat!,
    never: ["metrics_contradict"],
  },
  "a plan that is all but done": {
    shape: { steps: 196 },
    settings: { plannedSteps: 200 },
    never: ["ended_early"],
    silent: ["ended_early"],
  },
  "ten rows": {
    shape: { steps: 10 },
    never: ["too_little"],
    silent: ["too_little"],
  },
};

for (const [name, miss] of Object.entries(NEAR_MISSES)) {
  Deno.test(`judgeLog() does not accuse when ${name}`, () => {
    for (let seed = 1; seed <= 6; seed++) {
      const rows = healthyRows({ steps: 100, ...miss.shape, seed });
      const random = uniforms(seed + 500);
      rows.forEach((row, i) => miss.change?.(row, i / (rows.length - 1), random));
      const view = viewOf(rows, {
        writer: miss.writer ?? "trl",
        every: miss.every ?? 1,
        decimals: miss.decimals,
        first: name.startsWith("the log begins late") ? 501 : 1,
        flags: miss.flags ?? {},
        settings: miss.settings ?? {},
        without: miss.without ?? [],
      });
      const findings = judgeLog(view);
      const wrong = findings.filter((finding) =>
        (miss.never.includes(finding.id) && ["violated", "suspect"].includes(finding.class)) ||
        miss.silent?.includes(finding.id)
      );
      assertEquals(wrong.map(({ sentence }) => `${seed}: ${sentence}`), []);
    }
  });
}
