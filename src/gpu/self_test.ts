/** The numeric self-test at start: drivers have shipped that compute wrongly, and an untrusted adapter must not train anything. */
import operandBuffer from "#shaders/operand_buffer.wgsl" with { type: "text" };
import operandTexture from "#shaders/operand_texture.wgsl" with { type: "text" };
import selfTestWgsl from "#shaders/self_test.wgsl" with { type: "text" };
import { UserError } from "../core/errors.ts";
import {
  type Arithmetic,
  arithmeticOfProbes,
  type ArithmeticProbe,
  PROBE_INPUTS,
} from "./arithmetic.ts";
import { Commands, type Launch } from "./commands.ts";
import { compileKernel, type Gpu } from "./device.ts";
import { type KernelSpec, loop, MAX_ITERATIONS } from "./kernel.ts";
import { createRowOperand, createTensor, destroy } from "./tensor.ts";

const LOGITS = 8;
/** Of `softmax` in self_test.wgsl: two loops over logits of 4 products, and two logits outside of them. */
const SOFTMAX_ITERATIONS = 2 * loop(LOGITS, loop(4)) + 2 * loop(4);

/** The kernel of the self-test. */
export const SELF_TEST: KernelSpec = {
  name: "self_test",
  wgsl: selfTestWgsl,
  shared: [],
  params: [["zero", "f32"], ["factor", "f32"], ["loop_count", "u32"]],
  bindings: [
    { name: "numbers_32", memory: "storage", access: "read" },
    { name: "probe_12", memory: "storage", access: "read" },
    { name: "table_64", memory: "operand", access: "read" },
    { name: "copy_64", memory: "operand", access: "write" },
    { name: "result_64x16", memory: "storage", access: "read_write" },
  ],
  overrides: [],
  iterations: (of) => SOFTMAX_ITERATIONS + loop(of("loop_count")),
};

const INVOCATIONS = 64;
/** Results of one invocation: those that are known, then the probes of `ArithmeticProbe`. */
const RESULTS = 16;
const NUMBERS = 32;
/** Its square is 2^24, up to which f32 holds every integer. */
const FACTOR = 4096;
/** Iterations with which one invocation comes to the number that every kernel may rely on. */
const LOOP_COUNT = MAX_ITERATIONS - SOFTMAX_ITERATIONS - 1;
/** Error of a softmax over 8 logits of 4 products: some dozen roundings of 2^-24 and exp to 3 units in the last place. */
const SOFTMAX_BOUND = 64 * 2 ** -24;

/** One verdict of the self-test. */
export interface SelfCheck {
  /** What was computed. */
  readonly name: string;
  readonly ok: boolean;
  /** The first wrong number, or the first one. */
  readonly found: number;
  /** What it must be. */
  readonly expected: number;
}

/** What invocation `i` must return, as numbers. */
interface Expectation {
  readonly name: string;
  readonly kind: "u32" | "f32";
  /** Largest relative error; 0 means equal bits. */
  readonly bound: number;
  expected(i: number): number;
}

/** Fractions of both signs that f32 holds only rounded. */
function testNumbers(): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: NUMBERS }, (_, i) => ((i * 37) % 64 - 31) / 30);
}

/** Probability of logit 0 and log Σ exp of the logits of invocation `i`, in float64. */
function softmax(i: number, numbers: Float32Array): readonly [number, number] {
  const at = (index: number) => numbers[index % NUMBERS] ?? NaN;
  const logits = Array.from({ length: LOGITS }, (_, j) => {
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += at(4 * j + k) * at(i + k);
    return sum;
  });
  const sum = logits.reduce((total, z) => total + Math.exp(z), 0);
  return [Math.exp(logits[0] ?? NaN) / sum, Math.log(sum)];
}

