/** Which WebGPU adapter computes and whether it can be trusted, what it can do, and the versions: of `info` and `bench all`. */
import denoConfig from "../deno.json" with { type: "json" };
import { type Gpu, OPENGL_NOTICE } from "../src/gpu/device.ts";
import { type Arithmetic, describeArithmetic, keepsBits } from "../src/gpu/arithmetic.ts";
import { type SelfCheck, selfTest } from "../src/gpu/self_test.ts";
import { formatTable } from "./flags.ts";
import { adapterName, type OpenedGpu } from "./gpu.ts";
import { describeLayout } from "./gpu_layout.ts";

/** The limits that decide which models fit; the others stay at WebGPU's defaults. */
const SHOWN_LIMITS = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxTextureDimension2D",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxStorageBuffersPerShaderStage",
] as const satisfies (keyof GPUSupportedLimits)[];

const READBACK = {
  primed: "primed: results are read immediately",
  awaited: "awaited: each read of results takes 10 ms or more",
} as const satisfies Record<Gpu["readback"], string>;

/** `128 MiB`: sizes of this kind are powers of two, or one less. */
function formatSize(sizeBytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(4, Math.floor(Math.log2(sizeBytes + 1) / 10));
  return `${Math.round(sizeBytes / 2 ** (10 * power))} ${units[power]}`;
}

/** What the self-test says, for people. */
function verdict(checks: readonly SelfCheck[]): string {
  const wrong = checks.filter(({ ok }) => !ok);
  if (wrong.length === 0) return `passed, ${checks.length} of ${checks.length} kinds of arithmetic`;
  const found = wrong.map(({ name, found, expected }) =>
    `${name} (found ${found}, not ${expected})`
  );
  return `FAILED, do not trust this adapter: ${found.join("; ")}`;
}

/** What the adapter makes of products and sums, and what follows for log-probs. */
function arithmeticRow(arithmetic: Arithmetic): string {
  const follows = keepsBits(arithmetic)
    ? "Sampler and trainer have the same bits."
    : "Sampler and trainer may differ by rounding: logp_gap measures it.";
  return `${describeArithmetic(arithmetic)}. ${follows}`;
}

/** Where the layout comes from. */
function layoutSource({ gpu, cached: { tuning, problem } }: OpenedGpu): string {
  if (tuning) return "measured as the fastest here";
  const kind = gpu.adapter.isSoftware ? "software adapters" : "GPUs";
  return `the default of ${kind}; ${problem ?? "`cli/agentrl tune` measures"}`;
}

/** What an adapter is and can do, for JSON. Runs the self-test. */
export async function adapterFacts({ gpu, cached }: OpenedGpu) {
  const { checks, arithmetic } = await selfTest(gpu);
  const { adapter, device, tuning, readback, hasTimestamps } = gpu;
  return {
    adapter: adapter.description,
    vendor: adapter.vendor,
    software: adapter.isSoftware,
    openGl: adapter.isOpenGl,
    operandMemory: tuning.operandMemory,
    tuning,
    tuningMeasured: cached.tuning !== undefined,
    tuningProblem: cached.problem ?? null,
    readback,
    timestamps: hasTimestamps,
    trusted: checks.every(({ ok }) => ok),
    selfTest: checks,
    arithmetic,
    limits: Object.fromEntries(
      SHOWN_LIMITS.map((name) => [name, device.limits[name]]),
    ) as Record<typeof SHOWN_LIMITS[number], number>,
    features: adapter.features,
    versions: {
      agentrl: denoConfig.version,
      deno: Deno.version.deno,
      v8: Deno.version.v8,
      typescript: Deno.version.typescript,
    },
  };
}

/** What {@linkcode adapterFacts} finds. */
export type AdapterFacts = Awaited<ReturnType<typeof adapterFacts>>;

/** The same for people. */
export function adapterText(opened: OpenedGpu, facts: AdapterFacts): string[] {
  const { gpu } = opened;
  const { limits, features, versions } = facts;
  return formatTable([
    ["adapter", adapterName(gpu)],
    ...(gpu.adapter.isOpenGl ? [["beware", OPENGL_NOTICE] as const] : []),
    ["self-test", verdict(facts.selfTest)],
    ["arithmetic", arithmeticRow(facts.arithmetic)],
    ["on the adapter", "rollouts, log-probs, gradients, the optimizer"],
    ["on the CPU", "the gym's programs, losses and statistics in float64"],
    ["layout", `${describeLayout(gpu.tuning)} (${layoutSource(opened)})`],
    ["readback", READBACK[facts.readback]],
    ["timestamps", facts.timestamps ? "yes" : "no: `bench kernels` cannot time here"],
    [
      "largest memory",
      `${formatSize(limits.maxStorageBufferBindingSize)} per binding, ` +
      `${
        formatSize(limits.maxBufferSize)
      } per buffer, ${limits.maxTextureDimension2D} texels per side`,
    ],
    [
      "a workgroup",
      `${limits.maxComputeInvocationsPerWorkgroup} invocations, ` +
      `${formatSize(limits.maxComputeWorkgroupStorageSize)} of memory, ` +
      `${limits.maxStorageBuffersPerShaderStage} storage buffers`,
    ],
    ["features", features.join(" ")],
    ["versions", Object.entries(versions).map((pair) => pair.join(" ")).join(", ")],
  ]);
}
