/** Experiment `reinforce`: the first reinforcement learning run of TinyAgent, and what it learned. */
import { mean } from "../core/statistics.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, destroyParameters, readParameters } from "../model/parameters.ts";
import type { AggregationMode } from "../equations/aggregate.ts";
import type { DemonstrationMix } from "../rl/base_agent.ts";
import { resolveConfig, type TrainConfig } from "../rl/config.ts";
import { trainingSetup } from "../rl/setup.ts";
import { Trainer } from "../rl/trainer.ts";
import type { EpisodeRules } from "../rollout/episode_source.ts";
import { type RolloutStats, rolloutStats } from "../rollout/rollout_stats.ts";
import { baseAgent, commonCalls, sampleSplit, type Weights } from "./agents.ts";
import {
  DRAW,
  type Experiment,
  type LabCheck,
  type LabContext,
  type LabResult,
  sizeOf,
} from "./experiment.ts";

const TUTORIAL = {
  base: { train: 0.144, heldout: 0.125 },
  trained: { train: 0.775, heldout: 0.456 },
  reads: { train: 0, heldout: 0 },
  edits: { train: 2.18, heldout: 3.48 },
  firstEditRight: { train: 0.5, heldout: 0.23 },
} as const;

/** Share of the tasks that one blind edit repairs: one operation in five. */
const BLIND_PASS = 0.2;
/** Held-out episodes per task in an evaluation during training. */
const EVAL_EPISODES = 8;
/** Steps at both ends of a run whose means are compared. */
const END_STEPS = 10;

/** What a variant changes. */
interface Plan {
  readonly aggregation?: AggregationMode;
  /** Other demonstrations for the base agent. */
  readonly mix?: readonly DemonstrationMix[];
}

/** A reader that repairs half of the tasks: 3 in 8 by reading, and 1 in 5 of the others by luck. */
const HALF_RIGHT = { policy: "reader", episodesPerTask: 16, rightProbability: 0.375 } as const;

const PLANS: Readonly<Record<string, Plan>> = {
  seq_mean_token_mean: { aggregation: "seq_mean_token_mean" },
  seq_mean_token_sum: { aggregation: "seq_mean_token_sum" },
  constant: { aggregation: "constant" },
  blind_only: { mix: [{ policy: "blind", episodesPerTask: 16 }] },
  random_only: { mix: [{ policy: "random", episodesPerTask: 16 }] },
  half_reader: { mix: [HALF_RIGHT] },
};

/** One step of the curve. */
interface CurvePoint {
  readonly step: number;
  readonly reward: number;
  readonly loss: number;
  readonly gradNorm: number;
  readonly lengthPass: number;
  readonly lengthFail: number;
}

/** A training run. */
export interface ReinforceRun {
  readonly weights_W: Weights;
  readonly curve: readonly CurvePoint[];
  /** (updates done, pass rate on the held-out tasks). */
  readonly evaluations: readonly (readonly [number, number])[];
}

/** What an agent does on both splits. */
interface SplitStats {
  readonly train: RolloutStats;
  readonly heldout: RolloutStats;
}

/**
 * Trains from a base agent with a moving baseline that starts at the base agent's pass rate.
 * @param options.basePass Measured before training, so the first baseline depends on none of the run's episodes.
 */
