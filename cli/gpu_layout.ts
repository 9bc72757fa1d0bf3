/** The flag that every computing command takes, and a device opened with any layout of the kernels. */
import { UserError } from "../src/core/errors.ts";
import { type Gpu, openGpu } from "../src/gpu/device.ts";
import type { ReadbackMode } from "../src/gpu/staging.ts";
import type { Tuning } from "../src/gpu/tuning.ts";
import type { Flags } from "./flags.ts";

/** The flags of commands that compute. */
export const GPU_FLAGS = {
  requireGpu: { kind: "boolean", help: "reject software (CPU) adapters" },
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

/** A layout in words; blocks are rows × columns that an invocation owns. */
export function describeLayout(tuning: Tuning): string {
  const { operandMemory, blockRows, blockColumns, productLanes, tiles, rowLanes } = tuning;
  const { weightOutputs, weightColumns, weightLanes } = tuning;
  const { decoderRows, decoderColumns, decoderLanes, transposedWeights } = tuning;
  const { groupSlots, slotCount } = tuning;
  return `operands in ${operandMemory} memory; ` +
    `products ${blockRows} × ${blockColumns} in ${productLanes} lanes${
      tiles ? " (forward ones in tiles)" : ""
    }, ` +
    `weight gradients ${weightOutputs} × ${weightColumns} in ${weightLanes}, rows in ${rowLanes}; ` +
    `${slotCount} episodes at a time, ${groupSlots} a workgroup, ` +
    `${decoderRows} × ${decoderColumns} in ${decoderLanes} lanes${
      transposedWeights ? ", weights transposed" : ""
    }`;
}

/** Parts of a layout as tables and progress name them. */
export const PART_NAMES: Readonly<Record<keyof Tuning, string>> = {
  operandMemory: "operands in",
  blockRows: "rows of a block",
  blockColumns: "columns of a block",
  productLanes: "lanes of products",
  tiles: "products in tiles",
  weightOutputs: "outputs of a dW block",
  weightColumns: "columns of a dW block",
  weightLanes: "lanes of dW",
  rowLanes: "lanes of rows",
  sumLanes: "lanes of sums",
  flatLanes: "lanes of Adam",
  headsInRegisters: "heads in registers",
  stepLanes: "lanes of a layered step",
  decoderLanes: "lanes of the decoder",
  decoderRows: "slots of a decoder block",
  decoderColumns: "columns of a decoder block",
  transposedWeights: "transposed weights",
  groupSlots: "slots of a workgroup",
  slotCount: "episodes at a time",
};
