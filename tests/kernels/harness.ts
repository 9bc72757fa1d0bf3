/** Runs kernels on given numbers and holds what they return to the float64 reference. */
import { assert } from "@std/assert";
import { Commands, type Plan } from "../../src/gpu/commands.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import {
  createFlatOperand,
  createRowOperand,
  createTensor,
  destroy,
  FLAT_TEXTURE_WIDTH,
  type Operand,
  roundUp,
  type Tensor,
  TEXTURE_STRIP_ROWS,
} from "../../src/gpu/tensor.ts";
import { MEMORIES, testGpu } from "../gpu/gpu_test_device.ts";
import { randomArray } from "../reference/central_difference.ts";

/** Unit roundoff of f32: the relative error of one operation that is rounded correctly. */
export const ROUNDOFF = 2 ** -24;
/** WGSL allows sqrt, 1/sqrt and a division 2.5 units in the last place each, which is 5 roundoffs; sqrt is built from two. */
export const DIVISION = 5 * ROUNDOFF;
/** WGSL's accuracy of log near 1 (absolute) and elsewhere (3 units in the last place of what it returns). */
export const LOG = 2 ** -21;

/** Relative error of a sum of `terms` products or of as many roundings in a row (Higham 2002, lemma 3.1). */
export function roundoffs(terms: number): number {
  return terms * ROUNDOFF / (1 - terms * ROUNDOFF);
}

/** Relative error that WGSL allows exp(x): 3 + 2|x| units in the last place, each two roundoffs. */
export function expError(x: number): number {
  return 2 * (3 + 2 * Math.abs(x)) * ROUNDOFF;
}

/** Random numbers that are exact in f32, so that kernel and reference take the same ones. */
export function randomF32(
  size: number,
  options: { readonly seed: number; readonly scale?: number; readonly offset?: number },
): Float32Array<ArrayBuffer> {
  return Float32Array.from(randomArray(size, options));
}

/** |x|: sums of absolute values scale the bounds. */
export function absolute(x: ArrayLike<number>): Float64Array {
  return Float64Array.from(x, Math.abs);
}

/** What a kernel returned, what the reference says, and how far the two may differ, per entry or for all. */
export interface Comparison {
  readonly name: string;
  readonly actual: Float32Array;
  readonly expected: ArrayLike<number>;
  readonly bound: number | ArrayLike<number>;
}

/** One op's kernels on one input; made for a device so that mutated kernels go through the same comparison. */
export type Compare = (gpu: Gpu) => Promise<readonly Comparison[]>;

/** The first entry out of bounds as a sentence; undefined where all hold. A NaN is out of bounds. */
export function violation({ name, actual, expected, bound }: Comparison): string | undefined {
  if (actual.length !== expected.length) {
    return `${name}: ${actual.length} entries, expected ${expected.length}`;
  }
  for (let i = 0; i < expected.length; i++) {
    const allowed = typeof bound === "number" ? bound : bound[i]!;
    const error = Math.abs(actual[i]! - expected[i]!);
    if (!(error <= allowed)) {
      return `${name}[${i}]: ${actual[i]} is off ${
        expected[i]
      } by ${error}, allowed are ${allowed}`;
    }
  }
  return undefined;
}

/** Asserts that every comparison holds and could have failed: the bound must be far below what is expected. */
export function assertHolds(comparisons: readonly Comparison[]): void {
  assert(comparisons.length > 0);
  for (const comparison of comparisons) {
    const found = violation(comparison);
    assert(found === undefined, found);
    const { name, expected, bound } = comparison;
    const largest = absolute(expected).reduce((max, x) => Math.max(max, x), 0);
    const loosest = typeof bound === "number"
      ? bound
      : absolute(bound).reduce((max, x) => Math.max(max, x), 0);
    assert(
      largest > 20 * loosest,
      `${name}: ${loosest} of ${largest} may be wrong, which tests nothing`,
    );
  }
}

/** Asserts a comparison in both operand memories, and that their bits agree. */
export async function assertHoldsInBothMemories(compare: Compare): Promise<void> {
  const results = [];
  for (const memory of MEMORIES) results.push(await compare(await testGpu(memory)));
  const [texture = [], buffer = []] = results;
  assertHolds(texture);
  texture.forEach(({ name, actual }, i) => assertSameBits(name, actual, buffer[i]!.actual));
}

/** Asserts that two arrays have the same bits. */
export function assertSameBits(name: string, a: Float32Array, b: Float32Array): void {
  assert(a.length === b.length && a.length > 0, `${name}: ${a.length} and ${b.length} entries`);
  const [bitsA, bitsB] = [a, b].map((x) => new Uint32Array(x.slice().buffer));
  const different = bitsA!.findIndex((bits, i) => bits !== bitsB![i]);
  assert(
    different < 0,
    `${name}[${different}]: the bits of ${a[different]} and ${b[different]} differ`,
  );
}

const COMMANDS = new WeakMap<Gpu, Commands>();

