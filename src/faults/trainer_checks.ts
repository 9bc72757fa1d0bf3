/** The invariants of this project's trainer: answers the checks by the trainer's own stages, on scratch copies of its weights. */
import type { ModelConfig } from "../model/config.ts";
import { logpToleranceOf } from "./sampler_tolerance.ts";
import type { Learner } from "../model/learner.ts";
import {
  createParameters,
  destroyParameters,
  type Parameters,
  readParameters,
  writeParameters,
} from "../model/parameters.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { TrainingSetup } from "../rl/setup.ts";
import { onePass } from "../rl/stages.ts";
import { collate, type TrainBatch } from "../rl/train_batch.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import { mean } from "../core/statistics.ts";
import { Trainer } from "../rl/trainer.ts";
import type { PreparedUpdate } from "../rl/update.ts";
import type {
  CheckedEpisode,
  CheckedUpdate,
  CheckResult,
  KnownTrainer,
  LossInputs,
} from "../diagnose/invariant.ts";
import { checkInvariants } from "../diagnose/invariants.ts";
import {
  advantageRule,
  batchDraw,
  checkedEpisodes,
  loadedMinibatches,
  tokenDistribution,
} from "./check_evidence.ts";
import { probeSlope } from "./slope_probe.ts";
import {
  type Lend,
  probeBatch,
  probeLoss,
  probeOptimizer,
  type ProbeRequest,
  probeTerms,
} from "./update_probes.ts";

/** The agent that is checked, before its first step. */
export interface CheckRequest {
  /** The shape of the model. */
  readonly model: ModelConfig;
  /** The weights [W] before any training; the KL reference starts from them as well. */
  readonly weights_W: Float32Array<ArrayBuffer>;
  /** The moving baseline before the first step (default 0), for algorithms without groups. */
  readonly baseline?: number;
  /** The learner of a trainer of these weights that has not trained, to borrow: a second one costs time and memory. */
  readonly learner?: Learner;
}

/** What of a scratch trainer is not as before a run's first step. */
interface ScratchChanges {
  /** Steps that count as done (default 0), of the optimizer as well; the weights are the same before each of them. */
  readonly step?: number;
  /** Weights of the KL reference (default those of the trainer). */
  readonly reference_W?: Float32Array<ArrayBuffer>;
}

/** A trainer before its first step; it borrows the request's learner. */
function scratchTrainer(
  setup: TrainingSetup,
  options: ScratchChanges & { readonly request: CheckRequest; readonly parameters: Parameters },
): Trainer {
  const { request, parameters, step = 0, reference_W } = options;
  const { learner, weights_W, baseline = 0 } = request;
  return new Trainer(setup, {
    parameters,
    state: { step, adamStep: step, baseline },
    ...(reference_W && { reference_W }),
    earlierWeights: Array.from(
      { length: Math.min(step, setup.stages.weightsKept ?? 0) },
      () => weights_W,
    ),
    ...(learner && { learner }),
  });
}

/** Runs `work` on a scratch trainer that borrows a learner; its weights and optimizer are afterwards as before. */
async function withBorrowed<T>(
  setup: TrainingSetup,
  options: ScratchChanges & { readonly request: CheckRequest & { readonly learner: Learner } },
  work: (trainer: Trainer) => Promise<T>,
): Promise<T> {
  const { commands } = setup;
  const { learner, weights_W } = options.request;
  const { parameters } = learner;
  const trainer = scratchTrainer(setup, { ...options, parameters });
  try {
    return await work(trainer);
  } finally {
    trainer.destroy();
    writeParameters(commands, parameters, weights_W);
    learner.clearMoments();
    commands.submit();
  }
}

/** What padding could change. */
async function paddedInputs(
  trainer: Trainer,
  batch: TrainBatch,
): Promise<Omit<LossInputs, "logp_BC"> & { readonly gradient_W: Float32Array }> {
  const prepared = await trainer.prepare(batch);
  const { loss, gradient_W } = await trainer.lossAndGradient(batch, { prepared });
  return { ...prepared, gradient_W, columnCount: batch.packed.columnCount, loss };
}

async function lossInputs(trainer: Trainer, batch: TrainBatch) {
  return {
    ...await paddedInputs(trainer, batch),
    logp_BC: await trainer.recompute(batch),
    distribution: await tokenDistribution(trainer, batch, 0),
  };
}

/** Episodes of the next step that show well enough which problems and random numbers it draws. */
const NEXT_EPISODES = 16;

/** The first episodes of each problem of the next step, without a step between. */
async function nextEpisodes(
  setup: TrainingSetup,
  request: CheckRequest & { readonly learner: Learner },
): Promise<CheckedEpisode[]> {
  const { config } = setup;
  const { episodes, problems, groupSize } = config;
  const fewer: TrainConfig = {
    ...config,
    episodes: Math.min(episodes, NEXT_EPISODES),
    groupSize: Math.min(groupSize, Math.ceil(NEXT_EPISODES / problems)),
    resampleRounds: 0,
  };
  const { parameters } = request.learner;
  const trainer = scratchTrainer({ ...setup, config: fewer }, { request, parameters, step: 1 });
  try {
    const { trajectories } = await trainer.sampleBatch();
    return await checkedEpisodes(trajectories, { source: setup.source, isReplayed: false });
  } finally {
    trainer.destroy();
  }
}