export async function trainReinforce(
  context: LabContext,
  options: { readonly base_W: Weights; readonly basePass: number; readonly config: TrainConfig },
): Promise<ReinforceRun> {
  const { commands, progress } = context;
  const { base_W, basePass, config } = options;
  const parameters = createParameters(commands, TINY_AGENT, base_W);
  const trainer = new Trainer(trainingSetup(commands, { config }), { parameters });
  const rules: EpisodeRules = trainer.setup.source;
  trainer.setBaseline(basePass);
  const curve: CurvePoint[] = [];
  const evaluations: [number, number][] = [];
  const evaluate = async () => {
    const episodes = await trainer.evaluate({
      split: "heldout",
      episodesPerTask: EVAL_EPISODES,
    });
    evaluations.push([curve.length, rolloutStats(episodes).passRate]);
  };
  for (let step = 0; step < config.steps; step++) {
    if (step % config.evalEvery === 0) await evaluate();
    const { batch, update: { minibatches: [minibatch] } } = await trainer.step();
    const { length_pass, length_fail } = rules.behaviour(batch.trajectories);
    const reward = mean(batch.rewards_B);
    curve.push({
      step,
      reward,
      loss: minibatch.statistics.loss,
      gradNorm: minibatch.gradNorm,
      lengthPass: length_pass,
      lengthFail: length_fail,
    });
    progress(
      `step ${step + 1} of ${config.steps}, reward ${reward.toFixed(2)}`,
      (step + 1) / config.steps,
    );
  }
  await evaluate();
  const weights_W = await readParameters(commands, parameters);
  trainer.destroy();
  destroyParameters(parameters);
  return { weights_W, curve, evaluations };
}

async function episodesOf(context: LabContext, weights_W: Weights, draw: number) {
  const episodesPerTask = sizeOf(context, { full: 16, quick: 8 });
  return {
    train: await sampleSplit(context, weights_W, { split: "train", episodesPerTask, draw }),
    heldout: await sampleSplit(context, weights_W, { split: "heldout", episodesPerTask, draw }),
  };
}

type Episodes = Awaited<ReturnType<typeof episodesOf>>;

function statsOf({ train, heldout }: Episodes): SplitStats {
  return { train: rolloutStats(train), heldout: rolloutStats(heldout) };
}

function checksOf(base: SplitStats, trained: SplitStats): LabCheck[] {
  const { train, heldout } = trained;
  const reads = Math.max(train.reads, heldout.reads);
  return [
    { requirement: "train at least 0.70", value: train.passRate, holds: train.passRate >= 0.7 },
    {
      requirement: "held-out above its base",
      value: heldout.passRate - base.heldout.passRate,
      holds: heldout.passRate > base.heldout.passRate,
    },
    {
      requirement: "held-out below train",
      value: train.passRate - heldout.passRate,
      holds: heldout.passRate < train.passRate,
    },
    { requirement: "reads below 0.1", value: reads, holds: reads < 0.1 },
    {
      requirement: "first edit right: train at least 2 × held-out",
      value: train.firstEditRight / heldout.firstEditRight,
      holds: train.firstEditRight >= 2 * heldout.firstEditRight,
    },
  ];
}

/** The table of pass rates and behaviour. The tutorial's numbers stand beside a run like the tutorial's only. */
function passTable(base: SplitStats, trained: SplitStats, isTutorial: boolean) {
  const row = (name: string, ours: number, tutorial: number) =>
    [name, isTutorial ? tutorial : null, ours] as const;
  const splits = [["train", "train"], ["heldout", "held-out"]] as const;
  return {
    title: "before and after",
    columns: ["quantity", "tutorial", "ours"],
    rows: splits.flatMap(([split, name]) => {
      const { passRate, reads, edits, firstEditRight, actionTokens } = trained[split];
      return [
        row(`pass rate of the base agent, ${name}`, base[split].passRate, TUTORIAL.base[split]),
        row(`pass rate after training, ${name}`, passRate, TUTORIAL.trained[split]),
        row(`reads per episode, ${name}`, reads, TUTORIAL.reads[split]),
        row(`edits per episode, ${name}`, edits, TUTORIAL.edits[split]),
        row(`first edit right, ${name}`, firstEditRight, TUTORIAL.firstEditRight[split]),
        [`policy tokens per episode, ${name}`, null, actionTokens] as const,
      ];
    }),
  };
}

