/** The reference model held to PyTorch: log-probs, seven losses and their gradients, three Adam steps, the statistics. */
import { assert } from "@std/assert";
import { clipAdam, globalNorm } from "../../src/reference/clip_adam.ts";
import {
  logprobFromLogits,
  logprobFromLogitsBackward,
  type LogprobOptions,
  type LogprobResult,
} from "../../src/reference/logprob.ts";
import {
  KL_KINDS,
  policyLoss,
  type PolicyLossOptions,
  type PolicyLossTokens,
} from "../../src/equations/policy_loss.ts";
import { policyStatistics } from "../../src/equations/policy_statistics.ts";
import {
  type NamedArrays,
  tinyAgentBackward,
  tinyAgentForward,
} from "../../src/reference/tiny_agent.ts";
import { type AggregationMode, aggregationWeights } from "../../src/equations/aggregate.ts";
import { packGolden, readGolden, readGoldenScalars } from "./golden.ts";

/** Golden tensors are float64 numbers stored as float32: a relative error of at most half a unit of the 24th bit. */
const STORED = 2 ** -24;

/**
 * PyTorch's rotary tables were computed in float32 and then widened. The first pair's angles are whole numbers and exact; of
 * the others the largest is position 40 times 10^-0.5, and frequency and product are each rounded. Logits move by about as
 * much as the angle, and so do log-probs, entropies and (relatively) gradients. With such tables built into this reference,
 * the largest difference of a log-prob fell from 1.1e-6 to 0.3e-6 beyond storage, and that of the gradient to storage.
 */
const TABLES = 40 * 10 ** -0.5 * 2 * STORED;

/** Of the golden Adam steps. */
const LEARNING_RATE = 1e-3;

const SHAPE = { layerCount: 3, width: 64, headCount: 4, feedForwardWidth: 256, vocabularySize: 60 };
const BATCH = readGolden("batch");
const PACKED = packGolden(BATCH);
const N = PACKED.cell_N.length;
const SCALARS = readGoldenScalars();
const MODEL = readGolden("model");
const FORWARD = tinyAgentForward(MODEL, { shape: SHAPE, tokens: PACKED.tokens });

const REINFORCE: PolicyLossOptions = {
  surrogate: "reinforce",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
};
const PPO_K3_ENTROPY: PolicyLossOptions = {
  ...REINFORCE,
  surrogate: "clipped",
  klCoef: 0.1,
  entropyCoef: 0.01,
};

interface GoldenLoss {
  readonly options: PolicyLossOptions;
  readonly mode: AggregationMode;
  /** Replaces the batch's advantages: cross-entropy is REINFORCE with all of them 1. */
  readonly advantage?: number;
}

const LOSSES: Readonly<Record<string, GoldenLoss>> = {
  reinforce_token_mean: { options: REINFORCE, mode: "token_mean" },
  reinforce_seq_mean_token_sum: { options: REINFORCE, mode: "seq_mean_token_sum" },
  reinforce_seq_mean_token_mean: { options: REINFORCE, mode: "seq_mean_token_mean" },
  reinforce_constant: { options: REINFORCE, mode: "constant" },
  ppo_clip_token_mean: { options: { ...REINFORCE, surrogate: "clipped" }, mode: "token_mean" },
  ppo_k3_entropy: { options: PPO_K3_ENTROPY, mode: "token_mean" },
  cross_entropy: { options: REINFORCE, mode: "token_mean", advantage: 1 },
};

function logprobOptions(temperature: number): LogprobOptions {
  return {
    rowCount: N,
    vocabularySize: SHAPE.vocabularySize,
    target_N: PACKED.target_N,
    temperature,
  };
}

/** The packed rows of a [B, T−1] array; 0 at the last token of each episode. */
function pick(array: ArrayLike<number>): number[] {
  return PACKED.cell_N.map((cell) => cell < 0 ? 0 : array[cell]);
}

function lossTokens(
  { logp_N, entropy_N }: LogprobResult,
  { mode, advantage }: GoldenLoss,
): PolicyLossTokens {
  const shape = { episodeCount: PACKED.episodeCount, columnCount: PACKED.columnCount - 1 };
  const weights = (options: { mode: AggregationMode; normConst?: number }) =>
    pick(aggregationWeights(BATCH.action_mask, { ...shape, ...options }));
  return {
    logp_N,
    entropy_N,
    oldLogp_N: pick(BATCH.old_logp),
    refLogp_N: pick(BATCH.ref_logp),
    advantage_N: PACKED.episode_N.map((b) => advantage ?? BATCH.advantages[b]),
    weight_N: weights({ mode, normConst: SCALARS.stats.norm_const }),
    meanWeight_N: weights({ mode: "token_mean" }),
  };
}

