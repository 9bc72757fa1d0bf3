/** How far the log-probs of sampler and trainer may be apart on an adapter. */
import { boundsOf } from "../diagnose/tokens/engine_bounds.ts";
import { keepsBits } from "../gpu/arithmetic.ts";
import type { Gpu } from "../gpu/device.ts";
import { arithmeticOf } from "../gpu/self_test.ts";

/**
 * The tolerance of checks between sampler and trainer. They share their text, so that it is 0 on an adapter that keeps to it.
 * One that contracts products or reassociates sums may round the two differently: then they are two f32 engines.
 *
 * @param gpu The device; its self-test runs where it has not.
 * @returns Nats.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function logpToleranceOf(gpu: Gpu): Promise<number> {
  return boundsOf(keepsBits(await arithmeticOf(gpu)) ? "exact" : "f32").healthy;
}
