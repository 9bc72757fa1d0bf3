/** The benchmark of growth: how the time of training grows with episodes, their length, the model's width and its layers. */
import { growthExponent, median } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import { type ModelConfig, TINY_AGENT } from "../model/config.ts";
import { Learner } from "../model/learner.ts";
import { createParameters, destroyParameters, initialValues } from "../model/parameters.ts";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";
import { packEpisodes } from "../rollout/batch.ts";
import { countEpisodes } from "./rollout.ts";
import { rolloutWork, updateWork, type Work } from "./roofline.ts";
import { prepareBench } from "./step.ts";

/** One measurement. */
interface GrowthTiming {
  readonly ms: number;
  /** Counted operations. */
  readonly flops: number;
}

/** One size of an axis, ready to be measured. */
interface GrowthCase {
  readonly measure: () => Promise<GrowthTiming>;
  readonly destroy: () => void;
}

/** Something that grows while all else is fixed. */
export interface GrowthAxis {
  readonly axis: "episodes" | "length" | "width" | "layers";
  /** What a size counts. */
  readonly unit: string;
  /** What is timed at each size, and what stays fixed. */
  readonly timed: string;
  readonly sizes: readonly number[];
  readonly prepare: (commands: Commands, size: number) => Promise<GrowthCase> | GrowthCase;
}

function sumFlops(passes: readonly Work[]): number {
  return passes.reduce((sum, { flops }) => sum + flops, 0);
}

/** A whole REINFORCE step of an untrained agent, whose episodes last as long as they may. */
async function wholeStep(commands: Commands, episodes: number): Promise<GrowthCase> {
  const { trainer, reset } = await prepareBench(commands, {
    kind: "untrained",
    algorithm: "reinforce",
    settings: { episodes },
  });
  const { parameters } = trainer.learner;
  return {
    measure: async () => {
      await reset();
      const startMs = performance.now();
      const { batch } = await trainer.step();
      const ms = performance.now() - startMs;
      const counts = countEpisodes(batch.trajectories);
      const { forward, backward } = updateWork(parameters.config, counts);
      return { ms, flops: sumFlops([rolloutWork(parameters.config, counts), forward, backward]) };
    },
    destroy: () => {
      trainer.destroy();
      destroyParameters(parameters);
    },
  };
}

const LOSS = {
  surrogate: "reinforce",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
} as const;
const ADAM = {
  learningRate: 1e-3,
  beta1: ADAM_BETA1,
  beta2: ADAM_BETA2,
  epsilon: ADAM_EPS,
  step: 1,
} as const;

/** Forward, backward, clip and Adam over synthetic episodes of equal length, with one readback. */
function updateOnly(
  commands: Commands,
  options: {
    readonly config?: ModelConfig;
    readonly episodeCount: number;
    readonly length: number;
  },
): GrowthCase {
  const { config = TINY_AGENT, episodeCount, length } = options;
  const parameters = createParameters(commands, config, initialValues(config, 0));
  const ids_B = Array.from({ length: episodeCount }, (_, b) =>
    // Any tokens will do; 7 and 60 have no common divisor, so that all of them occur.
    Uint32Array.from({ length }, (_, t) => (b + 7 * t) % config.vocabSize));
  const batch = packEpisodes(ids_B, config);
  const { rowCount } = batch;
  const learner = new Learner(commands, parameters, { capacity: rowCount, maxPositions: length });
  // Rows of (advantage, weight, mean weight, old log-prob).
  const objective_N4 = new Float32Array(4 * rowCount).fill(1 / rowCount);
  const { forward, backward } = updateWork(config, {
    length_B: ids_B.map((ids) => ids.length),
    sampledCount: rowCount,
  });
  const flops = sumFlops([forward, backward]);
  return {
    measure: async () => {
      const startMs = performance.now();
      const scored = learner.load(batch, { objective_N4 }).forward();
      scored.keepRows();
      scored.backward({ loss: LOSS }).step(1, ADAM).keep();
      await learner.collect();
      return { ms: performance.now() - startMs, flops };
    },
    destroy: () => {
      learner.destroy();
      destroyParameters(parameters);
    },
  };
}

/** Heads of TinyAgent are 16 wide, and its feed-forward four times the model. */
function ofWidth(width: number): ModelConfig {
  return { ...TINY_AGENT, width, headCount: width / 16, feedForwardWidth: 4 * width };
}

/** Tokens of every case whose tokens stay the same: 32 episodes of 32, about as many as a step of TinyAgent trains. */
const FIXED = { episodeCount: 32, length: 32 } as const;

/** What is measured. */
export const GROWTH_AXES: readonly GrowthAxis[] = [
  {
    axis: "episodes",
    unit: "episodes",
    timed: "a whole REINFORCE step of an untrained agent",
    sizes: [16, 32, 64, 128, 256],
    prepare: wholeStep,
  },
  {
    axis: "length",
    unit: "tokens",
    timed: "forward, backward and Adam over 16 episodes of this length",
    sizes: [16, 32, 64, 128, 256],
    prepare: (commands, length) => updateOnly(commands, { episodeCount: 16, length }),
  },
  {
    axis: "width",
    unit: "columns",
    timed: "forward, backward and Adam over 32 × 32 tokens, heads of 16 columns",
    sizes: [32, 64, 128, 256],
    prepare: (commands, width) => updateOnly(commands, { config: ofWidth(width), ...FIXED }),
  },
  {
    axis: "layers",
    unit: "layers",
    timed: "forward, backward and Adam over 32 × 32 tokens",
    sizes: [1, 2, 3, 4, 6],
    prepare: (commands, layerCount) =>
      updateOnly(commands, { config: { ...TINY_AGENT, layerCount }, ...FIXED }),
  },
];

/** A measured axis. */
export interface GrowthCurve extends Pick<GrowthAxis, "axis" | "unit" | "timed" | "sizes"> {
  /** Median time at each size. */
  readonly ms: readonly number[];
  /** Fitted to the times: time ∝ size^exponent. */
  readonly exponent: number;
  /** The same fit to the counted operations: what theory expects at these sizes, small terms among them. */
  readonly expected: number;
}

/**
 * Measures an axis in interleaved rounds: each goes through all sizes once. A first round warms up and is not counted.
 *
 * @param axis What grows.
 * @param options.rounds Counted rounds.
 * @param options.onMeasured Called after each measurement.
 * @throws {RangeError} When there are fewer than two sizes.
 */
export async function measureGrowth(
  commands: Commands,
  axis: GrowthAxis,
  options: { readonly rounds: number; readonly onMeasured?: () => void },
): Promise<GrowthCurve> {
  const { rounds, onMeasured = () => {} } = options;
  const { sizes } = axis;
  const cases: GrowthCase[] = [];
  for (const size of sizes) cases.push(await axis.prepare(commands, size));
  const timings = sizes.map((): GrowthTiming[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { measure }] of cases.entries()) {
      const timing = await measure();
      if (round > 0) timings[i].push(timing);
      onMeasured();
    }
  }
  cases.forEach(({ destroy }) => destroy());
  const ms = timings.map((one) => median(one.map((timing) => timing.ms)));
  const flops = timings.map((one) => median(one.map((timing) => timing.flops)));
  return {
    axis: axis.axis,
    unit: axis.unit,
    timed: axis.timed,
    sizes,
    ms,
    exponent: growthExponent(sizes, ms),
    expected: growthExponent(sizes, flops),
  };
}
