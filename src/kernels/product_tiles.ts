/** Forward products in either of their forms: each lane for itself, or in tiles whose lanes share what they load. */
import productTiles from "#shaders/product_tiles.wgsl" with { type: "text" };
import type { Gpu } from "../gpu/device.ts";
import { type Kernel, type KernelSpec, loop } from "../gpu/kernel.ts";
import { blockConstants, groupsOf, kernelOf, productGroups, productKernel } from "./operands.ts";

/** Lanes along each side of a tile, `TILE_LANES` in shaders/product_tiles.wgsl. */
const TILE_LANES = 8;

/** Workgroup memory that every WebGPU device has. */
const WORKGROUP_BYTES = 16384;

/** Kernels that have a form in tiles, each with the number of its columns in WGSL. */
const TILED_COLUMNS: Readonly<Record<string, string>> = {
  linear_forward: "params.column_count",
  linear_gelu_forward: "params.column_count",
  linear_residual_forward: "params.column_count",
  qkv_forward: "12u * params.width4",
};

/** Whether a kernel has a form in tiles. */
export function hasTiles({ name }: KernelSpec): boolean {
  return Object.hasOwn(TILED_COLUMNS, name);
}

/** Replaces what stands once in a text. */
function replaceOnce(text: string, [from, to]: readonly [from: string, to: string]): string {
  const [before, after, more] = text.split(from);
  if (before === undefined || after === undefined || more !== undefined) {
    throw new SyntaxError(`Cannot lay a kernel out in tiles: "${from}" does not stand in it once`);
  }
  return before + to + after;
}

/**
 * A kernel with an invocation a block of rows × columns, in tiles: its lanes lie in two dimensions, none of them returns before
 * the last barrier, and none beyond the last column stores. Lines keep their numbers.
 *
 * @throws {TypeError} When it has no such form; {SyntaxError} when its entry point is written otherwise.
 */
export function tiledForm(spec: KernelSpec): KernelSpec {
  const columns = TILED_COLUMNS[spec.name];
  if (columns === undefined) throw new TypeError(`Cannot lay ${spec.name} out in tiles`);
  const block = `tile_block(id, ${columns})`;
  const store = "store_block(row0, params.row_count);";
  const wgsl = ([
    ["@workgroup_size(LANES)", "@workgroup_size(TILE_LANES, TILE_LANES)"],
    [" * id.y;", ` * ${block};`],
    ["  if (row0 >= params.row_count) { return; }", ""],
    ["accumulate_rows(", "accumulate_tiles(id, "],
    [store, `if (id.y == ${block}) { ${store} }`],
  ] as const).reduce(replaceOnce, spec.wgsl);
  return {
    ...spec,
    wgsl,
    shared: [...spec.shared, productTiles],
    iterations: (of) => {
      const slab4 = of("TILE_SLAB4");
      return loop(Math.ceil(of("width4") / slab4), loop(slab4));
    },
  };
}

/** Constants of a form in tiles: slabs as deep as workgroup memory allows with one vec4 a lane, else half of that. */
export function tileConstants(gpu: Gpu): Readonly<Record<string, number>> {
  const { blockRows, blockColumns } = gpu.tuning;
  const bytes = 16 * TILE_LANES * TILE_LANES * (blockRows + blockColumns);
  const slab4 = bytes <= WORKGROUP_BYTES ? TILE_LANES : TILE_LANES / 2;
  return { ...blockConstants(gpu), TILE_LANES, TILE_SLAB4: slab4 };
}

/** A product over rows, compiled, with what it takes to dispatch it. */
export interface RowProduct {
  readonly kernel: Kernel;
  /** Workgroups for so many rows and columns. */
  readonly groups: (
    size: { readonly rowCount: number; readonly columnCount: number },
  ) => readonly [number, number];
}

/** A kernel made of shaders/product_block.wgsl in the form that the layout asks for; those without tiles have one form. */
export function rowProduct(gpu: Gpu, spec: KernelSpec): RowProduct {
  if (!gpu.tuning.tiles || !hasTiles(spec)) {
    return { kernel: productKernel(gpu, spec), groups: (size) => productGroups(gpu, size) };
  }
  const { blockRows, blockColumns } = gpu.tuning;
  return {
    kernel: kernelOf(gpu, tiledForm(spec), tileConstants(gpu)),
    groups: ({ rowCount, columnCount }) => [
      groupsOf(Math.ceil(rowCount / blockRows), TILE_LANES),
      groupsOf(Math.ceil(columnCount / blockColumns), TILE_LANES),
    ],
  };
}
