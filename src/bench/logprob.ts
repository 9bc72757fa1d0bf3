/** The benchmark of log-prob and entropy: the fused kernels beside the way through [N, V], both held to float64 first. */
import { UserError } from "../core/errors.ts";
import type { Commands } from "../gpu/commands.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { logprobBackward, logprobForward } from "../reference/logprob.ts";
import {
  createLogprobInputs,
  type LogprobInputs,
  type LogprobSizes,
  type LogprobTensors,
  uploadLogprob,
} from "./logprob_inputs.ts";
import { fusedPath, type LogprobPath, unfusedPath } from "./logprob_paths.ts";
import { largestDifference } from "../core/vectors.ts";

/** N, D and the vocabularies that are measured: of this agent, of a small, a middling and a large language model. */
export const LOGPROB_BENCH = {
  rowCount: 2048,
  width: 64,
  vocabSizes: [60, 1024, 32_768, 151_936],
} as const;

/** Bytes that the fused kernels may need beyond inputs and outputs, at every vocabulary. */
export const FUSED_BYTES_BAR: number = 16 * 2 ** 20;

/** How far f32 may be off float64; see UPDATE_TOLERANCE. */
export const LOGPROB_TOLERANCE = {
  /** Of a log-prob, in nats. */
  logp: 2e-5,
  /** Of an entropy, in nats. */
  entropy: 2e-5,
  /** Of the hidden states' gradient, over its largest entry. */
  dh: 1e-4,
  /** Of the gradient of weight and bias, over its largest entry. */
  dhead: 1e-4,
} as const;

/** Largest errors that were found, in the units of {@linkcode LOGPROB_TOLERANCE}. */
export type LogprobErrors = Readonly<Record<keyof typeof LOGPROB_TOLERANCE, number>>;

/** Mean wall time of a forward and of the backward after it, from recording to the first result that comes back. */
export interface LogprobTiming {
  readonly forwardMs: number;
  readonly backwardMs: number;
}

/** One way at one vocabulary: right, and ready to be timed. */
export interface CheckedPath {
  readonly errors: LogprobErrors;
  readonly workspaceBytes: number;
  readonly run: () => Promise<LogprobTiming>;
}

/** One vocabulary. */
export interface LogprobCase {
  /** Rows whose results, and whose share of all gradients, were compared with float64. */
  readonly checkedRows: number;
  readonly fused: CheckedPath;
  /** Null where [N, V] does not fit the device. */
  readonly unfused: CheckedPath | null;
  /** Why it does not fit. */
  readonly unfusedRefusal: string | null;
  /** Frees the device memory. */
  readonly free: () => void;
}

/** Rows × entries that the reference computes: a second or two. */
const CHECKED_ENTRIES = 2 ** 21;

/** Rows to compare, spread from the first to the last. */
function sampleRows({ rowCount, vocabSize }: LogprobSizes): number[] {
  const count = Math.min(rowCount, Math.max(2, Math.floor(CHECKED_ENTRIES / vocabSize)));
  return Array.from(
    { length: count },
    (_, i) => count === 1 ? 0 : Math.round(i * (rowCount - 1) / (count - 1)),
  );
}

/** What the device has to find for the rows of the sample; all other rows have no part in the gradients. */
interface Expected {
  readonly rows: readonly number[];
  readonly logp_S: ArrayLike<number>;
  readonly entropy_S: ArrayLike<number>;
  readonly dh_SD: ArrayLike<number>;
  readonly dhead: ArrayLike<number>;
}

function expectedResults(sizes: LogprobSizes, inputs: LogprobInputs): Expected {
  const { width, vocabSize } = sizes;
  const rows = sampleRows(sizes);
  const h_SD = rowsOf(inputs.h_ND, rows, width);
  const options = {
    rowCount: rows.length,
    vocabularySize: vocabSize,
    target_N: rows.map((row) => inputs.target_N[row]),
    temperature: 1,
    width,
    weight_VD: inputs.head.subarray(0, vocabSize * width),
    bias_V: inputs.head.subarray(vocabSize * width),
  };
  const { logp_N, entropy_N } = logprobForward(h_SD, options);
  const { dh_ND, dweight_VD, dbias_V } = logprobBackward(h_SD, {
    ...options,
    dlogp_N: rows.map((row) => inputs.dresult_N2[2 * row]),
    dentropy_N: rows.map((row) => inputs.dresult_N2[2 * row + 1]),
  });
  const dhead = new Float64Array(inputs.head.length);
  dhead.set(dweight_VD);
  dhead.set(dbias_V, dweight_VD.length);
  return { rows, logp_S: logp_N, entropy_S: entropy_N, dh_SD: dh_ND, dhead };
}

function rowsOf(array: Float32Array, rows: readonly number[], width: number): Float32Array {
  const taken = new Float32Array(rows.length * width);
  rows.forEach((row, i) => taken.set(array.subarray(row * width, (row + 1) * width), i * width));
  return taken;
}

