/** A few layouts that differ in every part: what is right in all of them is right in those between, which `deno task layouts` tries. */
import { defaultTuning, type Tuning } from "../../src/gpu/tuning.ts";

/** The layout of software adapters with blocks that compile in half the time. */
export const SMALL_BLOCKS: Tuning = {
  ...defaultTuning(true),
  blockRows: 4,
  productLanes: 16,
  slotCount: 32,
};

/** The smallest blocks and groups, in tiles, with more lanes than there is work. */
export const SMALLEST_BLOCKS: Tuning = {
  operandMemory: "buffer",
  blockRows: 2,
  blockColumns: 4,
  productLanes: 64,
  tiles: true,
  weightOutputs: 4,
  weightColumns: 4,
  weightLanes: 64,
  rowLanes: 64,
  sumLanes: 64,
  flatLanes: 64,
  headsInRegisters: true,
  stepLanes: 64,
  decoderLanes: 32,
  decoderRows: 1,
  decoderColumns: 4,
  transposedWeights: true,
  groupSlots: 1,
  slotCount: 16,
};

/** Layouts whose bits must be equal. */
export const SOME_LAYOUTS: readonly Tuning[] = [
  defaultTuning(true),
  SMALL_BLOCKS,
  defaultTuning(false),
  SMALLEST_BLOCKS,
];
