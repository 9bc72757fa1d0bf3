/** The benchmark of training steps: the trainer's own step, split into its phases. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { median } from "../core/statistics.ts";
import { timeOnDevice, type Timer } from "../gpu/timing.ts";
import type { AlgorithmName } from "../rl/algorithms.ts";
import type { BaseAgentName } from "../rl/base_agent.ts";
import { HEALTHY_STAGES, type Stages } from "../rl/stages.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import type { Trainer } from "../rl/trainer.ts";
import { gridToRows, selectEpisodes } from "../rollout/batch.ts";
import type { Peak } from "./peak.ts";
import { countEpisodes } from "./rollout.ts";
import { boundMs, rolloutWork, updateWork, type Work } from "./roofline.ts";
import { type Bench, prepareBench } from "./step.ts";

/** The phases in the order in which they run. */
export const PHASES = [
  "rollout",
  "host preparation",
  "forward",
  "backward",
  "clip + Adam",
  "host report",
] as const;

/** Milliseconds of each phase. */
export type PhaseTimes = Readonly<Record<typeof PHASES[number], number>>;

/** One step. */
export interface TrainTiming {
  /** Wall time of the whole step. */
  readonly ms: number;
  /** Tokens of its episodes, which are what forward and backward compute. */
  readonly tokens: number;
  readonly phases: PhaseTimes;
  /** What its passes could not do without. */
  readonly work: readonly Work[];
}

/** Moments of a step on the host's clock, noted by the stages that run then. */
interface Marks {
  rolloutStartMs: number;
  rolloutEndMs: number;
  /** When the loss was last asked for. The trainer asks at each minibatch, and once more when all results are back. */
  lossMs: number;
  /** Time spent waiting for results until the rollout was back. */
  rolloutWaitMs: number;
}

/** The healthy stages, which also note when they run. */
function markingStages(marks: Marks, waitedMs: () => number): Stages {
  return {
    ...HEALTHY_STAGES,
    sample: async (request, context) => {
      marks.rolloutStartMs = performance.now();
      const episodes = await HEALTHY_STAGES.sample(request, context);
      marks.rolloutEndMs = performance.now();
      marks.rolloutWaitMs = waitedMs();
      return episodes;
    },
    lossTerms: (config) => {
      marks.lossMs = performance.now();
      return HEALTHY_STAGES.lossTerms(config);
    },
  };
}

/** Device time of the update's passes over a batch, minibatch by minibatch as the trainer splits it; it trains once more. */
async function timeUpdate(
  timer: Timer,
  { trainer, batch }: { readonly trainer: Trainer; readonly batch: TrainBatch },
): Promise<Pick<PhaseTimes, "forward" | "backward" | "clip + Adam">> {
  const { config, learner, stages } = trainer;
  const { vocabSize } = learner.parameters.config;
  const random = randomSequence({ seed: config.seed, stream: STREAM.shuffle });
  const [beta1, beta2] = config.betas;
  const adam = { learningRate: config.lr, beta1, beta2, epsilon: config.eps, step: 1 };
  const loss = stages.lossTerms(config);
  let [forwardUs, backwardUs, optimizerUs] = [0, 0, 0];
  for (const episodes of stages.split(batch, { config, random })) {
    const packed = selectEpisodes(batch, { episodes, vocabSize });
    const weight_N = gridToRows(packed, batch.policyMask_BC);
    // Rows of (advantage, weight, mean weight, old log-prob): only which have a weight changes the cost.
    const objective_N4 = new Float32Array(4 * packed.rowCount);
    weight_N.forEach((weight, n) => objective_N4.set([1, weight, weight, 0], 4 * n));
    const loaded = learner.load(packed, { objective_N4 });
    const forward = await timeOnDevice(timer, () => loaded.forward(config.temperature));
    const backward = await timeOnDevice(timer, () => forward.result.backward({ loss }));
    const step = await timeOnDevice(timer, () => backward.result.step(config.maxGradNorm, adam));
    forwardUs += forward.us;
    backwardUs += backward.us;
    optimizerUs += step.us;
    await learner.collect();
  }
  return {
    "forward": forwardUs / 1000,
    "backward": backwardUs / 1000,
    "clip + Adam": optimizerUs / 1000,
  };
}

