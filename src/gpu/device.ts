/** One WebGPU device: its adapter, its caches, its first error, and the kernels compiled for it. */
import { DeviceLostError, UserError } from "../core/errors.ts";
import { command, type Sentence, sentence, setting } from "../core/mention.ts";
import type { Arithmetic } from "./arithmetic.ts";
import {
  type BindingSpec,
  type Kernel,
  type KernelSpec,
  lowerOperands,
  type OperandMemory,
} from "./kernel.ts";
import type { ReadbackMode, Staging } from "./staging.ts";
import { defaultTuning, type Tuning } from "./tuning.ts";
import { setConstants, unrollLoops } from "./unroll.ts";

/** Which adapter computes, as a person wants to read it. */
export interface AdapterReport {
  /** The name of the GPU or of the program that emulates it. */
  readonly description: string;
  /** The vendor as the driver reports it; may be a number. */
  readonly vendor: string;
  /** True where a CPU emulates the GPU (llvmpipe, SwiftShader, WARP). */
  readonly isSoftware: boolean;
  /** True where it seems to be driven through OpenGL, for lack of a Vulkan driver (see `OPENGL_NOTICE`). */
  readonly isOpenGl: boolean;
  /** What it offers beyond WebGPU's core, sorted; only timestamps are used. */
  readonly features: readonly string[];
}

/** What must be known to open a device. */
export interface GpuOptions {
  /** How kernels are laid out, where the adapter's default is not wanted. The bits are the same. */
  readonly tuning?: Partial<Tuning>;
  /**
   * How results come back: `awaited` (the default), 10 ms or more whatever the size, works everywhere; `primed`, 0.1–0.3 ms,
   * rests on behaviour of Deno's WebGPU and may end the process of a Deno that lacks it. Whether yours has it,
   * a program says that is run once for each version: cli/readback_selftest.ts (`./readback-selftest` of the package) prints
   * `primed` where it works.
   */
  readonly readback?: ReadbackMode;
  /** Refuse a software adapter. */
  readonly requireHardware?: boolean;
}

/** An open device and everything cached for it. Make one per program with `openGpu`. */
export interface Gpu {
  /** The WebGPU device. */
  readonly device: GPUDevice;
  /** What computes. */
  readonly adapter: AdapterReport;
  /** How kernels are laid out; it does not change a bit. */
  readonly tuning: Tuning;
  /** How results come back. */
  readonly readback: ReadbackMode;
  /** What its compiler makes of products and sums; known once the self-test ran (`arithmeticOf` runs it where needed). */
  readonly arithmetic: { known: Arithmetic | undefined };
  /** True where the device can time passes. */
  readonly hasTimestamps: boolean;
  /** Compiled kernels by name, overrides, and what of the tuning is in their texts. */
  readonly kernels: Map<string, Kernel>;
  /** Staging buffers by size, for reading results back. */
  readonly staging: Map<number, Staging>;
  /** What went wrong on the device since the last check. */
  readonly faults: { firstError: string | undefined; lost: string | undefined };
  /** Counters for benchmarks and for the memory test; `waitMs` is the time spent waiting for results. */
  readonly counters: { submits: number; readbacks: number; dispatches: number; waitMs: number };
  /** When the host last let its event loop turn, on the clock of `performance.now`. */
  readonly turn: { lastMs: number };
}

/** The sentence that says how to get an adapter. */
export const NO_ADAPTER: Sentence = [
  "Found no WebGPU adapter: on Linux without a GPU install Debian's mesa-vulkan-drivers (software Vulkan), " +
  "elsewhere a GPU driver with Vulkan, Metal or DirectX 12; then run `",
  command("info"),
  "`",
];

/** What a program that computes on such an adapter should say. */
export const OPENGL_NOTICE: string =
  "this adapter seems to be driven through OpenGL, since no Vulkan driver was found: kernels may be refused or slow, and " +
  "nothing is tested there; install the GPU's Vulkan driver, or Debian's mesa-vulkan-drivers for software Vulkan";

/**
 * Deno falls back from Vulkan to OpenGL in silence, and WebGPU has no name for either. What tells them apart are three
 * optional features that OpenGL has no means for, of which Vulkan, Metal and DirectX 12 offer at least one.
 */
export function seemsOpenGl(features: { has(name: string): boolean }): boolean {
  return !["bgra8unorm-storage", "rg11b10ufloat-renderable", "shader-f16"]
    .some((name) => features.has(name));
}

/** Browsers leave the description empty, so that pages cannot tell machines apart. */
function nameOf({ description, vendor, architecture }: GPUAdapterInfo): string {
  return description || [vendor, architecture].filter((word) => word !== "").join(" ");
}

function isSoftwareAdapter(info: GPUAdapterInfo): boolean {
  return info.isFallbackAdapter ||
    /llvmpipe|swiftshader|lavapipe|warp|basic render/i.test(nameOf(info));
}

/**
 * Opens the default adapter's device with WebGPU's default limits, so that what runs here runs everywhere.
 * Larger bindings are requested where the adapter has them, because vocabularies of 150,000 words need them.
 * @throws {UserError} When there is no adapter, or only a software one although hardware is required.
 */
