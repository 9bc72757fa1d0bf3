/** The GPU of a command: the flag that every computing command takes, and the device opened as it says. */
import { UserError } from "../src/core/errors.ts";
import { Commands } from "../src/gpu/commands.ts";
import { type Gpu, openGpu } from "../src/gpu/device.ts";
import type { ReadbackMode } from "../src/gpu/readback.ts";
import { requireTrustedGpu } from "../src/gpu/self_test.ts";
import type { Flags } from "./flags.ts";

/** The flags of commands that compute. */
export const GPU_FLAGS = {
  requireGpu: { kind: "boolean", help: "refuse an adapter that a CPU plays" },
} as const satisfies Flags;

/** The values of {@linkcode GPU_FLAGS}. */
export interface GpuFlags {
  readonly requireGpu: boolean;
}

/** How results come back: the launcher has found out what this version of Deno can do. */
function readbackMode(): ReadbackMode {
  const mode = Deno.env.get("AGENTRL_READBACK") ?? "awaited";
  if (mode === "awaited" || mode === "primed") return mode;
  throw new UserError(`AGENTRL_READBACK must be awaited or primed, found "${mode}"`);
}

/**
 * Opens the device as the flags say, trusted or not.
 *
 * @throws {UserError} When there is no adapter, or a software one where hardware is required.
 */
export function openFlaggedGpu({ requireGpu }: GpuFlags): Promise<Gpu> {
  return openGpu({ requireHardware: requireGpu, readback: readbackMode() });
}

/**
 * Opens a device for work.
 *
 * @param flags The values of {@linkcode GPU_FLAGS}.
 * @returns The recorder of the command's work.
 * @throws {UserError} When there is no adapter, a software one where hardware is required, or one that fails the self-test.
 */
export async function openCommands(flags: GpuFlags): Promise<Commands> {
  const gpu = await openFlaggedGpu(flags);
  await requireTrustedGpu(gpu);
  return new Commands(gpu);
}

/** The adapter as tables name it. */
export function adapterName({ adapter }: Gpu): string {
  return `${adapter.description}${adapter.isSoftware ? ", software" : ""}`;
}

/** A measured number in six digits. */
export function formatNumber(value: number): string {
  return value.toPrecision(6);
}
