/** Experiment `catalogue`: ten failures and their relatives, each a run beside the healthy run that it is compared with. */
import { withDigits } from "../core/digits.ts";
import { largest, median, smallest } from "../core/statistics.ts";
import {
  CATALOGUE,
  CATALOGUE_NAMES,
  catalogueConfig,
  type CatalogueName,
} from "../faults/catalogue.ts";
import { faultyStages } from "../faults/faults.ts";
import type { MetricName, MetricsRow } from "../rl/metrics.ts";
import { type MetricMeans, summarizeRun } from "../rl/run_summary.ts";
import { logpToleranceOf } from "../faults/sampler_tolerance.ts";
import { type CatalogueRows, testSignatures } from "../faults/signatures.ts";
import { catalogueRun, coolSampler, QUICK_STEPS, type RunRequest, trainRun } from "./debug_runs.ts";
import type { Cell, Experiment, LabContext, LabResult, ResultTable } from "./experiment.ts";

/** Healthy numbers of the text: step 0, last step, smallest, median, largest. */
const HEALTHY = {
  reward: [0.172, 0.656, 0.172, 0.438, 0.859],
  eval_pass: [0.1, 0.7, 0.1, 0.525, 0.7],
  entropy: [0.565, 0.21, 0.169, 0.355, 0.565],
  approx_kl: [3.22e-3, 6.81e-4, 9.61e-5, 3.03e-4, 3.22e-3],
  clip_frac: [0.0139, 0, 0, 0, 0.0139],
  ratio_max: [1.21, 1.27, 1.03, 1.11, 1.27],
  grad_norm: [0.204, 0.243, 0.155, 0.226, 0.288],
  length: [13.2, 14.4, 11, 13.7, 14.4],
  zero_adv_frac: [0.375, 0.375, 0, 0.25, 0.625],
  reads: [0.312, 1.08, 0.312, 1.11, 1.61],
  malformed: [0.0625, 0.0469, 0.0312, 0.0781, 0.188],
  hardcode: [0.0781, 0, 0, 0.0156, 0.125],
  logp_gap: [3.05e-8, 6.98e-9, 6.98e-9, 3.07e-8, 5.02e-8],
} as const satisfies Partial<Record<MetricName, readonly number[]>>;

/** What exposes each run, with the text's numbers: means of the first four steps > of the last four. */
export const EXPOSED: Readonly<Partial<Record<CatalogueName, string>>> = {
  healthy: "reward 0.19 > 0.66, held-out 0.70",
  mask_shift: "gap 3.75, grad 0.48 > 1.5, held-out 0.47",
  stale_old_logp: "exactly 0 and 1; held-out 0.68",
  entropy_sign: "entropy 0.45 > 0.027, reads > 0.008, held-out 0.20",
  sign_flip: "reward 0.13 > 0.03, turns > 5.5",
  accum_local: "gradient error 0.54; held-out 0.65",
  sampler_temp: "gap 0.075, held-out 0.15",
  ref_is_policy: "identical to no KL",
  lr_high: "approx_kl 0.31 (100 ×), malformed 2.9",
  length_bias: "failures 21 > 34 against 16 > 13",
  public_reward: "reward 0.97, hardcode 0.97, held-out 0.00",
};

/** The tutorial's ten failures and the healthy runs beside them; the further faults only repeat their signatures. */
const QUICK_RUNS: readonly CatalogueName[] = CATALOGUE_NAMES.filter((name) =>
  EXPOSED[name] !== undefined || name === "kl_0.1" || name === "healthy_12_turns"
);

/** The reward against one that it does not tell apart, one that it does, and the best one. */
const DRAWN: readonly CatalogueName[] = ["healthy", "mask_shift", "sampler_temp", "public_reward"];

const SHOWN = ["reward", "reads", "entropy"] as const satisfies MetricName[];
const SHOWN_OF_VARIANT = [
  "reward",
  "reads",
  "approx_kl",
  "ratio_max",
] as const satisfies MetricName[];

/** A changed assumption: the runs that show it. */
interface Variant {
  readonly text: string;
  readonly runs: (seed: number) => Readonly<Record<string, RunRequest>>;
}

const healthyStages = faultyStages(undefined);

function coolSamplerRun(temperature: number): Variant {
  return {
    text: `the sampler of sampler_temp runs at temperature ${temperature}`,
    runs: (seed) => ({
      [`sampler at ${temperature}`]: {
        config: catalogueConfig("sampler_temp", seed),
        stages: coolSampler(temperature),
      },
    }),
  };
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  consistent_temperature: {
    text: "temperature 0.7 for sampler and trainer alike",
    runs: (seed) => ({
      "0.7 on both sides": {
        config: { ...catalogueConfig("healthy", seed), temperature: 0.7 },
        stages: healthyStages,
      },
    }),
  },
  "sampler_0.9": coolSamplerRun(0.9),
  "sampler_0.5": coolSamplerRun(0.5),
  stale_4x4: {
    text: "stale_old_logp with 4 epochs of 4 minibatches, where it stops being harmless",
    runs: (seed) => {
      const config = { ...catalogueConfig("healthy", seed), epochs: 4, minibatches: 4 };
      return {
        "healthy, 4 x 4": { config, stages: healthyStages },
        "stale_old_logp, 4 x 4": { config, stages: faultyStages("stale_old_logp") },
      };
    },
  },
};

