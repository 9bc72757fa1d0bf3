/**
 * Reading results back. Deno's `mapAsync` costs 10 ms or more whatever the size, because the implementation sleeps before
 * it resolves. A *primed* staging buffer (mapped once with an await) can afterwards be mapped and read synchronously in
 * 0.1–0.3 ms. That rests on behaviour of Deno's implementation, so it is used only where the self-test in a process of its
 * own has shown it to work (`cli/readback_selftest.ts`); the awaited path works everywhere. Both are tested.
 */
import { checkDevice, type Gpu } from "./device.ts";
import type { Staging } from "./staging.ts";

/** A turn of the event loop costs 1 ms, and Ctrl-C that waits a tenth of a second seems prompt. */
const MAX_DEAF_MS = 100;

/** A staging buffer of at least `sizeBytes`, from the cache; sizes are powers of two so that few are ever made. */
export function stagingFor(gpu: Gpu, sizeBytes: number): Staging {
  const size = Math.max(256, 2 ** Math.ceil(Math.log2(sizeBytes)));
  const known = gpu.staging.get(size);
  if (known) return known;
  const buffer = gpu.device.createBuffer({
    label: `staging ${size}`,
    size,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const staging = { buffer, isPrimed: false };
  gpu.staging.set(size, staging);
  return staging;
}

/**
 * The first `sizeBytes` of a staging buffer, after the work submitted before.
 * @returns A copy that stays valid.
 * @throws {DeviceLostError} When the device is gone; {Error} when an earlier command failed.
 */
export async function readStaging(
  gpu: Gpu,
  staging: Staging,
  sizeBytes: number,
): Promise<ArrayBuffer> {
  gpu.counters.readbacks++;
  const start = performance.now();
  let bytes: ArrayBuffer | undefined;
  let failure: unknown;
  try {
    bytes = await mappedBytes(gpu, staging, sizeBytes);
  } catch (error) {
    failure = error;
  }
  const end = performance.now();
  gpu.counters.waitMs += end - start;
  // A map that fails is often the first sign of a lost device, and a refused command of others that depend on it: their
  // words arrive a turn later. The first error stays the one that is told.
  const isAmiss = bytes === undefined || gpu.faults.firstError !== undefined;
  if (isAmiss || end - gpu.turn.lastMs > MAX_DEAF_MS) await turnEventLoop(gpu);
  checkDevice(gpu);
  if (bytes === undefined) throw failure;
  return bytes;
}

/** Lets timers and signals be heard: a primed readback resolves without a turn of the event loop, however many follow. */
async function turnEventLoop({ turn }: Gpu): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  turn.lastMs = performance.now();
}

async function mappedBytes(gpu: Gpu, staging: Staging, sizeBytes: number): Promise<ArrayBuffer> {
  const { buffer } = staging;
  if (gpu.readback === "primed" && staging.isPrimed) {
    buffer.mapAsync(GPUMapMode.READ).catch(() => {});
  } else {
    await buffer.mapAsync(GPUMapMode.READ);
    staging.isPrimed = true;
  }
  const bytes = buffer.getMappedRange(0, sizeBytes).slice(0);
  buffer.unmap();
  return bytes;
}