function stepWork({ learner, config }: Trainer, { trajectories }: TrainBatch): Work[] {
  const model = learner.parameters.config;
  const counts = countEpisodes(trajectories);
  const { forward, backward, optimizer } = updateWork(model, counts);
  return [
    rolloutWork(model, counts),
    forward,
    backward,
    ...Array<Work>(config.minibatches).fill(optimizer),
  ];
}

/** A prepared step. */
export interface TrainBench {
  readonly algorithm: AlgorithmName;
  /** Takes one step from the base agent and splits it. */
  readonly measure: () => Promise<TrainTiming>;
}

/**
 * Prepares the step of an algorithm under its default configuration.
 *
 * Rollout and the host's phases are wall times inside the very step that is timed as a whole; the device's passes are
 * timed by timestamps over the same episodes right after it. What the step waits beyond those passes (submits, copies, the
 * readback) is in no phase: the phases' sum falls short of the whole by it.
 *
 * @param timer The device's clock.
 * @param options.agent Who plays (see BASE_AGENTS).
 * @param options.settings Keys of the configuration that differ from the algorithm's defaults.
 */
export async function prepareTrainBench(
  timer: Timer,
  options: {
    readonly algorithm: AlgorithmName;
    readonly agent: BaseAgentName;
    readonly settings?: Readonly<Record<string, unknown>>;
  },
): Promise<TrainBench> {
  const { algorithm, agent, settings = {} } = options;
  const { commands } = timer;
  const { counters } = commands.gpu;
  const marks: Marks = { rolloutStartMs: 0, rolloutEndMs: 0, lossMs: 0, rolloutWaitMs: 0 };
  const bench: Bench = await prepareBench(commands, {
    kind: agent,
    algorithm,
    settings,
    stages: markingStages(marks, () => counters.waitMs),
  });
  return {
    algorithm,
    measure: async () => {
      const { trainer, reset } = bench;
      await reset();
      const startMs = performance.now();
      const { batch } = await trainer.step();
      const endMs = performance.now();
      const waitMs = counters.waitMs - marks.rolloutWaitMs;
      const { rolloutStartMs, rolloutEndMs, lossMs } = marks;
      const passes = await timeUpdate(timer, { trainer, batch });
      return {
        ms: endMs - startMs,
        tokens: batch.packed.rowCount,
        phases: {
          "rollout": rolloutEndMs - rolloutStartMs,
          "host preparation": rolloutStartMs - startMs + lossMs - rolloutEndMs - waitMs,
          ...passes,
          "host report": endMs - lossMs,
        },
        work: stepWork(trainer, batch),
      };
    },
  };
}

/** Steps of one algorithm: medians over the rounds. */
export interface TrainRow {
  readonly algorithm: AlgorithmName;
  readonly ms: number;
  /** Tokens that are trained, by the time of the whole step. */
  readonly tokensPerSecond: number;
  /** The least time of the step by the adapter's peaks, as a share of the measured one. */
  readonly rooflineShare: number;
  /** The phases' sum; compare it with `ms`. */
  readonly phasesMs: number;
  /** `share` is that of the whole step. */
  readonly phases: readonly {
    readonly phase: typeof PHASES[number];
    readonly ms: number;
    readonly share: number;
  }[];
}

/** Summarizes rounds. @throws {RangeError} When there is none. */
export function summarizeTraining(
  timings: readonly TrainTiming[],
  { algorithm, peak }: { readonly algorithm: AlgorithmName; readonly peak: Peak },
): TrainRow {
  const ms = median(timings.map((timing) => timing.ms));
  const phases = PHASES.map((phase) => {
    const phaseMs = median(timings.map((timing) => timing.phases[phase]));
    return { phase, ms: phaseMs, share: phaseMs / ms };
  });
  return {
    algorithm,
    ms,
    tokensPerSecond: 1000 * median(timings.map((timing) => timing.tokens / timing.ms)),
    rooflineShare: median(timings.map((timing) => boundMs(timing.work, peak) / timing.ms)),
    phasesMs: phases.reduce((sum, phase) => sum + phase.ms, 0),
    phases,
  };
}