const round = (value: number | undefined) => value === undefined ? "-" : withDigits(value, 2);

/** Means of the first four steps > of the last four. */
function runTable(
  runs: Readonly<Record<string, readonly MetricsRow[]>>,
  metrics: readonly MetricName[],
): ResultTable {
  const cell = (first4: MetricMeans, last4: MetricMeans, name: MetricName) =>
    `${round(first4[name])}>${round(last4[name])}`;
  return {
    title: "means of the first four steps > of the last four; the last held-out pass rate",
    columns: ["run", ...metrics, "held-out"],
    rows: Object.entries(runs).map(([name, rows]) => {
      const { first4, last4, evalPass } = summarizeRun(rows);
      return [name, ...metrics.map((metric) => cell(first4, last4, metric)), evalPass];
    }),
  };
}

function healthyTable(rows: readonly MetricsRow[]): ResultTable {
  const ours = (name: MetricName): Cell[] => {
    const values = rows.map((row) => row[name]).filter((value) => value !== undefined);
    const [first = null, last = null] = [values[0], values.at(-1)];
    return [first, last, smallest(values), median(values), largest(values)];
  };
  return {
    title: `the healthy run, ${rows.length} steps`,
    columns: ["metric", "whose", "step 0", "last", "min", "median", "max"],
    rows: Object.entries(HEALTHY).flatMap(([name, tutorial]) => [
      [name, "tutorial", ...tutorial],
      [name, "ours", ...ours(name as MetricName)], // A key of HEALTHY.
    ]),
  };
}

async function runVariant(context: LabContext, { runs }: Variant): Promise<LabResult> {
  const requests = Object.entries(runs(context.seed));
  const results: Record<string, MetricsRow[]> = {};
  for (const [i, [note, request]] of requests.entries()) {
    const share = (part: number) => (i + part) / requests.length;
    const steps = context.quick ? QUICK_STEPS : request.config.steps;
    const config = { ...request.config, steps };
    results[note] = await trainRun(context, { ...request, config }, { note, share });
  }
  return {
    tables: [runTable(results, SHOWN_OF_VARIANT)],
    figures: [],
    checks: [],
    data: { runs: results },
  };
}

async function runCatalogue(context: LabContext): Promise<LabResult> {
  const names = context.quick ? QUICK_RUNS : CATALOGUE_NAMES;
  const runs: { -readonly [Name in keyof CatalogueRows]: CatalogueRows[Name] } = {};
  for (const [i, name] of names.entries()) {
    const share = (part: number) => (i + part) / names.length;
    runs[name] = await catalogueRun(context, name, { share });
  }
  const signatures = testSignatures(runs, {
    rounding: await logpToleranceOf(context.commands.gpu),
  });
  return {
    tables: [
      runTable(runs, SHOWN),
      {
        title: "what exposes each",
        columns: ["run", "whose", "numbers"],
        rows: signatures.flatMap(({ run, measured }) => [
          ...(EXPOSED[run] === undefined ? [] : [[run, "tutorial", EXPOSED[run]]]),
          [run, "ours", measured],
        ]),
      },
      healthyTable(runs.healthy ?? []),
    ],
    figures: [{
      title: "The reward alone says little",
      xLabel: "step",
      yLabel: "reward",
      series: DRAWN.filter((name) => runs[name] !== undefined).map((name) => ({
        name,
        style: "line",
        points: (runs[name] ?? []).map(({ step, reward }): [number, number] => [step, reward]),
      })),
    }],
    checks: signatures.map(({ run, claim, measured, holds }) => ({
      requirement: `${run}: ${claim}`,
      value: measured,
      holds,
    })),
    data: {
      seed: context.seed,
      runs,
      signatures,
      summaries: Object.fromEntries(
        Object.entries(runs).map(([name, rows]) => [name, summarizeRun(rows)]),
      ),
    },
  };
}

/** Each failure's run beside its healthy run, and what tells them apart. */
export const CATALOGUE_RUNS: Experiment = {
  name: "catalogue",
  title: "The catalogue of failures",
  shows:
    "Most failures still learn, or end with a reward that could be bad luck; each betrays itself in a metric that must " +
    "be a fixed value, in what the agent does, or in an outcome that is measured independently.",
  tutorial: { healthy: HEALTHY, exposed: EXPOSED },
  variants: Object.fromEntries(Object.entries(VARIANTS).map(([name, { text }]) => [name, text])),
  // Roughly a sixth of a second a step.
  costSeconds: CATALOGUE_NAMES.reduce((sum, name) => sum + CATALOGUE[name].steps, 0) / 6,
  run: (context) => {
    const variant = VARIANTS[context.variant ?? ""];
    return variant === undefined ? runCatalogue(context) : runVariant(context, variant);
  },
};
