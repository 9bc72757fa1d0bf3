/** The GPU of a command: the flag that every computing command takes, and the device opened as it says. */
import { UserError } from "../src/core/errors.ts";
import { escapeControls } from "../src/core/sentence.ts";
import { Commands } from "../src/gpu/commands.ts";
import { type Gpu, OPENGL_NOTICE, openGpu } from "../src/gpu/device.ts";
import type { ReadbackMode } from "../src/gpu/readback.ts";
import { requireTrustedGpu } from "../src/gpu/self_test.ts";
import type { Tuning } from "../src/gpu/tuning.ts";
import { remark } from "../src/files/terminal.ts";
import { type CachedTuning, readTuning, writeTuning } from "../src/tuning/tuning_cache.ts";
import type { Flags } from "./flags.ts";

/** The flags of commands that compute. */
export const GPU_FLAGS = {
  requireGpu: { kind: "boolean", help: "refuse an adapter that a CPU plays" },
} as const satisfies Flags;

/** The values of {@linkcode GPU_FLAGS}. */
export interface GpuFlags {
  readonly requireGpu: boolean;
}

/** Rounds of the measurement that a first command makes by itself: the layouts differ by more than rounds do. */
const FIRST_ROUNDS = 3;

/** How results come back: the launcher has found out what this version of Deno can do. */
function readbackMode(): ReadbackMode {
  const mode = Deno.env.get("AGENTRL_READBACK") ?? "awaited";
  if (mode === "awaited" || mode === "primed") return mode;
  throw new UserError(`AGENTRL_READBACK must be awaited or primed, found "${mode}"`);
}

/** The file that keeps measured layouts: the launcher says where; undefined: none is kept. */
export function tuningPath(): string | undefined {
  return Deno.env.get("AGENTRL_TUNING") || undefined;
}

/**
 * Opens a device as the flags say.
 *
 * @param options.tuning A layout other than the adapter's default.
 * @throws {UserError} When there is no adapter, or a software one where hardware is required.
 */
export function openLayout(
  { requireGpu }: GpuFlags,
  options: { readonly tuning?: Tuning } = {},
): Promise<Gpu> {
  return openGpu({ requireHardware: requireGpu, readback: readbackMode(), ...options });
}

/** A device with the layout that was measured, if one was. */
export interface OpenedGpu {
  readonly gpu: Gpu;
  readonly cached: CachedTuning;
}

/**
 * Opens the device as the flags say, trusted or not.
 *
 * @throws {UserError} When there is no adapter, or a software one where hardware is required.
 */
export async function openFlaggedGpu(flags: GpuFlags): Promise<OpenedGpu> {
  const gpu = await openLayout(flags);
  const path = tuningPath();
  const cached = path === undefined
    ? { tuning: undefined, problem: undefined }
    : readTuning(path, gpu.adapter.description);
  // No kernel is compiled yet, so that the layout may still change.
  return { gpu: { ...gpu, tuning: cached.tuning ?? gpu.tuning }, cached };
}

/** Measures once on a GPU where the result can be kept. On software adapters compiling the layouts takes a minute. */
async function withFastestLayout(gpu: Gpu, flags: GpuFlags): Promise<Gpu> {
  const { description: adapter, isSoftware } = gpu.adapter;
  const path = tuningPath();
  if (isSoftware || path === undefined) return gpu;
  if (writeTuning(path, { adapter, tuning: undefined }) !== undefined) return gpu;
  remark(
    `agentrl: finding the fastest layout of the kernels on ${
      escapeControls(adapter)
    } (once; the command tune repeats it)\n`,
  );
  gpu.device.destroy();
  const { measureLayouts } = await import("./tuning.ts");
  const { tuning } = await measureLayouts(flags, { adapter, rounds: FIRST_ROUNDS });
  const fastest = await openLayout(flags, { tuning });
  await requireTrustedGpu(fastest);
  return fastest;
}

/**
 * Opens a device for work.
 *
 * @param flags The values of {@linkcode GPU_FLAGS}.
 * @returns The recorder of the command's work.
 * @throws {UserError} When there is no adapter, a software one where hardware is required, or one that fails the self-test.
 */
export async function openCommands(flags: GpuFlags): Promise<Commands> {
  const { gpu, cached } = await openFlaggedGpu(flags);
  if (gpu.adapter.isOpenGl) console.error(`agentrl: ${OPENGL_NOTICE}`);
  await requireTrustedGpu(gpu);
  return new Commands(cached.tuning ? gpu : await withFastestLayout(gpu, flags));
}

/** The adapter as tables name it. */
export function adapterName({ adapter }: Gpu): string {
  return `${adapter.description}${adapter.isSoftware ? ", software" : ""}${
    adapter.isOpenGl ? ", through OpenGL" : ""
  }`;
}

/** A layout in words. */
export function describeLayout(tuning: Tuning): string {
  const { operandMemory, blockRows, productLanes, decoderLanes, slotCount } = tuning;
  return `operands in ${operandMemory} memory; products of ${blockRows} rows in ${productLanes} lanes; ` +
    `${slotCount} episodes at a time in ${decoderLanes} lanes`;
}

/** A measured number in six digits. */
export function formatNumber(value: number): string {
  return value.toPrecision(6);
}