/** Loss, gradient of every parameter, and how far the loss may be off given what is known of its inputs. */
function lossAndGradient(parameters: NamedArrays, loss: GoldenLoss, forward = FORWARD) {
  const logprobs = logprobFromLogits(forward.logits_NV, logprobOptions(1));
  const tokens = lossTokens(logprobs, loss);
  const { loss: value, dlogp_N, dentropy_N } = policyLoss(tokens, loss.options);
  const gradient = tinyAgentBackward(parameters, {
    shape: SHAPE,
    tokens: PACKED.tokens,
    activations: forward,
    dlogits_NV: logprobFromLogitsBackward(forward.logits_NV, {
      ...logprobOptions(1),
      dlogp_N,
      dentropy_N,
    }),
  });
  let bound = 0;
  for (let n = 0; n < N; n++) {
    const stored = STORED * (Math.abs(tokens.oldLogp_N[n]) + Math.abs(tokens.refLogp_N[n]));
    bound += Math.abs(dlogp_N[n]) * (TABLES + stored) + Math.abs(dentropy_N[n]) * TABLES;
  }
  return { value, gradient, bound };
}

/** The arrays one after another, in the order of the golden model. */
function flat(arrays: NamedArrays): Float64Array {
  return Float64Array.from(Object.keys(MODEL).flatMap((name) => Array.from(arrays[name])));
}

function assertClose(name: string, actual: number, golden: { value: number; bound: number }): void {
  const error = Math.abs(actual - golden.value);
  assert(error <= golden.bound, `${name}: ${actual} is off ${golden.value} by ${error}`);
}

Deno.test("the golden batch packs to ragged episodes of 668 tokens with both signs of advantages", () => {
  const lengths = new Set(PACKED.tokens.position_N);
  assert(N === 668 && PACKED.episodeCount === 32 && lengths.size === PACKED.columnCount);
  assert(BATCH.advantages.some((a) => a > 0) && BATCH.advantages.some((a) => a < 0));
});

Deno.test("tinyAgentForward() gives PyTorch's logits", () => {
  const golden = readGolden("forward").logits;
  let compared = 0;
  for (let n = 0; n < N && PACKED.episode_N[n] < 4; n++) {
    const row = PACKED.episode_N[n] * PACKED.columnCount + PACKED.tokens.position_N[n];
    for (let v = 0; v < 60; v++, compared++) {
      const value = golden[row * 60 + v];
      const bound = TABLES + STORED * Math.abs(value);
      assertClose(`logits[${n}, ${v}]`, FORWARD.logits_NV[n * 60 + v], { value, bound });
    }
  }
  assert(compared > 3000);
});

Deno.test("logprobFromLogits() gives PyTorch's log-probs, entropies and log-probs at temperature 0.7", () => {
  const golden = readGolden("forward");
  const plain = logprobFromLogits(FORWARD.logits_NV, logprobOptions(1));
  const cold = logprobFromLogits(FORWARD.logits_NV, logprobOptions(0.7));
  for (let n = 0; n < N; n++) {
    const cell = PACKED.cell_N[n];
    if (cell < 0) continue;
    const compare = (name: string, actual: number, scale: number) => {
      const value = golden[name][cell];
      const bound = scale * TABLES + STORED * Math.abs(value);
      assertClose(`${name}[${n}]`, actual, { value, bound });
    };
    compare("logp", plain.logp_N[n], 1);
    compare("entropy", plain.entropy_N[n], 1);
    compare("logp_t07", cold.logp_N[n], 1 / 0.7);
  }
});

for (const [name, loss] of Object.entries(LOSSES)) {
  Deno.test(`policyLoss() and tinyAgentBackward() give PyTorch's ${name} and its gradient norm`, () => {
    const golden = SCALARS[name] as { readonly loss: number; readonly grad_norm: number };
    const { value, gradient, bound } = lossAndGradient(MODEL, loss);
    assert(bound < 1e-4, `the bound ${bound} says nothing`);
    assertClose("loss", value, { value: golden.loss, bound });
    assertClose("gradient norm", globalNorm(flat(gradient)), {
      value: golden.grad_norm,
      bound: TABLES * golden.grad_norm,
    });
  });
}

