/** How kernels are laid out on an adapter: what a search may choose. None of it changes a bit of any result. */
import type { OperandMemory } from "./kernel.ts";

/** A layout. Lanes are invocations of a workgroup. */
export interface Tuning {
  /** Where operands lie. */
  readonly operandMemory: OperandMemory;
  /** Rows of the register block of a product. */
  readonly blockRows: number;
  /** Columns of it. */
  readonly blockColumns: number;
  /** Lanes of products over rows. */
  readonly productLanes: number;
  /** Whether forward products go through workgroup memory, in tiles of 8 × 8 lanes instead of `productLanes`. */
  readonly tiles: boolean;
  /** Outputs of the register block of a weight gradient. */
  readonly weightOutputs: number;
  /** Columns of it. */
  readonly weightColumns: number;
  /** Lanes of weight gradients. */
  readonly weightLanes: number;
  /** Lanes of kernels with an invocation a row, head or vec4 of the batch: norms, attention, embedding, losses. */
  readonly rowLanes: number;
  /** Lanes of serial sums over blocks of the gradient. */
  readonly sumLanes: number;
  /** Lanes of kernels over the flat parameters: adding up chunks, Adam. */
  readonly flatLanes: number;
  /** Whether heads wider than 16 are written out, so that they lie in registers; heads of 16 always are. */
  readonly headsInRegisters: boolean;
  /** Lanes of the layered decoder's own kernels. */
  readonly stepLanes: number;
  /** Lanes of the fused decoder. */
  readonly decoderLanes: number;
  /** Slots of the register block of a product in the fused decoder; they divide `groupSlots`. */
  readonly decoderRows: number;
  /** Columns of it. */
  readonly decoderColumns: number;
  /** Whether the fused decoder reads a transposed copy of the weights, in which neighbouring lanes load neighbours. */
  readonly transposedWeights: boolean;
  /** Slots that a workgroup of the fused decoder plays. */
  readonly groupSlots: number;
  /** Episodes that a decoder plays at a time, rounded up to a multiple of `groupSlots`. */
  readonly slotCount: number;
}

const LANES = [8, 16, 32, 64, 128, 256] as const;

/**
 * The values that each part of a layout may take, ascending. WebGPU's default limits suffice for all of them: 256 invocations
 * and 16 KiB of memory in a workgroup.
 */
export const TUNING_VALUES: {
  readonly [K in keyof Tuning]: readonly Tuning[K][];
} = {
  operandMemory: ["texture", "buffer"],
  blockRows: [2, 4, 8],
  blockColumns: [4, 8, 16],
  productLanes: LANES,
  tiles: [false, true],
  weightOutputs: [4, 8, 16],
  weightColumns: [4, 8],
  weightLanes: LANES,
  rowLanes: LANES,
  sumLanes: LANES,
  flatLanes: LANES,
  headsInRegisters: [false, true],
  stepLanes: LANES,
  decoderLanes: LANES,
  decoderRows: [1, 2, 4],
  decoderColumns: [4, 8, 16],
  transposedWeights: [false, true],
  groupSlots: [1, 2, 4, 8],
  slotCount: [16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
};

/** What is used where nothing was measured: large blocks and few lanes on a CPU, at least a warp of 32 and small blocks on a GPU. */
export function defaultTuning(isSoftware: boolean): Tuning {
  return isSoftware
    ? {
      operandMemory: "texture",
      blockRows: 8,
      blockColumns: 16,
      productLanes: 8,
      tiles: false,
      weightOutputs: 16,
      weightColumns: 8,
      weightLanes: 8,
      rowLanes: 32,
      sumLanes: 8,
      flatLanes: 64,
      headsInRegisters: false,
      stepLanes: 8,
      decoderLanes: 8,
      decoderRows: 4,
      decoderColumns: 16,
      transposedWeights: false,
      groupSlots: 8,
      slotCount: 16,
    }
    : {
      operandMemory: "buffer",
      blockRows: 4,
      blockColumns: 8,
      productLanes: 32,
      tiles: false,
      weightOutputs: 8,
      weightColumns: 4,
      weightLanes: 32,
      rowLanes: 64,
      sumLanes: 32,
      flatLanes: 64,
      headsInRegisters: true,
      stepLanes: 32,
      decoderLanes: 64,
      decoderRows: 2,
      decoderColumns: 4,
      transposedWeights: true,
      groupSlots: 4,
      slotCount: 1024,
    };
}

/** Whether a layout may be used: every part has one of its values, and blocks of slots fill a group. */
export function isKnownTuning(tuning: Tuning): boolean {
  const names = Object.keys(TUNING_VALUES) as (keyof Tuning)[];
  const isListed = (name: keyof Tuning) =>
    (TUNING_VALUES[name] as readonly Tuning[keyof Tuning][]).includes(tuning[name]);
  return names.every(isListed) && tuning.groupSlots % tuning.decoderRows === 0;
}
