/**
 * The checks again, on a step that a run has done: of its own batch and update, with the state before it. They see what only
 * shows in a run: a sampler with old weights, another reference, lost moments, a rate that changes, rewards of another batch.
 */
import { at } from "../core/element.ts";
import { mean } from "../core/statistics.ts";
import type { CheckResult, KnownTrainer, LoadedMinibatch } from "../diagnose/invariant.ts";
import { invariantKey } from "../diagnose/invariant_list.ts";
import { checkInvariants } from "../diagnose/invariants.ts";
import { readParameters, writeParameters } from "../model/parameters.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import type { StepReport, Trainer, TrainerState } from "../rl/trainer.ts";
import {
  advantageRule,
  batchDraw,
  checkedEpisodes,
  loadedMinibatches,
  tokenDistribution,
} from "./check_evidence.ts";
import { logpsOf, replayOptimizer } from "./update_probes.ts";
import { logpToleranceOf } from "./sampler_tolerance.ts";

type Weights_W = Float32Array<ArrayBuffer>;

/** A trainer before a step. */
export interface StateBefore {
  readonly weights_W: Weights_W;
  /** Adam's. */
  readonly moments: readonly [first_W: Weights_W, second_W: Weights_W];
  readonly state: TrainerState;
}

/** Reads the state of a trainer, so that its next step can be checked. */
export async function stateBefore({ learner, state }: Trainer): Promise<StateBefore> {
  const { commands, parameters } = learner;
  return {
    weights_W: await readParameters(commands, parameters),
    moments: await learner.readMoments(),
    state,
  };
}

/** Of a step in a run these say nothing: the moments of earlier steps move the policy as well. */
const ONLY_AT_FIRST: readonly string[] = ["update_follows_advantage"];

/** The old log-probs that the first pass over the batch was given, on the grid. */
function oldLogpGrid(minibatches: readonly LoadedMinibatch[], cellCount: number): Float64Array {
  const grid_BC = new Float64Array(cellCount).fill(NaN);
  for (const { cell_N, oldLogp_N } of minibatches) {
    for (let n = 0; n < cell_N.length; n++) {
      const cell = at(cell_N, n);
      if (Number.isNaN(at(grid_BC, cell))) grid_BC[cell] = at(oldLogp_N, n);
    }
  }
  return grid_BC;
}

/** What the step tells, computed with the weights before it; the learner's weights and moments are the caller's to restore. */
async function evidenceOf(
  trainer: Trainer,
  report: StepReport,
  { before, reference_W }: { readonly before: StateBefore; readonly reference_W: Weights_W },
): Promise<KnownTrainer> {
  const { config, learner, setup: { source } } = trainer;
  const { commands, parameters } = learner;
  const { batch, update } = report;
  const { epochs } = config;
  const after = await stateBefore(trainer);
  const afterLogp_BC = await trainer.recompute(batch);
  const referenceLogp_BC = await trainer.referenceLogp(batch);
  const minibatches = loadedMinibatches(update);
  const startLogp_BC = referenceLogp_BC && await logpsOf(trainer, batch, reference_W);
  writeParameters(commands, parameters, before.weights_W);
  const logp_BC = await trainer.recompute(batch);
  const distribution = await tokenDistribution(trainer, batch, before.state.step);
  const optimizer = update.isSkipped
    ? undefined
    : await replayOptimizer(trainer, update, { step: before.state.step, before, after });
  const rule = advantageRule(config, {
    before: before.state.baseline,
    after: after.state.baseline,
  });
  return {
    episodes: await checkedEpisodes(batch.trajectories, { source, isReplayed: true }),
    groupId_B: ALGORITHMS[config.algorithm].grouped ? batch.groupId_B : undefined,
    stepsPerUpdate: update.minibatches.length,
    logpTolerance: await logpToleranceOf(commands.gpu),
    lossInputs: (padColumns) =>
      Promise.resolve(
        padColumns > 0 ? undefined : {
          columnCount: batch.packed.columnCount,
          mask_BC: update.mask_BC,
          oldLogp_BC: oldLogpGrid(minibatches, update.mask_BC.length),
          logp_BC,
          advantage_B: update.advantage_B,
          distribution,
        },
      ),
    advantages: (groupId_B) =>
      trainer.stages.advantages({ ...batch, groupId_B }, {
        config,
        baseline: before.state.baseline,
      }).advantage_B,
    update: () =>
      Promise.resolve({
        approxKl: mean(update.minibatches.map(({ statistics }) => statistics.approxKl)),
        largestGap: update.minibatches.reduce(
          (most, { logpGaps_N }) => logpGaps_N.reduce((a, gap) => Math.max(a, gap), most),
          0,
        ),
        logp_BC: afterLogp_BC,
        referenceLogp_BC,
        ...(startLogp_BC && { startLogp_BC }),
        minibatches,
      }),
    ...(rule && { advantageRule: rule }),
    epochs,
    draw: batchDraw(config, { batch, source }),
    ...(optimizer && { optimizerProbe: () => Promise.resolve(optimizer) }),
  };
}

/**
 * Checks a step that was just done. Afterwards the trainer is as it was, bit for bit.
 *
 * @param trainer After the step.
 * @param report What the step reported.
 * @param options.before The state that the step should have begun from.
 * @param options.reference_W The weights that the run's KL reference was made from.
 * @returns The verdicts that a step can give, in the order of their ids.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function checkStep(
  trainer: Trainer,
  report: StepReport,
  options: { readonly before: StateBefore; readonly reference_W: Weights_W },
): Promise<CheckResult[]> {
  const { commands, parameters } = trainer.learner;
  const { weights_W, moments } = await stateBefore(trainer);
  try {
    const results = await checkInvariants(await evidenceOf(trainer, report, options));
    return results.filter(({ id, verdict }) =>
      verdict !== "not-checkable" && !ONLY_AT_FIRST.includes(invariantKey(id))
    );
  } finally {
    writeParameters(commands, parameters, weights_W);
    trainer.learner.writeMoments(...moments);
    commands.submit();
  }
}
