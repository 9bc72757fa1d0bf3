/** A training run that keeps its metrics: steps a trainer, evaluates it on held-out tasks, and returns one row per step. */
import type { Trajectory } from "../rollout/trajectory.ts";
import type { Trainer } from "./trainer.ts";
import { type MetricsRow, metricsRow } from "./metrics.ts";

/** True where a step of a run is evaluated: every `evalEvery` steps from the first, and after the last one. */
export function isEvaluated(
  step: number,
  config: { readonly steps: number; readonly evalEvery: number },
): boolean {
  return config.evalEvery > 0 && (step % config.evalEvery === 0 || step === config.steps - 1);
}

/** Held-out episodes after a step, where the step is evaluated. */
export async function evaluateStep(
  trainer: Trainer,
  step: number,
): Promise<Trajectory[] | undefined> {
  const { config, setup: { source } } = trainer;
  return isEvaluated(step, config) && source.tasks.heldout > 0
    ? await trainer.evaluate({ split: "heldout", episodesPerTask: config.evalEpisodesPerTask })
    : undefined;
}

/**
 * Trains to the end of the configured steps. With a fault's stages it is the faulty trainer; with the healthy ones it is
 * the trainer itself, bit for bit: evaluations draw from a stream of their own.
 *
 * @param trainer Where to begin; its weights are trained.
 * @param options.onRow Called after every step.
 * @returns The metrics of every step.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function trainLogged(
  trainer: Trainer,
  options: { readonly onRow?: (row: MetricsRow) => void } = {},
): Promise<MetricsRow[]> {
  const rows: MetricsRow[] = [];
  while (trainer.state.step < trainer.config.steps) {
    const report = await trainer.step();
    const evaluation = await evaluateStep(trainer, report.step);
    const row = metricsRow(report, { evaluation, rules: trainer.setup.source });
    rows.push(row);
    options.onRow?.(row);
  }
  return rows;
}