function lengthTable(curve: readonly CurvePoint[]) {
  const first = curve.slice(0, END_STEPS);
  const last = curve.slice(-END_STEPS);
  const keys = ["reward", "gradNorm", "lengthPass", "lengthFail"] as const;
  const names = ["reward", "gradient norm", "tokens of passing episodes", "tokens of failing ones"];
  return {
    title: `means over ${END_STEPS} steps`,
    columns: ["quantity", "first steps", "last steps"],
    rows: keys.map((key, i) => [
      names[i],
      mean(first.map((point) => point[key])),
      mean(last.map((point) => point[key])),
    ]),
  };
}

function callsTable(episodes: Episodes) {
  const splits = [["train", episodes.train], ["held-out", episodes.heldout]] as const;
  return {
    title: "most common call sequences after training",
    columns: ["split", "episodes", "calls"],
    rows: splits.flatMap(([split, trajectories]) =>
      commonCalls(trajectories, 3).map((common) => [split, common.episodes, common.calls])
    ),
  };
}

function figure({ curve, evaluations }: ReinforceRun, basePass: number) {
  const last = curve.length;
  return {
    title: "Batch reward and held-out pass rate",
    xLabel: "step",
    yLabel: "reward",
    series: [
      {
        name: "mean reward of the batch",
        style: "line",
        points: curve.map(({ step, reward }) => [step, reward] as const),
      },
      { name: "held-out pass rate", style: "points", points: evaluations },
      { name: "base agent", style: "line", points: [[0, basePass], [last, basePass]] },
      { name: "one blind edit", style: "line", points: [[0, BLIND_PASS], [last, BLIND_PASS]] },
    ],
  } as const;
}

async function run(context: LabContext): Promise<LabResult> {
  const { variant, seed } = context;
  const { mix, aggregation }: Plan = variant === undefined ? {} : PLANS[variant];
  const base_W = await baseAgent(
    context,
    "plain",
    mix ? { mix: { name: variant ?? "", demonstrations: mix } } : {},
  );
  const base = statsOf(await episodesOf(context, base_W, DRAW.baseAgent));
  const config = resolveConfig({
    flags: {
      algorithm: "reinforce",
      seed,
      aggregation,
      steps: sizeOf(context, { full: 80, quick: 40 }),
    },
  });
  const trained = await context.shared(
    `reinforce ${variant ?? ""}`,
    () => trainReinforce(context, { base_W, basePass: base.train.passRate, config }),
  );
  const episodes = await episodesOf(context, trained.weights_W, DRAW.trained);
  const after = statsOf(episodes);
  const isTutorial = variant === undefined;
  return {
    tables: [
      passTable(base, after, isTutorial),
      lengthTable(trained.curve),
      callsTable(episodes),
    ],
    figures: [figure(trained, base.train.passRate)],
    checks: isTutorial ? checksOf(base, after) : [],
    data: {
      base,
      trained: after,
      curve: trained.curve,
      evaluations: trained.evaluations,
      commonCalls: {
        train: commonCalls(episodes.train, 10),
        heldout: commonCalls(episodes.heldout, 10),
      },
    },
  };
}

/** The first run of reinforcement learning: its curve, and what the agent does after it. */
export const REINFORCE_RUN: Experiment = {
  name: "reinforce",
  title: "TinyAgent learns by REINFORCE (Figure 6.3)",
  shows:
    "80 updates of 64 episodes. The pass rate rises without a single read: names of training tasks are memorized, and " +
    "edits are stacked. Both pay off on the training tasks, only the second on the held-out ones.",
  tutorial: TUTORIAL,
  variants: {
    seq_mean_token_mean: "every episode weighs the same; watch the length of failures",
    seq_mean_token_sum:
      "the estimator as derived; Adam divides its larger scale out, but the clip now acts",
    constant: "a token weighs the same in every batch",
    blind_only: "the base agent has seen blind play only",
    random_only: "the base agent has seen random play only",
    half_reader: "the base agent has seen a reader that repairs half of the tasks",
  },
  costSeconds: 20,
  run,
};
