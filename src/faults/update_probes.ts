/** Probes of an update of this project's trainer: a loss in mid-update, its terms one by one, optimizer steps in mid-run. */
import { at } from "../core/element.ts";
import { mean } from "../core/statistics.ts";
import type {
  LossProbe,
  OptimizerProbe,
  OptimizerState,
  TermMove,
  TermProbe,
} from "../diagnose/probe.ts";
import { klTerm } from "../equations/policy_loss.ts";
import { weightedRows } from "../model/batch_inputs.ts";
import type { Learner } from "../model/learner.ts";
import type { Gradient } from "../model/learner_batch.ts";
import { readParameters, writeParameters } from "../model/parameters.ts";
import { clipAdam } from "../reference/clip_adam.ts";
import type { TrainConfig } from "../rl/config.ts";
import { normConstOf } from "../rl/stages.ts";
import { scoreBatch } from "../rl/score_batch.ts";
import { collate, type TrainBatch } from "../rl/train_batch.ts";
import type { Trainer } from "../rl/trainer.ts";
import type { PreparedUpdate } from "../rl/update.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import type { RecordedPart, UpdateReport } from "../rl/update_report.ts";
import { forEachRow } from "../rollout/batch.ts";
import { maxPolicyTokens } from "../rollout/episode_source.ts";

type Weights_W = Float32Array<ArrayBuffer>;

/** Episodes of a probe: its statements are about single tokens and weights, of which these have plenty. */
const PROBE_EPISODES = 16;

/** Advantages of a probe's episodes in turn: either sign, and none, where KL and entropy act alone. */
const PROBE_ADVANTAGES = [1, -0.7, 0] as const;

/** The reference of a probe: the policy with all its weights smaller by this, and so less sure. */
const REFERENCE_SCALE = 0.9;

/** A step so small that a term moves as its gradient says. */
const SMALL_RATE = 1e-4;

/** Adam's steps behind a probe of the optimizer. */
const OPTIMIZER_STEPS_DONE = 10;

/** Where the probe of the optimizer clips: gradients of a policy that still learns are larger, so that the clip acts. */
const PROBE_MAX_NORM = 1e-2;

/** Lends a scratch trainer on the weights of the run; afterwards weights and optimizer are as before. */
export type Lend = <T>(
  changes: {
    readonly config?: Partial<TrainConfig>;
    readonly reference_W?: Weights_W;
    /** Steps of the trainer and of Adam that count as done (default 0). */
    readonly stepsDone?: number;
  },
  work: (trainer: Trainer) => Promise<T>,
) => Promise<T>;

/** What a probe needs. */
export interface ProbeRequest {
  readonly lend: Lend;
  readonly learner: Learner;
  readonly config: TrainConfig;
  /** The weights before the update. */
  readonly weights_W: Weights_W;
  readonly batch: TrainBatch;
}

/** The first episodes of a batch. */
export function probeBatch(
  { batch: { trajectories, groupId_B }, learner }: ProbeRequest,
): TrainBatch {
  return collate(trajectories.slice(0, PROBE_EPISODES), {
    groupId_B: groupId_B.slice(0, PROBE_EPISODES),
    vocabSize: learner.parameters.config.vocabSize,
  });
}

/** The advantages of a probe's episodes. */
export const probeAdvantages = (episodeCount: number) =>
  Float64Array.from({ length: episodeCount }, (_, b) => at(PROBE_ADVANTAGES, b % 3));

/** Ratios inside and outside of the clip, near its bounds and far from them. */
function probeRatios({ clipLow, clipHigh }: TrainConfig): number[] {
  return [
    ...[0.7 * (1 - clipLow), 0.97 * (1 - clipLow), 1 - 0.85 * clipLow, 1],
    ...[1 + 0.85 * clipHigh, 1.03 * (1 + clipHigh), 1.3 * (1 + clipHigh)],
  ];
}

/** An update of one optimizer step over the whole probe. */
const ONE_STEP = { epochs: 1, minibatches: 1, microbatches: 1, skipZeroSignal: false } as const;

