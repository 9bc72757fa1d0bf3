/** Whether a trainer's gradient is that of its loss: the slope of the loss along the gradient, by central differences. */
import { at } from "../core/element.ts";
import type { LossSlope } from "../diagnose/probe.ts";
import { writeParameters } from "../model/parameters.ts";
import { probeAdvantages, probeBatch, type ProbeRequest, referenceOf } from "./update_probes.ts";

/** A clip that no ratio near 1 reaches: the loss has no kink there. */
const NO_CLIP = { clipLow: 0.9, clipHigh: 10 } as const;

/** Norms of the two changes of the weights between which the slope is extrapolated; the weights' own is some hundred. */
const NEAR = 0.02;
const FAR = 2 * NEAR;

/** What a mean of f32 log-probs of a few nats may be off by. */
const LOSS_ROUNDING = 2e-7;

/** What the slope may be off by beside rounding and truncation: f32 gradients and activations. */
const SLOPE_TOLERANCE = 1e-3;

/**
 * Measures the slope of the loss along its own gradient. Central differences at two distances, D(h) = s + c h² + …, give the
 * slope (4 D(h) − D(2h)) / 3 and, by how far they are apart, what the extrapolation may miss (L. Richardson 1911).
 *
 * @param request The trainer and the batch.
 * @returns The slope; undefined where the loss has no gradient.
 */
export async function probeSlope(request: ProbeRequest): Promise<LossSlope | undefined> {
  const { lend, learner: { commands, parameters }, weights_W } = request;
  const batch = probeBatch(request);
  const advantage_B = probeAdvantages(batch.trajectories.length);
  const changes = { config: NO_CLIP, reference_W: referenceOf(request) };
  return await lend(changes, async (trainer) => {
    const { baseline } = trainer.state;
    const prepared = await trainer.prepare(batch, { advantage_B, baseline });
    const { gradient_W } = await trainer.lossAndGradient(batch, { prepared });
    const promised = Math.sqrt(gradient_W.reduce((sum, g) => sum + g ** 2, 0));
    if (promised === 0) return undefined;
    const lossAt = async (distance: number) => {
      const scale = distance / promised;
      const moved_W = weights_W.map((weight, w) => weight + scale * at(gradient_W, w));
      writeParameters(commands, parameters, moved_W);
      return await trainer.loss(batch, prepared);
    };
    const difference = async (distance: number) =>
      (await lossAt(distance) - await lossAt(-distance)) / (2 * distance);
    const [near, far] = [await difference(NEAR), await difference(FAR)];
    const miss = Math.abs(far - near) + LOSS_ROUNDING / NEAR;
    return {
      promised,
      found: (4 * near - far) / 3,
      tolerance: SLOPE_TOLERANCE + miss / promised,
    };
  });
}
