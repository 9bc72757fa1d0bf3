/** How kernels are laid out on an adapter: what a probe may choose. None of it changes a bit of any result. */
import type { OperandMemory } from "./kernel.ts";

/** A layout. */
export interface Tuning {
  /** Where operands lie. */
  readonly operandMemory: OperandMemory;
  /** Rows of the register block of a product: 4 or 8. */
  readonly blockRows: number;
  /** Invocations of a workgroup in products over rows. */
  readonly productLanes: number;
  /** Invocations of a workgroup of the fused decoder. */
  readonly decoderLanes: number;
  /** Episodes that a decoder plays at a time, a multiple of 8. */
  readonly slotCount: number;
}

/** What is used where nothing was measured: large caches and few lanes on a CPU, many lanes in flight on a GPU. */
export function defaultTuning(isSoftware: boolean): Tuning {
  return isSoftware
    ? {
      operandMemory: "texture",
      blockRows: 8,
      productLanes: 8,
      decoderLanes: 8,
      slotCount: 16,
    }
    : {
      operandMemory: "buffer",
      blockRows: 4,
      productLanes: 16,
      decoderLanes: 64,
      slotCount: 1024,
    };
}

/**
 * Layouts that a probe may choose: those of a software adapter and of a GPU where nothing was measured, and others with
 * smaller or larger blocks, more or fewer lanes.
 */
export const TUNING_CANDIDATES: readonly Tuning[] = [
  defaultTuning(true),
  {
    operandMemory: "texture",
    blockRows: 4,
    productLanes: 16,
    decoderLanes: 8,
    slotCount: 32,
  },
  defaultTuning(false),
  {
    operandMemory: "buffer",
    blockRows: 8,
    productLanes: 64,
    decoderLanes: 64,
    slotCount: 256,
  },
];