/** MurmurHash3's finalizer. */
function hash(i: number): number {
  let h = Math.imul(i, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function looped(state: number): number {
  for (let step = 0; step < LOOP_COUNT; step++) state = Math.imul(state, 1664525) + 1013904223 | 0;
  return state >>> 0;
}

/** In the order of the results of shaders/self_test.wgsl. */
function expectations(numbers: Float32Array): readonly Expectation[] {
  const last = INVOCATIONS - 1;
  return [
    { name: "exp(0) is 1", kind: "f32", bound: 0, expected: () => 1 },
    { name: "x − x is 0", kind: "f32", bound: 0, expected: () => 0 },
    { name: "fma of integers is exact", kind: "f32", bound: 0, expected: () => FACTOR ** 2 },
    { name: "softmax", kind: "f32", bound: SOFTMAX_BOUND, expected: (i) => softmax(i, numbers)[0] },
    {
      name: "log-sum-exp",
      kind: "f32",
      bound: SOFTMAX_BOUND,
      expected: (i) => softmax(i, numbers)[1],
    },
    { name: "integer hash", kind: "u32", bound: 0, expected: hash },
    {
      name: "what one dispatch writes to an operand the next one reads",
      kind: "f32",
      bound: 0,
      expected: (i) => (FACTOR + 1) * (last - i),
    },
    { name: `loops of ${MAX_ITERATIONS} steps end`, kind: "u32", bound: 0, expected: looped },
  ];
}

/** Runs the kernel twice, each time reading what the other run wrote. */
async function runKernel(gpu: Gpu, numbers: Float32Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const { device, tuning: { operandMemory: memory } } = gpu;
  const commands = new Commands(gpu);
  const operands = { texture: operandTexture, buffer: operandBuffer };
  const kernel = compileKernel(gpu, { spec: SELF_TEST, operands });
  const [table_64, copy_64] = ["self-test even", "self-test odd"].map((label) =>
    createRowOperand(device, { label, rowCount: INVOCATIONS, width4: 1, memory })
  );
  if (!table_64 || !copy_64) throw new Error("Cannot test the adapter: two operands are needed");
  const sizeBytes = INVOCATIONS * RESULTS * 4;
  const result = createTensor(device, { label: "self-test result", sizeBytes });
  const given = createTensor(device, { label: "self-test numbers", sizeBytes: NUMBERS * 4 });
  const probe_12 = createTensor(device, {
    label: "self-test probes",
    sizeBytes: PROBE_INPUTS.length * 4,
  });
  commands.write(given, numbers);
  commands.write(probe_12, Float32Array.from(PROBE_INPUTS));
  const launch = (): Launch => ({
    params: { zero: 0, factor: FACTOR, loop_count: LOOP_COUNT },
    workgroups: [1],
  });
  const shared = { numbers_32: given, probe_12, result_64x16: result };
  const plan = commands.plan<undefined>()
    .add(kernel, { bindings: { ...shared, table_64, copy_64 }, launch })
    .add(kernel, { bindings: { ...shared, table_64: copy_64, copy_64: table_64 }, launch });
  commands.replay(plan, undefined);
  const [bytes] = await commands.read([{ tensor: result, sizeBytes }]);
  [table_64, copy_64, result, given, probe_12].forEach(destroy);
  commands.destroy();
  return bytes ?? new ArrayBuffer(0);
}

/** What an adapter is found to do. */
export interface SelfTest {
  /** One verdict per kind of arithmetic whose result is known. */
  readonly checks: readonly SelfCheck[];
  /** What it makes of products and sums, where WGSL leaves it a choice. */
  readonly arithmetic: Arithmetic;
}

/** The probes of one invocation: the results after those that are known. */
function probeAt(view: DataView, invocation: number): ArithmeticProbe {
  const at = (place: number) => view.getFloat32(4 * (RESULTS * invocation + 8 + place), true);
  return {
    productPlus: at(0),
    fused: at(1),
    productMinus: at(2),
    productPair: at(3),
    fourTerms: at(4),
    lost: at(5),
    residualSum: at(6),
    hidden: at(7),
  };
}

/**
 * Computes known results on the device, and probes its arithmetic.
 *
 * @param gpu The open device; its operands' memory is the one that is tested, and its `arithmetic` is told.
 * @throws {DeviceLostError} When the device is gone; {Error} with the kernel's label when a command failed.
 */
export async function selfTest(gpu: Gpu): Promise<SelfTest> {
  const numbers = testNumbers();
  const view = new DataView(await runKernel(gpu, numbers));
  const arithmetic = arithmeticOfProbes(
    Array.from({ length: INVOCATIONS }, (_, i) => probeAt(view, i)),
  );
  gpu.arithmetic.known = arithmetic;
  return { checks: checksOf(view, numbers), arithmetic };
}

/** The arithmetic of a device: as its self-test found it, which is run where it was not. */
export async function arithmeticOf(gpu: Gpu): Promise<Arithmetic> {
  return gpu.arithmetic.known ?? (await selfTest(gpu)).arithmetic;
}

function checksOf(view: DataView, numbers: Float32Array): SelfCheck[] {
  return expectations(numbers).map(({ name, kind, bound, expected }, result) => {
    const pairs = Array.from({ length: INVOCATIONS }, (_, i) => {
      const at = 4 * (RESULTS * i + result);
      const found = kind === "u32" ? view.getUint32(at, true) : view.getFloat32(at, true);
      return { found, expected: expected(i) };
    });
    const isRight = (pair: { found: number; expected: number }) =>
      Math.abs(pair.found - pair.expected) <= bound * Math.abs(pair.expected);
    const shown = pairs.find((pair) => !isRight(pair)) ?? pairs[0] ?? { found: NaN, expected: NaN };
    return { name, ok: pairs.every(isRight), ...shown };
  });
}

/**
 * Refuses an adapter that fails the self-test.
 *
 * @throws {UserError} With what was computed, what was found and what is right; exit code 1.
 */
export async function requireTrustedGpu(gpu: Gpu): Promise<void> {
  const failed = (await selfTest(gpu)).checks.find(({ ok }) => !ok);
  if (failed === undefined) return;
  throw new UserError(
    `The adapter "${gpu.adapter.description}" computes wrongly (${failed.name}: found ${failed.found}, ` +
      `right is ${failed.expected}): update its driver or use another adapter`,
    1,
  );
}