function commandsFor(gpu: Gpu): Commands {
  const known = COMMANDS.get(gpu) ?? new Commands(gpu);
  COMMANDS.set(gpu, known);
  return known;
}

type Numbers = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Memory for one run of some kernels: filled from arrays, read back as arrays, freed at the end. */
export class KernelRun {
  readonly commands: Commands;
  readonly #owned: (Tensor | Operand)[] = [];

  constructor(gpu: Gpu) {
    this.commands = commandsFor(gpu);
  }

  /** A tensor that holds `data`. */
  tensor(data: Numbers): Tensor {
    const tensor = this.empty(data.length);
    this.commands.write(tensor, data);
    return tensor;
  }

  /** A tensor of `count` floats; it starts as NaN, so that what a kernel forgets to write is seen. */
  empty(count: number): Tensor {
    const { device } = this.commands.gpu;
    const tensor = createTensor(device, { label: "test tensor", sizeBytes: count * 4 });
    this.commands.write(tensor, new Float32Array(tensor.sizeBytes / 4).fill(NaN));
    this.#owned.push(tensor);
    return tensor;
  }

  /** A flat operand that holds `data`, as a model's parameters do; zeros behind them. */
  flat(data: Float32Array<ArrayBuffer>): { readonly flat: Tensor; readonly w: Operand } {
    const { device, tuning: { operandMemory } } = this.commands.gpu;
    const sizeBytes = roundUp(data.byteLength, FLAT_TEXTURE_WIDTH * 16);
    const flat = createTensor(device, { label: "test parameters", sizeBytes });
    this.commands.write(flat, data);
    const w = createFlatOperand(device, { tensor: flat, memory: operandMemory });
    this.commands.refreshOperand(w, flat);
    this.#owned.push(flat, w);
    return { flat, w };
  }

  /** A row operand [rowCount, width] that holds `data`, or NaN. */
  rows(rowCount: number, width: number, data?: Float32Array<ArrayBuffer>): Operand {
    const { device, tuning: { operandMemory: memory } } = this.commands.gpu;
    const width4 = width / 4;
    const operand = createRowOperand(device, { label: "test rows", rowCount, width4, memory });
    this.#owned.push(operand);
    const values = data ?? new Float32Array(rowCount * width).fill(NaN);
    if (operand.tensor) this.commands.write(operand.tensor, values);
    if (operand.texture) {
      for (let first = 0; first < rowCount; first += TEXTURE_STRIP_ROWS) {
        const height = Math.min(TEXTURE_STRIP_ROWS, rowCount - first);
        device.queue.writeTexture(
          { texture: operand.texture, origin: [first / TEXTURE_STRIP_ROWS * width4, 0] },
          values.subarray(first * width, (first + height) * width),
          { bytesPerRow: width * 4 },
          [width4, height],
        );
      }
    }
    return operand;
  }

  /** Records a plan for a size. */
  replay<Size>(size: Size, add: (commands: Commands, plan: Plan<Size>) => void): void {
    const plan = this.commands.plan<Size>();
    add(this.commands, plan);
    this.commands.replay(plan, size);
  }

  /** Submits what was recorded and reads the first `count` floats of a tensor. */
  async read(tensor: Tensor, count: number): Promise<Float32Array> {
    const [bytes] = await this.commands.read([{ tensor, sizeBytes: count * 4 }]);
    return new Float32Array(bytes!);
  }

  /** Submits what was recorded and reads a row operand; a texture goes through a buffer of padded rows. */
  async readRows(operand: Operand, rowCount: number, width: number): Promise<Float32Array> {
    if (operand.tensor) return await this.read(operand.tensor, rowCount * width);
    this.commands.submit();
    const { device } = this.commands.gpu;
    const bytesPerRow = roundUp(width * 4, 256);
    const copy = createTensor(device, { label: "test copy", sizeBytes: bytesPerRow * rowCount });
    const encoder = device.createCommandEncoder();
    for (let first = 0; first < rowCount; first += TEXTURE_STRIP_ROWS) {
      encoder.copyTextureToBuffer(
        { texture: operand.texture!, origin: [first / TEXTURE_STRIP_ROWS * (width / 4), 0] },
        { buffer: copy.buffer, offset: first * bytesPerRow, bytesPerRow },
        [width / 4, Math.min(TEXTURE_STRIP_ROWS, rowCount - first)],
      );
    }
    device.queue.submit([encoder.finish()]);
    const padded = await this.read(copy, bytesPerRow * rowCount / 4);
    destroy(copy);
    const rows = new Float32Array(rowCount * width);
    for (let n = 0; n < rowCount; n++) {
      const start = n * bytesPerRow / 4;
      rows.set(padded.subarray(start, start + width), n * width);
    }
    return rows;
  }

  /** Frees everything that this run made. */
  free(): void {
    this.#owned.forEach(destroy);
  }
}

/** Makes a run, hands it to `use`, and frees it. */
export async function withRun<T>(gpu: Gpu, use: (run: KernelRun) => Promise<T>): Promise<T> {
  const run = new KernelRun(gpu);
  try {
    return await use(run);
  } finally {
    run.free();
  }
}
