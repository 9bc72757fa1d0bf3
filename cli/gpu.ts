/** The GPU of a command, opened as its flags say, with the fastest layout that is known, and trusted. */
import { escapeControls } from "../src/core/sentence.ts";
import { Commands } from "../src/gpu/commands.ts";
import { type Gpu, OPENGL_NOTICE } from "../src/gpu/device.ts";
import { requireTrustedGpu } from "../src/gpu/self_test.ts";
import { remark } from "../src/files/terminal.ts";
import { type CachedTuning, readTuning, writeTuning } from "../src/tuning/tuning_cache.ts";
import type { Machine } from "./command.ts";
import { type GpuFlags, openLayout, tuningPath } from "./gpu_layout.ts";

/** Rounds of the measurement that a first command makes by itself: the layouts differ by more than rounds do. */
const FIRST_ROUNDS = 3;

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
  const { tuning } = await measureLayouts(flags, { adapter, isSoftware, rounds: FIRST_ROUNDS });
  const fastest = await openLayout(flags, { tuning });
  await requireTrustedGpu(fastest);
  return fastest;
}

/**
 * Opens a device for work.
 *
 * @param flags The values of `GPU_FLAGS`.
 * @returns The recorder of the command's work.
 * @throws {UserError} When there is no adapter, a software one where hardware is required, or one that fails the self-test.
 */
export async function openCommands(flags: GpuFlags): Promise<Commands> {
  const { gpu, cached } = await openFlaggedGpu(flags);
  if (gpu.adapter.isOpenGl) remark(`agentrl: ${OPENGL_NOTICE}\n`);
  await requireTrustedGpu(gpu);
  return new Commands(cached.tuning ? gpu : await withFastestLayout(gpu, flags));
}

/** The machine of a process: each command opens a device of its own. */
export const THIS_MACHINE: Machine = { openCommands };

/** The adapter as tables name it. */
export function adapterName({ adapter }: Gpu): string {
  return `${adapter.description}${adapter.isSoftware ? ", software" : ""}${
    adapter.isOpenGl ? ", through OpenGL" : ""
  }`;
}

/** A measured number in six digits. */
export function formatNumber(value: number): string {
  return value.toPrecision(6);
}