async function update(trainer: Trainer, batch: TrainBatch): Promise<CheckedUpdate> {
  const report = await trainer.update(batch);
  const { minibatches } = report;
  return {
    minibatches: loadedMinibatches(report),
    approxKl: mean(minibatches.map(({ statistics }) => statistics.approxKl)),
    largestGap: minibatches.reduce(
      (largest, { logpGaps_N }) => logpGaps_N.reduce((a, gap) => Math.max(a, gap), largest),
      0,
    ),
    logp_BC: await trainer.recompute(batch),
    referenceLogp_BC: await trainer.referenceLogp(batch),
  };
}

/** A setup whose updates have no signal: advantages and the coefficients of KL and entropy are 0. */
function withoutSignal(setup: TrainingSetup): TrainingSetup {
  return {
    ...setup,
    // A skipped step would hide what a regularizer does.
    config: { ...setup.config, klCoef: 0, entropyCoef: 0, skipZeroSignal: false },
    stages: {
      ...setup.stages,
      advantages: ({ rewards_B }, { baseline }) => ({
        advantage_B: new Float64Array(rewards_B.length),
        baseline,
      }),
    },
  };
}

/** What some work gives, done at the first call. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => result ??= work();
}

function checkable(
  trainer: Trainer,
  options: {
    readonly request: CheckRequest;
    readonly batch: TrainBatch;
    readonly episodes: readonly CheckedEpisode[];
    readonly prepared: PreparedUpdate;
    readonly logpTolerance: number;
  },
): KnownTrainer {
  const { batch, episodes, prepared } = options;
  const { setup, learner } = trainer;
  const { commands, config, stages } = setup;
  const request = { ...options.request, learner };
  const { weights_W, baseline = 0, model: { vocabSize } } = request;
  const { trajectories, groupId_B } = batch;
  const lend: Lend = ({ config: changes, stepsDone: step = 0, reference_W }, work) =>
    withBorrowed({ ...setup, config: { ...config, ...changes } }, {
      request,
      step,
      ...(reference_W && { reference_W }),
    }, work);
  const probe: ProbeRequest = { lend, learner, config, weights_W, batch };
  // Without other terms, all of them together are the surrogate.
  const isSurrogateAlone = config.klCoef === 0 && config.entropyCoef === 0;
  const unpadded = once(() => lossInputs(trainer, collate(trajectories, { groupId_B, vocabSize })));
  const surrogate = once(() => probeLoss(probe, "surrogate"));
  const rule = advantageRule(config, { before: baseline, after: prepared.baseline });
  return {
    episodes,
    groupId_B: ALGORITHMS[config.algorithm].grouped ? groupId_B : undefined,
    stepsPerUpdate: config.epochs * config.minibatches,
    logpTolerance: options.logpTolerance,
    lossInputs: (padColumns) =>
      padColumns === 0
        ? unpadded()
        : paddedInputs(trainer, collate(trajectories, { groupId_B, vocabSize, padColumns })),
    advantages: (groups_B) =>
      stages.advantages({ ...batch, groupId_B: groups_B }, { config, baseline }).advantage_B,
    // The gradient of the loss is the accumulated one. In one pass it is always computed again, after other passes: what they
    // leave behind shows here.
    gradient: async (kind) =>
      kind === "accumulated"
        ? (await unpadded()).gradient_W
        : (await trainer.lossAndGradient(batch, { prepared, accumulate: onePass })).gradient_W,
    update: () => withBorrowed(setup, { request }, (scratch) => update(scratch, batch)),
    updateWithoutSignal: () =>
      withBorrowed(withoutSignal(setup), { request }, async (scratch) => {
        // A weight that must not move shows in few episodes as in many.
        await scratch.update(probeBatch(probe));
        const moved_W = await readParameters(commands, learner.parameters);
        return moved_W.reduce(
          (most, value, w) => Math.max(most, Math.abs(value - (weights_W[w] ?? NaN))),
          0,
        );
      }),
    ...(rule && { advantageRule: rule }),
    epochs: config.epochs,
    draw: batchDraw(config, { batch, source: setup.source }),
    nextEpisodes: () => nextEpisodes(setup, request),
    termProbe: async () => ({
      ...await probeTerms(probe, isSurrogateAlone ? { shares: await surrogate() } : {}),
      slope: await probeSlope(probe),
    }),
    lossProbe: surrogate,
    optimizerProbe: () => probeOptimizer(probe),
  };
}

/**
 * Checks the trainer that a run uses, on the batch that its first step samples. Afterwards the run is as it was before.
 *
 * @param setup The run's.
 * @param request Its agent.
 * @returns The verdicts in the order of their ids.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function runChecks(
  setup: TrainingSetup,
  request: CheckRequest,
): Promise<CheckResult[]> {
  const { model, weights_W, learner } = request;
  const parameters = learner?.parameters ?? createParameters(setup.commands, model, weights_W);
  const trainer = scratchTrainer(setup, { request, parameters });
  try {
    const batch = await trainer.sampleBatch();
    const prepared = await trainer.prepare(batch);
    const episodes = await checkedEpisodes(batch.trajectories, {
      source: setup.source,
      isReplayed: true,
    });
    const logpTolerance = await logpToleranceOf(setup.commands.gpu);
    return await checkInvariants(
      checkable(trainer, { request, batch, episodes, prepared, logpTolerance }),
    );
  } finally {
    trainer.destroy();
    if (!learner) destroyParameters(parameters);
  }
}
