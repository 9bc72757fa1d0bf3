/** What every kernel shares on the host side: operand accessors, row products, workgroup sizes and binding shorthands. */
import operandBuffer from "#shaders/operand_buffer.wgsl" with { type: "text" };
import grid from "#shaders/grid.wgsl" with { type: "text" };
import operandTexture from "#shaders/operand_texture.wgsl" with { type: "text" };
import type { Gpu } from "../gpu/device.ts";
import { compileKernel } from "../gpu/device.ts";
import { type BindingSpec, type Kernel, type KernelSpec, loop } from "../gpu/kernel.ts";

/**
 * A kernel with its default overrides and constants, or with those given; compiled at most once per device. Names that the
 * WGSL declares as `override` become pipeline constants, those that it declares as `const` are set in the text.
 */
export function kernelOf(
  gpu: Gpu,
  spec: KernelSpec,
  overrides: Readonly<Record<string, number>> = {},
): Kernel {
  return compileKernel(gpu, {
    spec,
    overrides,
    operands: { texture: operandTexture, buffer: operandBuffer },
  });
}

/** A storage buffer that the kernel reads. */
export function input(name: string): BindingSpec {
  return { name, memory: "storage", access: "read" };
}

/** A storage buffer that the kernel writes, and may read. */
export function output(name: string): BindingSpec {
  return { name, memory: "storage", access: "read_write" };
}

/** An operand that the kernel reads. */
export function operandInput(name: string): BindingSpec {
  return { name, memory: "operand", access: "read" };
}

/** An operand of words that the kernel reads. */
export function wordsInput(name: string): BindingSpec {
  return { name, memory: "words", access: "read" };
}

/** An operand that the kernel writes. */
export function operandOutput(name: string): BindingSpec {
  return { name, memory: "operand", access: "write" };
}

/** The parameters common to all products over rows: y [N, M] from x [N, K] and W [M, K] in the flat parameters. */
export const PRODUCT_PARAMS = [
  ["row_count", "u32"],
  ["width4", "u32"],
  ["column_count", "u32"],
  ["weight_offset4", "u32"],
] as const;

/** Rows of the batch that a plan is replayed with. */
export interface RowSize {
  /** N, the packed tokens. */
  readonly rowCount: number;
}

/** Rows of one chunk at most, which a launch states: all scored rows may lie in one. */
export const CHUNK_ROWS = "chunk_rows";

/** Chunks into which sums over rows are cut. It decides the bits of gradients and must never depend on the adapter. */
export const ROW_CHUNKS = 8;

/**
 * Where each chunk of rows starts, with the ends after them: u32 [9], what `chunk_start` of a kernel holds. Of a batch whose
 * rows are not all scored, chunks are cut at the same rows of the batch, so that rows without a gradient change no bit of
 * the sums over the others.
 * @param rowCount N, rows of the batch.
 * @param row_R The scored rows, ascending (default all).
 */
export function chunkStarts(rowCount: number, row_R?: Uint32Array): Uint32Array<ArrayBuffer> {
  const length = Math.ceil(rowCount / ROW_CHUNKS);
  const starts = Uint32Array.from(
    { length: ROW_CHUNKS + 1 },
    (_, chunk) => Math.min(chunk * length, rowCount),
  );
  if (!row_R) return starts;
  let place = 0;
  return starts.map((start) => {
    while (place < row_R.length && (row_R[place] ?? 0) < start) place++;
    return place;
  });
}

/** Workgroups of `lanes` invocations that give at least `count` invocations. */
export function groupsOf(count: number, lanes: number): number {
  return Math.ceil(count / lanes);
}

/** Workgroups in one row of the grid, `GRID_GROUPS` in shaders/grid.wgsl. */
export const GRID_GROUPS = 32768;

/** What kernels with `grid_place` share. */
export const GRID: string = grid;

/** Workgroups of at least `count` invocations of a kernel with `grid_place`: in rows, where one dimension is too short. */
export function gridGroups(count: number, lanes: number): readonly [number, number] {
  const groups = groupsOf(count, lanes);
  return groups <= GRID_GROUPS ? [groups, 1] : [GRID_GROUPS, groupsOf(groups, GRID_GROUPS)];
}

/** Iterations of `accumulate_rows` in shaders/product_rows.wgsl over 4·`width4` columns. */
export function rowProductIterations(width4: number): number {
  return loop(width4);
}

/** Iterations of `accumulate_outputs` in shaders/product_outputs.wgsl. */
export function outputProductIterations(columnCount: number): number {
  return loop(Math.ceil(columnCount / 4));
}

/** The adapter's block of rows × columns, as constants of shaders/product_block.wgsl. */
export function blockConstants({ tuning: { blockRows, blockColumns } }: Gpu) {
  return { BLOCK_ROWS: blockRows, BLOCK_COLUMNS4: blockColumns / 4 };
}

/** A kernel made of shaders/product_block.wgsl, with the adapter's block and lanes. */
export function productKernel(gpu: Gpu, spec: KernelSpec): Kernel {
  return kernelOf(gpu, spec, { ...blockConstants(gpu), LANES: gpu.tuning.productLanes });
}

/** Workgroups of a row product: each invocation owns `blockRows` rows × `blockColumns` columns. */
export function productGroups(
  gpu: Gpu,
  size: { readonly rowCount: number; readonly columnCount: number },
): readonly [number, number] {
  const { blockColumns } = gpu.tuning;
  return [productRowGroups(gpu, size.rowCount), Math.ceil(size.columnCount / blockColumns)];
}

/** Workgroups along the rows of a product. */
export function productRowGroups(gpu: Gpu, rowCount: number): number {
  const { blockRows, productLanes } = gpu.tuning;
  return groupsOf(Math.ceil(rowCount / blockRows), productLanes);
}

/** The default of `override LANES` in kernels with an invocation a vec4 of the model's width: a warp, as widths are short. */
export const COLUMN_LANES = 32;

/** A kernel with an invocation a row, head or vec4 of the batch, with the adapter's lanes. */
export function rowKernel(
  gpu: Gpu,
  spec: KernelSpec,
  overrides: Readonly<Record<string, number>> = {},
): Kernel {
  return kernelOf(gpu, spec, { ...overrides, LANES: gpu.tuning.rowLanes });
}