export async function openGpu(options: GpuOptions = {}): Promise<Gpu> {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new UserError(NO_ADAPTER, 1);
  const isSoftware = isSoftwareAdapter(adapter.info);
  if (options.requireHardware && isSoftware) {
    throw new UserError(
      sentence`Found only the software adapter "${nameOf(adapter.info)}" but ${
        setting("requireHardware")
      } asks for a hardware one: check the driver, or leave it out`,
      1,
    );
  }
  const hasTimestamps = adapter.features.has("timestamp-query");
  const device = await adapter.requestDevice({
    requiredFeatures: hasTimestamps ? ["timestamp-query"] : [],
    requiredLimits: {
      maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
      maxBufferSize: adapter.limits.maxBufferSize,
    },
  });
  const faults: Gpu["faults"] = { firstError: undefined, lost: undefined };
  device.addEventListener("uncapturederror", (event) => {
    faults.firstError ??= (event as GPUUncapturedErrorEvent).error.message;
  });
  device.lost.then((info) => faults.lost = `${info.reason}: ${info.message}`);
  return {
    device,
    adapter: {
      description: nameOf(adapter.info),
      vendor: adapter.info.vendor,
      isSoftware,
      isOpenGl: seemsOpenGl(adapter.features),
      features: [...adapter.features].sort(),
    },
    tuning: { ...defaultTuning(isSoftware), ...options.tuning },
    readback: options.readback ?? "awaited",
    arithmetic: { known: undefined },
    hasTimestamps,
    kernels: new Map(),
    staging: new Map(),
    faults,
    counters: { submits: 0, readbacks: 0, dispatches: 0, waitMs: 0 },
    turn: { lastMs: performance.now() },
  };
}

/**
 * Reports what the device did not say before: call it after every await.
 * @throws {DeviceLostError} When the device is gone; {Error} with the kernel's label when a command failed.
 */
export function checkDevice(gpu: Gpu): void {
  const { lost, firstError } = gpu.faults;
  if (lost !== undefined) {
    throw new DeviceLostError(
      `The GPU device was lost (${lost}): nothing computed since can be trusted; resume from the last checkpoint`,
    );
  }
  if (firstError !== undefined) {
    gpu.faults.firstError = undefined;
    throw new Error(`The GPU refused a command: ${firstError}`);
  }
}

/** vec4 of the shortest head that may be written out: compilers give shorter ones other bits than their loops. */
const SHORTEST_HEAD4 = 4;

function layoutEntry(
  binding: BindingSpec,
  index: number,
  memory: OperandMemory,
): GPUBindGroupLayoutEntry {
  const base = { binding: index + 1, visibility: GPUShaderStage.COMPUTE };
  if (binding.memory !== "storage" && memory === "texture") {
    return {
      ...base,
      storageTexture: {
        access: binding.access === "read" ? "read-only" : "write-only",
        format: binding.memory === "words" ? "rgba32uint" : "rgba32float",
      },
    };
  }
  return { ...base, buffer: { type: binding.access === "read" ? "read-only-storage" : "storage" } };
}

/** The accessors of operands for each memory; imported by the kernels' bindings and passed in, so no shader text lives here. */
export interface OperandAccessors {
  /** shaders/operand_texture.wgsl. */
  readonly texture: string;
  /** shaders/operand_buffer.wgsl. */
  readonly buffer: string;
}

/**
 * The compiled kernel for these overrides, made at most once per device.
 * @param options.overrides Values of the spec's overrides, and of constants in its text; missing ones keep the default.
 * @param options.operands The shared text that addresses operands.
 */
export function compileKernel(
  gpu: Gpu,
  options: {
    readonly spec: KernelSpec;
    readonly overrides?: Readonly<Record<string, number>>;
    readonly operands: OperandAccessors;
  },
): Kernel {
  const { spec, overrides = {}, operands } = options;
  const { operandMemory, headsInRegisters } = gpu.tuning;
  const key = `${spec.name} ${JSON.stringify(overrides)} ${operandMemory} ${headsInRegisters}`;
  const known = gpu.kernels.get(key);
  if (known) return known;
  const text = [spec.wgsl, ...spec.shared, operands[operandMemory]].join("\n");
  const isOverride = ([name]: [string, number]) => spec.overrides.includes(name);
  const settings = Object.entries(overrides);
  const constants = Object.fromEntries(settings.filter((entry) => !isOverride(entry)));
  const unrolled = unrollLoops(setConstants(text, constants), {
    all: headsInRegisters && (constants.HEAD_WIDTH4 ?? 0) >= SHORTEST_HEAD4,
  });
  const code = operandMemory === "buffer" ? lowerOperands(unrolled) : unrolled;
  const { device } = gpu;
  const bindGroupLayout = device.createBindGroupLayout({
    label: spec.name,
    entries: [
      {
        binding: 0,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: "uniform", hasDynamicOffset: true },
      },
      ...spec.bindings.map((binding, index) => layoutEntry(binding, index, operandMemory)),
    ],
  });
  const kernel: Kernel = {
    spec,
    overrides,
    bindGroupLayout,
    pipeline: device.createComputePipeline({
      label: spec.name,
      layout: device.createPipelineLayout({ bindGroupLayouts: [bindGroupLayout] }),
      compute: {
        module: device.createShaderModule({ label: spec.name, code }),
        entryPoint: spec.name,
        constants: Object.fromEntries(settings.filter(isOverride)),
      },
    }),
  };
  gpu.kernels.set(key, kernel);
  return kernel;
}