/** Log-probs of other weights than the policy's, computed by the trainer itself. */
export async function logpsOf(trainer: Trainer, batch: TrainBatch, weights_W: Weights_W) {
  const { commands, parameters } = trainer.learner;
  const own_W = await readParameters(commands, parameters);
  writeParameters(commands, parameters, weights_W);
  const logp_BC = await trainer.recompute(batch);
  writeParameters(commands, parameters, own_W);
  return logp_BC;
}

/** The weights of a probe's reference. */
export const referenceOf = ({ weights_W }: ProbeRequest): Weights_W =>
  weights_W.map((weight) => REFERENCE_SCALE * weight);

/** d loss / d (log-prob, entropy) of the rows with a weight, of the last microbatch that was computed. */
async function readDerivatives({ commands, gradients }: Learner, rowCount: number) {
  const [bytes] = await commands.read([{
    tensor: gradients.dresult_R2,
    sizeBytes: rowCount * 8,
  }]);
  return new Float32Array(bytes ?? new ArrayBuffer(0));
}

/** An update on a probe's batch, with what the loss is to read instead of what the batch brings. */
async function probedUpdate(
  trainer: Trainer,
  batch: TrainBatch,
  values: Partial<Pick<PreparedUpdate, "oldLogp_BC" | "advantage_B">>,
): Promise<UpdateReport & { readonly prepared: PreparedUpdate }> {
  const { advantage_B = probeAdvantages(batch.trajectories.length) } = values;
  const { baseline } = trainer.state;
  const prepared = { ...await trainer.prepare(batch, { advantage_B, baseline }), ...values };
  return { ...await trainer.update(batch, prepared), prepared };
}

/** A part's rows with a weight, by their cells on the grid. */
function weightedCells({ packed, objective_N4 }: RecordedPart): { row: number; cell: number }[] {
  const cells = new Map<number, number>();
  forEachRow(packed, (row, cell) => cells.set(row, cell));
  return Array.from(
    weightedRows(objective_N4),
    (row) => ({ row, cell: cells.get(row) ?? NaN }),
  );
}

function lossProbeOf(
  { config, klCoef, entropyCoef, batch, mostTokens }: {
    readonly config: TrainConfig;
    readonly mostTokens: number;
    readonly klCoef: number;
    readonly entropyCoef: number;
    readonly batch: TrainBatch;
  },
  { report: { parts, prepared }, refLogp_BC, dresult_R2 }: {
    readonly report: UpdateReport & { readonly prepared: PreparedUpdate };
    readonly refLogp_BC: Float32Array | undefined;
    readonly dresult_R2: Float32Array;
  },
): LossProbe {
  const { columnCount: C, episodeCount } = batch.packed;
  const part = at(parts, parts.length - 1);
  const isTrained = ({ row }: { readonly row: number }) => part.objective_N4[4 * row + 1] !== 0;
  const rows = weightedCells(part).map((cell, place) => ({ ...cell, place })).filter(isTrained);
  const column = (value: (row: { row: number; cell: number; place: number }) => number) =>
    Float64Array.from(rows, value);
  const tokens_B = Array.from(
    { length: episodeCount },
    (_, b) => prepared.mask_BC.subarray(b * C, (b + 1) * C).reduce((sum, m) => sum + m, 0),
  );
  const { algorithm, clipLow, clipHigh, klKind, aggregation } = config;
  const { surrogate } = ALGORITHMS[algorithm];
  return {
    terms: { surrogate, clipLow, clipHigh, klKind, klCoef, entropyCoef },
    aggregation,
    normConst: normConstOf(config, { episodeCount, maxPolicyTokens: mostTokens }),
    tokens_B,
    tokens: {
      episode_N: column(({ cell }) => Math.floor(cell / C)),
      logp_N: column(({ row }) => at(part.rows.result_N4, 4 * row)),
      oldLogp_N: column(({ cell }) => at(prepared.oldLogp_BC, cell)),
      refLogp_N: column(({ cell }) => refLogp_BC ? at(refLogp_BC, cell) : NaN),
      advantage_N: column(({ cell }) => at(prepared.advantage_B, Math.floor(cell / C))),
    },
    found: {
      weight_N: column(({ row }) => at(part.objective_N4, 4 * row + 1)),
      meanWeight_N: column(({ row }) => at(part.objective_N4, 4 * row + 2)),
      dlogp_N: column(({ place }) => at(dresult_R2, 2 * place)),
      dentropy_N: column(({ place }) => at(dresult_R2, 2 * place + 1)),
    },
  };
}

