/** An update on the device held to the float64 reference, number by number, before anybody measures its speed. */
import type { ReadRequest } from "../gpu/commands.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { TINY_AGENT } from "../model/config.ts";
import { toTensors } from "../model/parameters.ts";
import { clipAdam, globalNorm } from "../reference/clip_adam.ts";
import { logprobFromLogits, logprobFromLogitsBackward } from "../reference/logprob.ts";
import { policyLoss } from "../equations/policy_loss.ts";
import {
  type PackedTokens,
  tinyAgentBackward,
  tinyAgentForward,
  type TinyAgentShape,
} from "../reference/tiny_agent.ts";
import type { UpdatePass } from "../tuning/update_pass.ts";
import { largestDifference } from "../core/vectors.ts";

/** How far f32 may be off float64; a plain f32 run of the golden batch gets 4e-6 and 8e-7. */
export const UPDATE_TOLERANCE = {
  /** Log-probs and entropies, in nats, and logits. */
  forward: 2e-5,
  /** Of the gradient's norm. */
  gradient: 1e-4,
  /** Weights after the step: a few roundings of numbers up to 4. */
  weights: 1e-6,
} as const;

/** Largest errors that were found. */
export interface UpdateErrors {
  /** Of log-probs, entropies and logits. */
  readonly forward: number;
  /** Norm of the difference over the gradient's norm. */
  readonly gradient: number;
  /** Of the weights after the step. */
  readonly weights: number;
}

/** What the device computed. */
interface DeviceResults {
  readonly result_N4: Float32Array;
  readonly logits_NV: Float32Array;
  readonly gradient_W: Float32Array;
  readonly stepped_W: Float32Array;
}

async function readResults(pass: UpdatePass): Promise<DeviceResults> {
  const { commands, workspace, gradients, logits, parameters, batch: { rowCount } } = pass;
  const { parameterCount } = parameters.layout;
  const floats = (tensor: Tensor, count: number): ReadRequest => ({ tensor, sizeBytes: 4 * count });
  const [result, logitValues, gradient, weights] = await commands.read([
    floats(workspace.result_R4, 4 * rowCount),
    floats(logits, rowCount * TINY_AGENT.vocabSize),
    floats(gradients.gradient, parameterCount),
    floats(parameters.flat, parameterCount),
  ]);
  return {
    result_N4: new Float32Array(result),
    logits_NV: new Float32Array(logitValues),
    gradient_W: new Float32Array(gradient),
    stepped_W: new Float32Array(weights),
  };
}

/** The rows of the episodes that the loss weighs, one after another. */
function weightedRows({ batch, weightedEpisodes }: UpdatePass): number[] {
  return weightedEpisodes.flatMap((b) =>
    Array.from({ length: batch.length_B[b] }, (_, t) => batch.firstRow_B[b] + t)
  );
}

/** The same rows as the reference takes them: episodes close up. */
function packedTokens({ batch }: UpdatePass, rows: readonly number[]): PackedTokens {
  const position_N = rows.map((row) => batch.token_N4[4 * row + 1]);
  return {
    ids_N: rows.map((row) => batch.token_N4[4 * row]),
    position_N,
    startOfEpisode_N: position_N.map((position, n) => n - position),
  };
}

/** Log-probs, entropies, logits and gradient of the weighted rows in float64. */
function referenceResults(pass: UpdatePass, rows: readonly number[]) {
  const { vocabSize: vocabularySize, ...sizes } = TINY_AGENT;
  const shape: TinyAgentShape = { ...sizes, vocabularySize };
  const named = Object.fromEntries(
    Array.from(toTensors(TINY_AGENT, pass.weights_W), ([name, { data }]) => [name, data]),
  );
  const tokens = packedTokens(pass, rows);
  const activations = tinyAgentForward(named, { shape, tokens });
  const { logits_NV } = activations;
  const logprobOptions = {
    rowCount: rows.length,
    vocabularySize,
    target_N: rows.map((row) => pass.batch.target_N[row]),
    temperature: pass.size.temperature,
  };
  const { logp_N, entropy_N } = logprobFromLogits(logits_NV, logprobOptions);
  const column = (i: number) => rows.map((row) => pass.objective_N4[4 * row + i]);
  const { dlogp_N, dentropy_N } = policyLoss({
    logp_N,
    entropy_N,
    advantage_N: column(0),
    weight_N: column(1),
    meanWeight_N: column(2),
    oldLogp_N: column(3),
    refLogp_N: rows.map(() => pass.refLogp),
  }, pass.size.loss);
  const dlogits_NV = logprobFromLogitsBackward(logits_NV, {
    ...logprobOptions,
    dlogp_N,
    dentropy_N,
  });
  const gradient = tinyAgentBackward(named, { shape, tokens, activations, dlogits_NV });
  const gradient_W = Float64Array.from(Object.keys(named).flatMap((name) => [...gradient[name]]));
  return { logp_N, entropy_N, logits_NV, gradient_W };
}

/**
 * Runs the update once and compares it with the reference: log-probs, entropies and logits of the weighted episodes, the whole
 * gradient, which is theirs alone, and the weights after the step.
 *
 * @param pass An update that has not run yet.
 * @returns The largest errors.
 * @throws {Error} When an error exceeds {@linkcode UPDATE_TOLERANCE}: a driver or a kernel is wrong, and its speed says nothing.
 */
export async function checkUpdatePass(pass: UpdatePass): Promise<UpdateErrors> {
  pass.commands.replay(pass.plan, pass.size);
  const { result_N4, logits_NV, gradient_W, stepped_W } = await readResults(pass);
  const rows = weightedRows(pass);
  const V = TINY_AGENT.vocabSize;
  const expected = referenceResults(pass, rows);
  const step = clipAdam(
    {
      weight_W: pass.weights_W,
      m_W: new Float32Array(gradient_W.length),
      v_W: new Float32Array(gradient_W.length),
    },
    {
      gradient_W,
      stepNumber: pass.size.adam.step,
      learningRate: pass.size.adam.learningRate,
      maxNorm: pass.size.maxNorm,
    },
  );
  const errors = {
    forward: Math.max(
      largestDifference(expected.logp_N, rows.map((row) => result_N4[4 * row])),
      largestDifference(expected.entropy_N, rows.map((row) => result_N4[4 * row + 1])),
      largestDifference(
        expected.logits_NV,
        rows.flatMap((row) => [...logits_NV.subarray(row * V, (row + 1) * V)]),
      ),
    ),
    gradient: globalNorm(expected.gradient_W.map((value, w) => value - gradient_W[w])) /
      globalNorm(expected.gradient_W),
    weights: largestDifference(step.weight_W, stepped_W),
  };
  for (const [name, tolerance] of Object.entries(UPDATE_TOLERANCE)) {
    const error = errors[name as keyof UpdateErrors];
    if (error <= tolerance) continue;
    throw new Error(
      `The kernels disagree with the float64 reference: ${name} is off by ${error}, ` +
        `the tolerance is ${tolerance}; their speed is meaningless`,
    );
  }
  return errors;
}
