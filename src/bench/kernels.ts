/** The benchmark of kernels: every dispatch of a TinyAgent update, checked against the float64 reference, then timed alone. */
import { BENCH_ROWS } from "../tuning/workload.ts";
import { median } from "../core/statistics.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import { timeOnDevice, type Timer } from "../gpu/timing.ts";
import { TINY_AGENT } from "../model/config.ts";
import { type KernelWork, kernelWork } from "./kernel_work.ts";
import { checkUpdatePass, type UpdateErrors } from "./update_check.ts";
import { prepareUpdatePass, type UpdatePass } from "../tuning/update_pass.ts";

/** A kernel at one shape. */
export interface KernelCase extends KernelWork {
  /** Name of the kernel. */
  readonly kernel: string;
  /** Dispatches of it in one update. */
  readonly calls: number;
  /** Records it `times` times in a row. */
  readonly record: (times: number) => void;
}

/** Cases that agree with the reference. */
export interface KernelBench {
  readonly commands: Commands;
  readonly rowCount: number;
  readonly errors: UpdateErrors;
  readonly cases: readonly KernelCase[];
}

/** A plan of one of the dispatches of another, which can be replayed many times in a row. */
function repeatable(
  { commands, size }: UpdatePass,
  step: UpdatePass["plan"]["steps"][number],
): (times: number) => void {
  const alone: Plan<{ times: number }> = commands.plan();
  alone.steps.push({ ...step, launch: ({ times }) => ({ ...step.launch(size), times }) });
  return (times) => commands.replay(alone, { times });
}

/** One case for all dispatches of a kernel that have the same shape, as those of the three layers. */
function listCases(pass: UpdatePass): KernelCase[] {
  const { rowCount, length_B } = pass.batch;
  const pairCount = length_B.reduce((sum, length) => sum + length * (length + 1) / 2, 0);
  const cases = new Map<string, KernelCase>();
  for (const step of pass.plan.steps) {
    const kernel = step.kernel.spec.name;
    const { params } = step.launch(pass.size);
    const work = kernelWork(kernel, params, {
      rowCount,
      pairCount,
      vocabSize: TINY_AGENT.vocabSize,
    });
    const key = `${kernel} ${work.shape}`;
    const known = cases.get(key);
    cases.set(
      key,
      known
        ? { ...known, calls: known.calls + 1 }
        : { kernel, calls: 1, ...work, record: repeatable(pass, step) },
    );
  }
  return [...cases.values()];
}

/**
 * Prepares the cases and checks that all of them compute the right numbers.
 *
 * @param commands The recorder.
 * @param options.rowCount N (default 1,800).
 * @returns The cases.
 * @throws {Error} When the update disagrees with the reference.
 */
export async function prepareKernelBench(
  commands: Commands,
  { rowCount = BENCH_ROWS }: { rowCount?: number } = {},
): Promise<KernelBench> {
  const pass = prepareUpdatePass(commands, { rowCount });
  const errors = await checkUpdatePass(pass);
  return { commands, rowCount, errors, cases: listCases(pass) };
}

/** What was measured of a case. */
export interface KernelTiming extends Pick<KernelCase, "kernel" | "shape" | "calls"> {
  /** Median time of a dispatch, in microseconds. */
  readonly timeUs: number;
  /** Operations per nanosecond; null where memory decides. */
  readonly gflops: number | null;
  /** Bytes per nanosecond; null where operations decide. */
  readonly gbPerSecond: number | null;
}

/** Time that a sample should take: long against the 1 µs resolution of timestamps and the cost of a pass. */
const SAMPLE_US = 5000;
const MAX_REPEATS = 200;
const SAMPLES = 5;

/**
 * Times one case: the median of five samples of many dispatches in a row.
 *
 * @param timer The device's clock.
 * @param kernelCase The case.
 * @returns Its time and rate.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function timeKernel(timer: Timer, kernelCase: KernelCase): Promise<KernelTiming> {
  const { kernel, shape, calls, flops, bytes, record } = kernelCase;
  const { us: onceUs } = await timeOnDevice(timer, () => record(1));
  const repeats = Math.min(MAX_REPEATS, Math.max(1, Math.ceil(SAMPLE_US / onceUs)));
  const samplesUs: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    samplesUs.push((await timeOnDevice(timer, () => record(repeats))).us / repeats);
  }
  const timeUs = median(samplesUs);
  const rate = (work: number) => work === 0 ? null : work / timeUs / 1000;
  return { kernel, shape, calls, timeUs, gflops: rate(flops), gbPerSecond: rate(bytes) };
}
