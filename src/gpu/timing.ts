/** Device time of recorded work, by timestamp queries around a pass of its own. */
import { UserError } from "../core/errors.ts";
import type { Commands } from "./commands.ts";
import type { Tensor } from "./tensor.ts";

/** Two timestamps of 8 bytes. */
const TIMESTAMP_BYTES = 16;

/** Wall time over which a tick is measured: long against the start of a submit, short for a person. */
const CALIBRATION_MS = 50;

/** A clock of the device; make one per program with {@linkcode createTimer}. */
export interface Timer {
  readonly commands: Commands;
  readonly querySet: GPUQuerySet;
  readonly timestamps: Tensor;
  /** Nanoseconds of a tick. */
  readonly tickNs: number;
}

/** Ticks of the device when a pass around `record` begins and when it ends. */
async function ticksAround<T>(
  { commands, querySet, timestamps }: Omit<Timer, "tickNs">,
  record: () => T,
): Promise<{ readonly begin: bigint; readonly end: bigint; readonly result: T }> {
  const result = commands.timedPass(querySet, timestamps, record);
  const [bytes] = await commands.read([{ tensor: timestamps, sizeBytes: TIMESTAMP_BYTES }]);
  const [begin = 0n, end = 0n] = new BigUint64Array(bytes ?? new ArrayBuffer(0));
  return { begin, end, result };
}

/**
 * Prepares timing. WebGPU's timestamps are nanoseconds; implementations that hand out the driver's ticks instead are
 * noticed by a comparison with the wall clock.
 *
 * @param commands The recorder whose work is timed.
 * @returns The timer.
 * @throws {UserError} When the adapter has no timestamps.
 */
export async function createTimer(commands: Commands): Promise<Timer> {
  const { device, hasTimestamps, adapter } = commands.gpu;
  if (!hasTimestamps) {
    throw new UserError(
      `The adapter ${adapter.description} cannot time kernels: it lacks the feature timestamp-query`,
      1,
    );
  }
  const buffer = device.createBuffer({
    label: "timestamps",
    size: TIMESTAMP_BYTES,
    usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
  });
  const parts = {
    commands,
    querySet: device.createQuerySet({ label: "timestamps", type: "timestamp", count: 2 }),
    timestamps: { label: "timestamps", buffer, offsetBytes: 0, sizeBytes: TIMESTAMP_BYTES },
  };
  const startMs = performance.now();
  const { begin: first } = await ticksAround(parts, () => {});
  await new Promise((resolve) => setTimeout(resolve, CALIBRATION_MS));
  const passedMs = performance.now() - startMs;
  const { begin: second } = await ticksAround(parts, () => {});
  const measuredNs = passedMs * 1e6 / Number(second - first);
  return { ...parts, tickNs: Math.abs(measuredNs - 1) < 0.2 ? 1 : measuredNs };
}

/** Work that was timed on the device. */
export interface DeviceTiming<T> {
  /** What the recording handed back. */
  readonly result: T;
  /** Microseconds from the begin to the end of the pass. */
  readonly us: number;
}

/**
 * Times work on the device, without what the host does before and after it.
 *
 * @param timer The clock.
 * @param record Replays plans; it must not submit or read, and a copy ends what is timed.
 * @returns The time of the pass, and what `record` returned.
 * @throws {DeviceLostError} When the device is gone; {Error} with the kernel's label when a command failed.
 */
export async function timeOnDevice<T>(
  timer: Timer,
  record: () => T,
): Promise<DeviceTiming<T>> {
  const { begin, end, result } = await ticksAround(timer, record);
  return { result, us: Number(end - begin) * timer.tickNs / 1000 };
}