/** Largest difference over the largest entry. */
function relativeToLargest(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  return largestDifference(expected, actual) /
    largestDifference(expected, new Uint8Array(expected.length));
}

/** Runs a way once and compares it. */
async function checkPath(
  commands: Commands,
  path: LogprobPath,
  { tensors, sizes, expected }: {
    readonly tensors: LogprobTensors;
    readonly sizes: LogprobSizes;
    readonly expected: Expected;
  },
): Promise<LogprobErrors> {
  const { rowCount, width } = sizes;
  const { rows } = expected;
  path.forward();
  path.backward();
  const read = (tensor: Tensor, count: number) => ({ tensor, sizeBytes: 4 * count });
  const [result_N4, dh_ND, dhead] = (await commands.read([
    read(tensors.result_N4, 4 * rowCount),
    read(tensors.dh_ND, rowCount * width),
    read(tensors.gradient, expected.dhead.length),
  ])).map((bytes) => new Float32Array(bytes));
  const errors = {
    logp: largestDifference(expected.logp_S, rows.map((row) => result_N4[4 * row])),
    entropy: largestDifference(expected.entropy_S, rows.map((row) => result_N4[4 * row + 1])),
    dh: relativeToLargest(rowsOf(dh_ND, rows, width), expected.dh_SD),
    dhead: relativeToLargest(dhead, expected.dhead),
  };
  for (const [name, tolerance] of Object.entries(LOGPROB_TOLERANCE)) {
    const error = errors[name as keyof LogprobErrors];
    if (error <= tolerance) continue;
    throw new Error(
      `The log-prob kernels disagree with the float64 reference at V=${sizes.vocabSize}: ${name} is off by ` +
        `${error}, the tolerance is ${tolerance}; their speed is meaningless`,
    );
  }
  return errors;
}

/** Passes are repeated for at least this time, and their mean counts: a small vocabulary takes a millisecond. */
const SAMPLE_MS = 20;

async function timePath(
  commands: Commands,
  path: LogprobPath,
  { result_N4, gradient }: LogprobTensors,
): Promise<LogprobTiming> {
  const timed = async (record: () => void, result: Tensor) => {
    const start = performance.now();
    record();
    await commands.read([{ tensor: result, sizeBytes: 4 }]);
    return performance.now() - start;
  };
  let forwardMs = 0, backwardMs = 0, passes = 0;
  while (passes === 0 || forwardMs + backwardMs < SAMPLE_MS) {
    forwardMs += await timed(path.forward, result_N4);
    backwardMs += await timed(path.backward, gradient);
    passes++;
  }
  return { forwardMs: forwardMs / passes, backwardMs: backwardMs / passes };
}

/**
 * Prepares one vocabulary and checks every way there. Log-probs and entropies of a sample of rows are compared, and the
 * gradients that a loss over these rows alone has; timed is a loss over all rows.
 *
 * @param commands The recorder.
 * @param sizes N, D and V.
 * @returns The ways, to be freed before the next vocabulary.
 * @throws {Error} When a way disagrees with the reference.
 */
export async function prepareLogprobCase(
  commands: Commands,
  sizes: LogprobSizes,
): Promise<LogprobCase> {
  const inputs = createLogprobInputs(sizes);
  const expected = expectedResults(sizes, inputs);
  const tensors = uploadLogprob(commands, sizes, inputs);
  const sampled_N2 = new Float32Array(inputs.dresult_N2.length);
  for (const row of expected.rows) {
    sampled_N2.set(inputs.dresult_N2.subarray(2 * row, 2 * row + 2), 2 * row);
  }
  const fused = fusedPath(commands, tensors);
  const unfused = tryUnfused(commands, tensors);
  const paths = [fused, ...(typeof unfused === "string" ? [] : [unfused])];
  commands.write(tensors.dresult_N2, sampled_N2);
  const checked: CheckedPath[] = [];
  for (const path of paths) {
    checked.push({
      errors: await checkPath(commands, path, { tensors, sizes, expected }),
      workspaceBytes: path.workspaceBytes,
      run: () => timePath(commands, path, tensors),
    });
  }
  commands.write(tensors.dresult_N2, inputs.dresult_N2);
  return {
    checkedRows: expected.rows.length,
    fused: checked[0],
    unfused: checked[1] ?? null,
    unfusedRefusal: typeof unfused === "string" ? unfused : null,
    free: () => [...paths, tensors].forEach((memory) => memory.free()),
  };
}

/** The way through [N, V], or why this device cannot hold it. */
function tryUnfused(commands: Commands, tensors: LogprobTensors): LogprobPath | string {
  try {
    return unfusedPath(commands, tensors);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const megabytes = 8 * tensors.rowCount * tensors.shape.vocabSize / 1e6;
    const [limit] = error.message.split(";");
    return `logits and their gradient would take ${megabytes.toFixed(0)} MB. ${limit}`;
  }
}
