/** What the adapter can do at best: multiply-adds a second from registers, bytes a second from memory. */
import { largest } from "../core/statistics.ts";
import peakMultiplyAddWgsl from "#shaders/peak_multiply_add.wgsl" with { type: "text" };
import peakReadWgsl from "#shaders/peak_read.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import { type KernelSpec, loop } from "../gpu/kernel.ts";
import { createFlatOperand, createTensor, destroy, type Operand } from "../gpu/tensor.ts";
import type { Tensor } from "../gpu/tensor.ts";
import type { Timer } from "../gpu/timing.ts";
import { kernelOf, operandInput, output } from "../kernels/operands.ts";
import { type KernelCase, timeKernel } from "./kernels.ts";

/** Chains of multiply-adds in registers. */
export const PEAK_MULTIPLY_ADD: KernelSpec = {
  name: "peak_multiply_add",
  wgsl: peakMultiplyAddWgsl,
  shared: [],
  params: [["factor", "f32"], ["addend", "f32"], ["loop_count", "u32"]],
  bindings: [output("end_C4")],
  overrides: ["LANES"],
  iterations: (of) => loop(of("loop_count")),
};

/** Sums over a large operand. */
export const PEAK_READ: KernelSpec = {
  name: "peak_read",
  wgsl: peakReadWgsl,
  shared: [],
  params: [["loads", "u32"], ["load_step", "u32"], ["lane_step", "u32"]],
  bindings: [operandInput("data_R4"), output("sum_C4")],
  overrides: ["LANES"],
  iterations: (of) => loop(of("loads") / 4),
};

/** The default of `override LANES` in both shaders. */
export const PEAK_LANES = 64;
/** Operations of one turn of the loop of peak_multiply_add: 4 steps of 3 chains of vec4, a product and a sum each. */
export const FLOPS_PER_LOOP: number = 4 * 3 * 4 * 2;

/** Invocations that fill a large GPU, and turns that a CPU finishes in some 30 ms. */
const CHAIN_GROUPS = 1024;
const CHAIN_LOOPS = 512;
/** 128 MiB, WebGPU's default limit of a binding: more than most caches hold. */
const READ_GROUPS = 2048;
const READ_LOADS = 64;

/** Rates of an adapter. */
export interface Peak {
  /** Operations per nanosecond; a multiply-add counts as two. */
  readonly gflops: number;
  /** Bytes read per nanosecond, along the adapter's own path for operands. */
  readonly gbPerSecond: number;
}

/** How the chains are run. */
export interface ChainSize {
  readonly factor: number;
  readonly addend: number;
  readonly loopCount: number;
  readonly groups: number;
  /** Dispatches in a row (default 1). */
  readonly times?: number;
}

/** The plan of peak_multiply_add: the ends of the chains, f32 [64·groups, 4], to `end_C4`. */
export function chainPlan(commands: Commands, end_C4: Tensor): Plan<ChainSize> {
  return commands.plan<ChainSize>().add(kernelOf(commands.gpu, PEAK_MULTIPLY_ADD), {
    bindings: { end_C4 },
    launch: ({ factor, addend, loopCount, groups, times = 1 }) => ({
      params: { factor, addend, loop_count: loopCount },
      workgroups: [groups],
      times,
    }),
  });
}

/** How memory is read. */
export interface ReadSize {
  /** Vec4 that an invocation reads, a multiple of 4. */
  readonly loads: number;
  /** `lines`: neighbours read neighbouring vec4; `runs`: each reads a run of its own. */
  readonly order: "lines" | "runs";
  readonly groups: number;
  /** Dispatches in a row (default 1). */
  readonly times?: number;
}

/** The plan of peak_read: sums of `loads` vec4 each, f32 [64·groups, 4], to `sum_C4`. */
export function readPlan(
  commands: Commands,
  { data_R4, sum_C4 }: { readonly data_R4: Operand; readonly sum_C4: Tensor },
): Plan<ReadSize> {
  return commands.plan<ReadSize>().add(kernelOf(commands.gpu, PEAK_READ), {
    bindings: { data_R4, sum_C4 },
    launch: ({ loads, order, groups, times = 1 }) => ({
      params: {
        loads,
        load_step: order === "lines" ? PEAK_LANES : 1,
        lane_step: order === "lines" ? 1 : loads,
      },
      workgroups: [groups],
      times,
    }),
  });
}

/** Prepared probes of both peaks. */
export interface PeakBench {
  /** Measures once: the rate of the chains, and of reading in the better of two orders. */
  readonly measure: () => Promise<Peak>;
  /** Frees their memory. */
  readonly destroy: () => void;
}

/**
 * Prepares the probes.
 *
 * @param timer The device's clock.
 * @returns What measures; it takes some 0.3 s on a software adapter.
 * @throws {RangeError} When the adapter cannot bind 128 MiB.
 */
export function preparePeakBench(timer: Timer): PeakBench {
  const { commands } = timer;
  const { device, tuning: { operandMemory: memory } } = commands.gpu;
  const tensor = (label: string, vec4Count: number) =>
    createTensor(device, { label, sizeBytes: 16 * vec4Count });
  const end_C4 = tensor("ends of chains", CHAIN_GROUPS * PEAK_LANES);
  const sum_C4 = tensor("sums of reads", READ_GROUPS * PEAK_LANES);
  const data = tensor("data to read", READ_GROUPS * PEAK_LANES * READ_LOADS);
  const data_R4 = createFlatOperand(device, { tensor: data, memory });
  commands.clear(data); // Memory that was never written may have no pages of its own.
  commands.refreshOperand(data_R4, data);
  const chains = chainPlan(commands, end_C4);
  const reads = readPlan(commands, { data_R4, sum_C4 });
  const chainSize = { factor: 0.5, addend: 0.5, loopCount: CHAIN_LOOPS, groups: CHAIN_GROUPS };
  const named = { shape: "", calls: 1 };
  const chainCase: KernelCase = {
    ...named,
    kernel: PEAK_MULTIPLY_ADD.name,
    flops: FLOPS_PER_LOOP * CHAIN_LOOPS * CHAIN_GROUPS * PEAK_LANES,
    bytes: 0,
    record: (times) => commands.replay(chains, { ...chainSize, times }),
  };
  const readCases = (["lines", "runs"] as const).map((order): KernelCase => ({
    ...named,
    kernel: PEAK_READ.name,
    flops: 0,
    bytes: data.sizeBytes,
    record: (times) =>
      commands.replay(reads, { loads: READ_LOADS, order, groups: READ_GROUPS, times }),
  }));
  return {
    measure: async () => {
      const { gflops } = await timeKernel(timer, chainCase);
      const rates: number[] = [];
      for (const one of readCases) {
        rates.push((await timeKernel(timer, one)).gbPerSecond ?? NaN);
      }
      return { gflops: gflops ?? NaN, gbPerSecond: largest(rates) };
    },
    destroy: () => [end_C4, sum_C4, data, data_R4].forEach(destroy),
  };
}

/** The best of several measurements: whatever else the machine does only lowers them. */
export function bestPeak(peaks: readonly Peak[]): Peak {
  return {
    gflops: largest(peaks.map(({ gflops }) => gflops)),
    gbPerSecond: largest(peaks.map(({ gbPerSecond }) => gbPerSecond)),
  };
}
