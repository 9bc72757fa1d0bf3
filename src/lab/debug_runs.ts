/** Runs and checks of the trainer, healthy or broken, all from the one base agent of the debugging runs. */
import {
  CATALOGUE,
  catalogueConfig,
  type CatalogueName,
  type CatalogueRun,
} from "../faults/catalogue.ts";
import { faultyStages } from "../faults/faults.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import { trainLogged } from "../rl/train_logged.ts";
import { runChecks } from "../faults/trainer_checks.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, destroyParameters } from "../model/parameters.ts";
import { RL_BASE_SEED } from "../rl/base_agent.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { Stages } from "../rl/stages.ts";
import { trainingSetup } from "../rl/setup.ts";
import { Trainer } from "../rl/trainer.ts";
import { baseAgent, type Weights } from "./agents.ts";
import type { LabContext } from "./experiment.ts";

/** Steps of a run in a quick lab, where the whole run is not needed. */
export const QUICK_STEPS = 8;

/** The base agent of all debugging runs, whatever the lab's seed: see src/faults/debug_base.ts. */
export function debugBaseAgent(context: LabContext): Promise<Weights> {
  return baseAgent(context, "rl", { seed: RL_BASE_SEED });
}

/** The stages of `sampler_temp` with a sampler at another temperature. */
export function coolSampler(temperature: number): Stages {
  return {
    ...faultyStages("sampler_temp"),
    sample: (request, { rollOut }) => rollOut({ ...request, temperature }),
  };
}

/** A trainer to be. */
export interface RunRequest {
  readonly config: TrainConfig;
  readonly stages: Stages;
  /** Where it begins (default the base agent). */
  readonly weights_W?: Weights;
  /** The step at which it begins, with a fresh optimizer (default 0). */
  readonly step?: number;
}

/** Lends a trainer, and frees it afterwards. */
export async function withTrainer<T>(
  context: LabContext,
  request: RunRequest,
  work: (trainer: Trainer) => Promise<T>,
): Promise<T> {
  const { commands } = context;
  const { config, stages, step = 0 } = request;
  const weights_W = request.weights_W ?? await debugBaseAgent(context);
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const trainer = new Trainer(trainingSetup(commands, { config, stages }), {
    parameters,
    state: { step, adamStep: 0, baseline: 0 },
  });
  try {
    return await work(trainer);
  } finally {
    trainer.destroy();
    destroyParameters(parameters);
  }
}

/**
 * Trains and keeps the metrics.
 * @param note What the run is called in the display of progress.
 * @returns A row per step.
 */
export function trainRun(
  context: LabContext,
  request: RunRequest,
  { note, share = () => 0 }: {
    readonly note: string;
    /** The share of the experiment that is done after so much of the run, 0 to 1. */
    readonly share?: (runShare: number) => number;
  },
): Promise<MetricsRow[]> {
  const { steps } = request.config;
  return withTrainer(context, request, (trainer) =>
    trainLogged(trainer, {
      onRow: ({ step }) =>
        context.progress(`${note}: step ${step + 1} of ${steps}`, share((step + 1) / steps)),
    }));
}

/**
 * A run of the catalogue with the lab's seed, made once in a lab.
 * @param options.steps Fewer steps than the catalogue's (default all).
 */
export function catalogueRun(
  context: LabContext,
  name: CatalogueName,
  options: { readonly steps?: number; readonly share?: (runShare: number) => number } = {},
): Promise<MetricsRow[]> {
  const { fault, steps: all }: CatalogueRun = CATALOGUE[name];
  const steps = Math.min(options.steps ?? all, all);
  return context.shared(`run ${name} ${steps}`, () =>
    trainRun(context, {
      config: { ...catalogueConfig(name, context.seed), steps },
      stages: faultyStages(fault),
    }, { note: name, ...(options.share ? { share: options.share } : {}) }));
}

/** The invariants of a trainer with the base agent. */
export async function checkTrainer(
  context: LabContext,
  options: { readonly config: TrainConfig; readonly stages: Stages },
): Promise<CheckResult[]> {
  return await runChecks(trainingSetup(context.commands, options), {
    model: TINY_AGENT,
    weights_W: await debugBaseAgent(context),
  });
}