for (const name of ["reinforce_token_mean", "ppo_k3_entropy"]) {
  Deno.test(`tinyAgentBackward() gives every entry of PyTorch's gradient of ${name}`, () => {
    const ours = flat(lossAndGradient(MODEL, LOSSES[name]).gradient);
    const golden = flat(readGolden(`grad_${name}`));
    const difference = ours.map((g, w) => g - golden[w]);
    const relative = globalNorm(difference) / globalNorm(golden);
    assert(relative <= TABLES + STORED, `relative error of the gradient ${relative}`);
    const largest = golden.reduce((max, g) => Math.max(max, Math.abs(g)), 0);
    const worst = difference.reduce((max, d) => Math.max(max, Math.abs(d)), 0) / largest;
    assert(worst <= TABLES + STORED, `largest error ${worst} of the largest entry`);
  });
}

Deno.test("policyStatistics() gives PyTorch's statistics", () => {
  const logprobs = logprobFromLogits(FORWARD.logits_NV, logprobOptions(1));
  const tokens = lossTokens(logprobs, LOSSES.ppo_k3_entropy);
  const ours = policyStatistics(tokens, PPO_K3_ENTROPY);
  const { stats } = SCALARS;
  // A ratio is off by itself times the error of the log-probs; derivatives of the mean estimates are below 1.
  const logpError = TABLES + STORED * 20;
  const bound = logpError * stats.ratio_max;
  assertClose("approx_kl", ours.approxKl, { value: stats.approx_kl_k3, bound });
  assertClose("ratio_max", ours.ratioMax, { value: stats.ratio_max, bound });
  assertClose("ratio_min", ours.ratioMin, { value: stats.ratio_min, bound });
  assertClose("entropy", ours.entropy, { value: stats.entropy, bound });
  assertClose("kl_k3", ours.klRef, { value: stats.kl_k3, bound });
  // A count over a count: equal unless a token sits on the edge of the clip.
  assertClose("clip_frac", ours.clipFraction, { value: stats.clip_frac, bound: 1e-12 });
  for (const klKind of KL_KINDS) {
    const kl = policyLoss({ ...tokens, weight_N: new Float64Array(N) }, {
      ...PPO_K3_ENTROPY,
      klKind,
      klCoef: 1,
      entropyCoef: 0,
    });
    assertClose(`kl_${klKind}`, kl.loss, { value: stats[`kl_${klKind}`], bound });
  }
});

Deno.test("clipAdam() gives PyTorch's weights after three clipped steps", () => {
  const names = Object.keys(MODEL);
  let state = { weight_W: flat(MODEL), m_W: flat(MODEL).fill(0), v_W: flat(MODEL).fill(0) };
  const start = state.weight_W;
  for (let stepNumber = 1; stepNumber <= 3; stepNumber++) {
    let offset = 0;
    const parameters: Record<string, Float64Array> = {};
    for (const name of names) {
      parameters[name] = state.weight_W.subarray(offset, offset += MODEL[name].length);
    }
    const forward = stepNumber === 1
      ? FORWARD
      : tinyAgentForward(parameters, { shape: SHAPE, tokens: PACKED.tokens });
    const loss = lossAndGradient(parameters, LOSSES.ppo_k3_entropy, forward);
    const golden = SCALARS.adam3[stepNumber - 1];
    const step = clipAdam(state, {
      gradient_W: flat(loss.gradient),
      stepNumber,
      learningRate: LEARNING_RATE,
      maxNorm: 0.05,
    });
    assert(step.gradNorm > 0.05, "the clip must act");
    assertClose(`loss ${stepNumber}`, loss.value, { value: golden.loss, bound: loss.bound * 2 });
    const bound = 2 * TABLES * golden.grad_norm;
    assertClose(`gradient norm ${stepNumber}`, step.gradNorm, { value: golden.grad_norm, bound });
    state = step;
  }
  const golden = flat(readGolden("adam3"));
  const difference = state.weight_W.map((weight, w) => Math.abs(weight - golden[w]));
  const distance = globalNorm(golden.map((weight, w) => weight - start[w]));
  const stored = STORED * globalNorm(golden);
  const error = globalNorm(difference);
  assert(error <= stored + TABLES * distance, `${error} off after moving by ${distance}`);
  // Where a gradient is as small as Adam's eps, its error changes the step: allow a thousandth of three steps.
  const worst = difference.reduce((max, d) => Math.max(max, d), 0);
  assert(worst <= 1e-3 * 3 * LEARNING_RATE, `one weight is off by ${worst}`);
});
