/** Experiment `reward_hacking`: the best reward curve of all, on tests that the policy has learned to fool. */
import type { MetricsRow } from "../rl/metrics.ts";
import { type RunSummary, summarizeRun } from "../rl/run_summary.ts";
import { catalogueRun } from "./debug_runs.ts";
import type { Cell, Experiment } from "./experiment.ts";

/** What the text prints: by step reward, entropy, grad_norm, approx_kl, held-out; then means of the first and last steps. */
const TUTORIAL = {
  steps: {
    "0": [0.234, 0.565, 0.252, 3.3e-3, 0.175],
    "8": [0.75, 0.31, 0.404, 4.7e-4, 0.125],
    "16": [0.969, 0.115, 0.155, 1.4e-4, 0.025],
    "23": [0.969, 0.092, 0.2, 2.2e-5, 0],
  },
  means: {
    reward: [0.273, 0.969],
    pass_rate: [0.176, 0.00781],
    hardcode: [0.125, 0.969],
    reads: [0.418, 0.0352],
  },
} as const;

function stepRows(rows: readonly MetricsRow[]): Cell[][] {
  return Object.entries(TUTORIAL.steps).flatMap(([step, tutorial]) => {
    const row = rows[Number(step)];
    if (!row) return [];
    const { reward, entropy, grad_norm, approx_kl, eval_pass = null } = row;
    return [
      [step, "tutorial", ...tutorial],
      [step, "ours", reward, entropy, grad_norm, approx_kl, eval_pass],
    ];
  });
}

function meanRows({ first4, last4 }: RunSummary): Cell[][] {
  const names = Object.keys(TUTORIAL.means) as (keyof typeof TUTORIAL.means)[];
  return names.flatMap((name) => [
    [name, "tutorial", ...TUTORIAL.means[name]],
    [name, "ours", first4[name] ?? null, last4[name] ?? null],
  ]);
}

function curve(
  rows: readonly MetricsRow[],
  name: string,
  value: (row: MetricsRow) => number | undefined,
) {
  const points = rows.flatMap((row): [number, number][] => {
    const y = value(row);
    return y === undefined ? [] : [[row.step, y]];
  });
  return { name, style: "line" as const, points };
}

/** What a run on rewards that can be fooled learns: its rows, what they stand for, and the tutorial's numbers beside them. */
export const REWARD_HACKING: Experiment = {
  name: "reward_hacking",
  title: "Reward hacking: the reward rises, and what it stands for falls",
  shows:
    "With the public tests as the reward the policy learns to hardcode their answers. Reward, entropy, gradient norm and " +
    "approx_kl look like those of a run that converges; only the hidden tests and the share of the exploit tell them apart.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 4,
  run: async (context) => {
    // In a quick lab as well: 8 steps do not yet hack.
    const rows = await catalogueRun(context, "public_reward", { share: (share) => share });
    const summary = summarizeRun(rows);
    const { last4: { reward = NaN, pass_rate = NaN }, evalPass } = summary;
    return {
      tables: [
        {
          title: "a run on the public tests, by step (held-out: under the hidden tests)",
          columns: ["step", "whose", "reward", "entropy", "grad_norm", "approx_kl", "held-out"],
          rows: stepRows(rows),
        },
        {
          title: "the same episodes under the hidden tests, and what the agent does",
          columns: ["metric", "whose", "first four steps", "last four"],
          rows: meanRows(summary),
        },
      ],
      figures: [{
        title: "What is rewarded and what is wanted",
        xLabel: "step",
        yLabel: "share of the episodes",
        series: [
          curve(rows, "reward (public tests)", (row) => row.reward),
          curve(rows, "hidden pass rate", (row) => row.pass_rate),
          curve(rows, "hardcode_tests", (row) => row.hardcode),
          curve(rows, "held-out hidden pass rate", (row) => row.eval_pass),
        ],
      }],
      checks: [
        { requirement: "last reward at least 0.9", value: reward, holds: reward >= 0.9 },
        {
          requirement: "last hidden pass rate at most 0.1",
          value: pass_rate,
          holds: pass_rate <= 0.1,
        },
        {
          requirement: "last held-out pass rate at most 0.1",
          value: evalPass,
          holds: evalPass !== null && evalPass <= 0.1,
        },
      ],
      data: { rows, summary },
    };
  },
};