/**
 * Evaluates the loss in mid-update.
 *
 * @param request The trainer and the batch.
 * @param terms `all` as configured, or the `surrogate` alone.
 */
export async function probeLoss(
  request: ProbeRequest,
  terms: "all" | "surrogate",
): Promise<LossProbe> {
  const { lend, config, learner } = request;
  const batch = probeBatch(request);
  const { klCoef, entropyCoef } = terms === "all" ? config : { klCoef: 0, entropyCoef: 0 };
  const reference_W = referenceOf(request);
  return await lend(
    { config: { ...ONE_STEP, klCoef, entropyCoef }, reference_W },
    async (trainer) => {
      const ratios = probeRatios(config);
      const oldLogp_BC = (await trainer.recompute(batch))
        .map((logp, cell) => logp - Math.log(at(ratios, cell % ratios.length)));
      const refLogp_BC = klCoef === 0 ? undefined : await logpsOf(trainer, batch, reference_W);
      const report = await probedUpdate(trainer, batch, { oldLogp_BC });
      const part = at(report.parts, report.parts.length - 1);
      const mostTokens = maxPolicyTokens(trainer.setup.source.spec);
      const dresult_R2 = await readDerivatives(learner, weightedRows(part.objective_N4).length);
      return lossProbeOf({ config, klCoef, entropyCoef, batch, mostTokens }, {
        report,
        refLogp_BC,
        dresult_R2,
      });
    },
  );
}

/** A small update by one term alone, and what it does to the mean of what the term is about. */
async function probeMove(
  request: ProbeRequest,
  term: TermMove["term"],
): Promise<TermMove> {
  const { lend, config } = request;
  const batch = probeBatch(request);
  const coefficients = term === "kl" ? { entropyCoef: 0 } : { klCoef: 0 };
  const reference_W = referenceOf(request);
  const changes = {
    config: { ...ONE_STEP, ...coefficients, lr: SMALL_RATE },
    reference_W,
  };
  return await lend(changes, async (trainer) => {
    const refLogp_BC = term === "kl" ? await logpsOf(trainer, batch, reference_W) : undefined;
    const measure = async () => {
      const value_BC = await scoreBatch(trainer.learner, batch, {
        record: (loaded) => loaded.forward(config.temperature).keepRows(),
        // (log-prob, entropy, …) of a row: from the second number on, its entropy is the first.
        choose: ({ result_N4 }) => refLogp_BC ? result_N4 : result_N4.subarray(1),
      });
      return mean(
        Array.from(value_BC).flatMap((value, cell) => {
          if (batch.policyMask_BC[cell] === 0) return [];
          return refLogp_BC ? [klTerm(config.klKind, value - at(refLogp_BC, cell)).value] : [value];
        }),
      );
    };
    const before = await measure();
    await probedUpdate(trainer, batch, {
      advantage_B: new Float64Array(batch.trajectories.length),
    });
    return { term, before, after: await measure() };
  });
}

/**
 * Evaluates all terms of the loss together, and makes an update by each of those that are configured.
 *
 * @param known.shares All terms together, where they are known.
 */
export async function probeTerms(
  request: ProbeRequest,
  known: { readonly shares?: LossProbe } = {},
): Promise<TermProbe> {
  const { klCoef, entropyCoef } = request.config;
  const shares = known.shares ?? await probeLoss(request, "all");
  const moves: TermMove[] = [];
  if (klCoef !== 0) moves.push(await probeMove(request, "kl"));
  if (entropyCoef !== 0) moves.push(await probeMove(request, "entropy"));
  return { shares, moves };
}

/** Moments as gradients of the clipped size leave them. Where the first one is 0, a weight without a gradient must stay. */
function probeMoments(parameterCount: number): Pick<OptimizerState, "m_W" | "v_W"> {
  const size = PROBE_MAX_NORM / Math.sqrt(parameterCount);
  return {
    m_W: Float32Array.from(
      { length: parameterCount },
      (_, w) => w % 5 === 0 ? 0 : size * ((7919 * w) % 13 - 6) / 6,
    ),
    v_W: new Float32Array(parameterCount).fill(size ** 2),
  };
}

/** The gradient [W] of one optimizer step's loss at given weights, from its own rows and nothing else. */
async function stepGradient(
  trainer: Trainer,
  weights_W: Weights_W,
  parts: readonly RecordedPart[],
): Promise<Float32Array> {
  const { learner, stages, config } = trainer;
  writeParameters(learner.commands, learner.parameters, weights_W);
  let gradient: Gradient | undefined;
  for (const { packed, objective_N4, rows: { reference_N4 } } of parts) {
    const loaded = learner.load(packed, { objective_N4 });
    if (reference_N4.length > 0) {
      loaded.loadReference(reference_N4.filter((_, i) => i % 4 === 0));
    }
    const scored = loaded.forward(config.temperature);
    gradient = scored.backward({ loss: stages.lossTerms(config), onto: gradient });
    await learner.collect();
  }
  return await learner.readGradient();
}

/** Makes two optimizer steps from stored moments, in one update, and computes the gradient of each again by itself. */
export async function probeOptimizer(request: ProbeRequest): Promise<OptimizerProbe> {
  const { lend, learner, config, weights_W } = request;
  const batch = probeBatch(request);
  const { lr: learningRate, betas, eps } = config;
  const maxNorm = PROBE_MAX_NORM;
  const minibatches = Math.min(2, batch.trajectories.length);
  const changes = {
    config: { ...ONE_STEP, minibatches, maxGradNorm: maxNorm },
    stepsDone: OPTIMIZER_STEPS_DONE,
  };
  return await lend(changes, async (trainer) => {
    const { commands, parameters } = learner;
    const moments = probeMoments(weights_W.length);
    learner.writeMoments(Float32Array.from(moments.m_W), Float32Array.from(moments.v_W));
    const before: OptimizerState = { weight_W: weights_W, ...moments };
    const report = await probedUpdate(trainer, batch, {});
    const [m_W, v_W] = await learner.readMoments();
    const after = { weight_W: await readParameters(commands, parameters), m_W, v_W };
    const settings = { learningRate, betas, eps, maxNorm, firstStep: OPTIMIZER_STEPS_DONE + 1 };
    return await withGradients(trainer, report, { ...settings, before, after });
  });
}

/** Computes the gradient of each optimizer step of an update, at the weights to which Adam has come by then. */
async function withGradients(
  trainer: Trainer,
  { minibatches, parts }: UpdateReport,
  steps: Omit<OptimizerProbe, "gradients" | "tensors">,
): Promise<OptimizerProbe> {
  const gradients: Float32Array[] = [];
  let state = steps.before;
  for (const [i] of minibatches.entries()) {
    const own = parts.filter(({ minibatch }) => minibatch === i);
    const gradient_W = await stepGradient(trainer, Float32Array.from(state.weight_W), own);
    gradients.push(gradient_W);
    state = clipAdam(state, { ...steps, gradient_W, stepNumber: steps.firstStep + i });
  }
  const { ranges } = trainer.learner.parameters.layout;
  const tensors = ranges.map(({ name, offset, length }) => ({ name, offset, length }));
  return { ...steps, gradients, tensors };
}

/** A state of weights and optimizer, as a trainer holds it. */
interface HeldState {
  readonly weights_W: Weights_W;
  readonly moments: readonly [first_W: Weights_W, second_W: Weights_W];
}

/**
 * The optimizer steps of an update that was done, with the gradient of each computed again. The learner's weights are
 * overwritten.
 *
 * @param options.step The training step, from 0: as many updates were made before, each with as many optimizer steps.
 */
export async function replayOptimizer(
  trainer: Trainer,
  update: UpdateReport,
  options: { readonly step: number; readonly before: HeldState; readonly after: HeldState },
): Promise<OptimizerProbe> {
  const { lr: learningRate, betas, eps, maxGradNorm: maxNorm } = trainer.config;
  const held = ({ weights_W, moments: [m_W, v_W] }: HeldState) => ({
    weight_W: weights_W,
    m_W,
    v_W,
  });
  return await withGradients(trainer, update, {
    ...{ learningRate, betas, eps, maxNorm },
    firstStep: options.step * update.minibatches.length + 1,
    before: held(options.before),
    after: held(options.after),
  });
}
