/** The family `logprob`: log-prob and entropy from logits over a small vocabulary, and the gradient for the logits. */
import { logprobFromLogits, logprobFromLogitsBackward } from "../../reference/logprob.ts";
import {
  type Compute,
  type Family,
  input,
  inputMistake,
  lattice,
  mapOutputs,
  type Mistake,
  outputMistake,
  setting,
  type VectorCase,
  withConfig,
  withInput,
} from "../family.ts";
import { type Arrays, mapValues, row } from "../values.ts";

interface Batch {
  readonly logits_NV: readonly number[];
  readonly rowCount: number;
  readonly vocabularySize: number;
  readonly target_N: readonly number[];
  readonly temperature: number;
  readonly dlogp_N: readonly number[];
  readonly dentropy_N: readonly number[];
}

function batchOf(vectorCase: VectorCase): Batch {
  const { shape: [rowCount = 0, vocabularySize = 0], values } = input(vectorCase, "logits");
  return {
    logits_NV: values,
    rowCount,
    vocabularySize,
    target_N: input(vectorCase, "target").values,
    temperature: setting(vectorCase, "temperature"),
    dlogp_N: input(vectorCase, "dlogp").values,
    dentropy_N: input(vectorCase, "dentropy").values,
  };
}

const compute: Compute = (vectorCase): Arrays => {
  const { logits_NV, ...options } = batchOf(vectorCase);
  const { logp_N, entropy_N } = logprobFromLogits(logits_NV, options);
  const { rowCount: N, vocabularySize: V } = options;
  return {
    logp: row(Array.from(logp_N)),
    entropy: row(Array.from(entropy_N)),
    dlogits: {
      shape: [N, V],
      values: Array.from(logprobFromLogitsBackward(logits_NV, options)),
    },
  };
};

const onOutput = (
  name: string,
  sentence: string,
  rest: { readonly of: string; readonly change: (value: number) => number },
): Mistake =>
  outputMistake(
    name,
    sentence,
    (outputs) => mapOutputs(outputs, (value, key) => key === rest.of ? rest.change(value) : value),
  );

/** Probabilities at the case's temperature. */
function probabilities(vectorCase: VectorCase): number[][] {
  const { logits_NV, rowCount, vocabularySize: V, temperature } = batchOf(vectorCase);
  return Array.from({ length: rowCount }, (_, n) => {
    const logits = logits_NV.slice(n * V, (n + 1) * V).map((value) => value / temperature);
    const most = Math.max(...logits);
    const powers = logits.map((value) => Math.exp(value - most));
    const sum = powers.reduce((all, value) => all + value, 0);
    return powers.map((value) => value / sum);
  });
}

/** The gradient of the log-probs alone, without its − p. */
const noSoftmaxTerm: Mistake = {
  name: "gradient_without_softmax",
  sentence: "has a gradient for the chosen logit only, without − p for all of them",
  compute: (vectorCase, right) => {
    const outputs = right(vectorCase);
    const { dlogp_N, vocabularySize: V, temperature } = batchOf(vectorCase);
    const p = probabilities(vectorCase);
    const { dlogits } = outputs;
    if (dlogits === undefined) return undefined;
    return {
      ...outputs,
      dlogits: mapValues(dlogits, (value, i) => {
        const n = Math.floor(i / V);
        return value + (dlogp_N[n] ?? 0) * (p[n]?.[i % V] ?? 0) / temperature;
      }),
    };
  },
};

const entropyOf = (
  name: string,
  sentence: string,
  entropy: (p: readonly number[], target: number) => number,
): Mistake => ({
  name,
  sentence,
  compute: (vectorCase, right) => ({
    ...right(vectorCase),
    entropy: row(
      probabilities(vectorCase).map((p, n) => entropy(p, batchOf(vectorCase).target_N[n] ?? 0)),
    ),
  }),
});

const sumOf = (p: readonly number[], term: (p: number) => number) =>
  p.reduce((sum, value) => sum + term(value), 0);

const MISTAKES: readonly Mistake[] = [
  inputMistake(
    "temperature_ignored",
    "leaves the temperature out",
    (one) => withConfig(one, { temperature: 1 }),
  ),
  inputMistake(
    "temperature_multiplied",
    "multiplies by the temperature instead of dividing",
    (one) => withConfig(one, { temperature: 1 / setting(one, "temperature") }),
  ),
  {
    name: "temperature_missing_in_gradient",
    sentence: "has the right values and forgets the temperature in the gradient",
    compute: (one, right) =>
      mapOutputs(
        right(one),
        (value, key) => key === "dlogits" ? value * setting(one, "temperature") : value,
      ),
  },
  inputMistake(
    "target_one_late",
    "scores each token at the row before its own",
    (one) =>
      withInput(one, "target", ({ values }) => row(values.map((_, n) => values.at(n - 1) ?? 0))),
  ),
  inputMistake(
    "target_one_early",
    "scores each token at the row after its own",
    (one) =>
      withInput(
        one,
        "target",
        ({ values }) => row(values.map((_, n) => values[(n + 1) % values.length] ?? 0)),
      ),
  ),
  onOutput("logp_negated", "gives −log π, a cross-entropy, where log π was meant", {
    of: "logp",
    change: (value) => -value,
  }),
  onOutput("probability", "gives the probability where its logarithm was meant", {
    of: "logp",
    change: Math.exp,
  }),
  onOutput("entropy_negated", "has the wrong sign in the entropy", {
    of: "entropy",
    change: (value) => -value,
  }),
  onOutput("entropy_in_bits", "has the entropy in bits where nats were meant", {
    of: "entropy",
    change: (value) => value / Math.LN2,
  }),
  entropyOf(
    "entropy_of_sample",
    "takes − log π of the sampled token for the entropy",
    (p, target) => -Math.log(p[target] ?? NaN),
  ),
  entropyOf(
    "entropy_mean",
    "averages −p log p over the vocabulary where the sum was meant",
    (p) => sumOf(p, (value) => value > 0 ? -value * Math.log(value) : 0) / p.length,
  ),
  entropyOf(
    "collision_entropy",
    "takes −log Σ p² for the entropy",
    (p) => -Math.log(sumOf(p, (value) => value * value)),
  ),
  entropyOf(
    "entropy_eps",
    "adds 1e-2 or so to p within the logarithm",
    (p) => -sumOf(p, (value) => value * Math.log(value + 1e-2)),
  ),
  noSoftmaxTerm,
  {
    name: "entropy_detached",
    sentence: "has no gradient of the entropy",
    compute: (one, right) => {
      const { dlogits } = right(
        withInput(one, "dentropy", (values) => mapValues(values, () => 0)),
      );
      return dlogits === undefined ? undefined : { ...right(one), dlogits };
    },
  },
  {
    name: "entropy_gradient_negated",
    sentence: "has the wrong sign in the gradient of the entropy",
    compute: (one, right) => {
      const { dlogits } = right(
        withInput(one, "dentropy", (values) => mapValues(values, (value) => -value)),
      );
      return dlogits === undefined ? undefined : { ...right(one), dlogits };
    },
  },
  onOutput("gradient_negated", "has the wrong sign in its gradient", {
    of: "dlogits",
    change: (value) => -value,
  }),
  onOutput("detached", "is detached: it has no gradient", { of: "dlogits", change: () => 0 }),
  {
    name: "overflow",
    sentence: "takes exponentials of logits as they are, which overflow in float32: NaN",
    compute: (one, right) => {
      const { logits_NV, vocabularySize: V, temperature } = batchOf(one);
      const isOver = (n: number) =>
        logits_NV.slice(n * V, (n + 1) * V).some((value) => value / temperature > 88.7);
      return mapRows(right(one), V, (value, n) => isOver(n) ? NaN : value);
    },
  },
];

function mapRows(
  outputs: Arrays,
  V: number,
  change: (value: number, n: number) => number,
): Arrays {
  return Object.fromEntries(
    Object.entries(outputs).map(([key, values]) => [
      key,
      mapValues(values, (value, i) => change(value, key === "dlogits" ? Math.floor(i / V) : i)),
    ]),
  );
}

function logprobCase(
  id: string,
  about: string,
  rest: {
    readonly N: number;
    readonly V: number;
    readonly seed: number;
    readonly temperature: number;
    readonly logits?: readonly number[];
    readonly isEdge?: true;
  },
): VectorCase {
  const { N, V, seed, temperature, logits, isEdge } = rest;
  return {
    id,
    about,
    inputs: {
      logits: {
        shape: [N, V],
        values: [...(logits ?? lattice(N * V, { seed, low: -3, high: 3 }))],
      },
      target: row(Array.from({ length: N }, (_, n) => (n * 3 + seed) % V)),
      dlogp: row(lattice(N, { seed: seed + 1, low: -1, high: 1 })),
      dentropy: row(lattice(N, { seed: seed + 2, low: -0.5, high: 0.5 })),
    },
    config: { temperature },
    ...(isEdge && { isEdge }),
  };
}

/** The family. */
export const LOGPROB: Family = {
  name: "logprob",
  sentence: "the log-prob of a token and the entropy of its distribution, from logits",
  inputs: {
    logits: "logits before the temperature [N, V]",
    target: "token of each row, from 0 [N]",
    dlogp: "gradient that arrives at each log-prob [N]",
    dentropy: "gradient that arrives at each entropy [N]",
  },
  config: { temperature: "the logits are divided by it" },
  // Of a function without entropy, the gradient is that of the log-probs alone, which no vector holds.
  beside: { dlogits: ["logp", "entropy"] },
  outputs: {
    logp: "log-prob of the token, nats [N]",
    entropy: "−Σ p log p over the vocabulary, nats [N]",
    dlogits: "gradient of Σ dlogp · logp + dentropy · entropy for the logits [N, V]",
  },
  tolerance: {
    relative: 1e-5,
    // A right entropy may be the difference of the log-sum-exp and the mean logit, each rounded beside logits of 14.
    absolute: 5e-6,
    reason: "a sum of at most 32 exponentials in float32, whose logarithm is up to 1e-6 off, and " +
      "differences of numbers about 14, each up to 1e-6 off",
  },
  cases: [
    logprobCase("plain", "temperature 1", { N: 4, V: 7, seed: 91, temperature: 1 }),
    logprobCase("warm", "temperature 1.5", { N: 3, V: 5, seed: 94, temperature: 1.5 }),
    logprobCase("cold", "temperature 0.5", { N: 3, V: 8, seed: 97, temperature: 0.5 }),
    logprobCase("wide", "a vocabulary of 32", { N: 2, V: 32, seed: 100, temperature: 1 }),
    logprobCase("uniform", "equal logits", {
      N: 2,
      V: 6,
      seed: 103,
      temperature: 1,
      logits: Array.from({ length: 12 }, () => 0.5),
    }),
    logprobCase("sure", "a policy that is sure of its token", {
      N: 2,
      V: 4,
      seed: 106,
      temperature: 1,
      logits: [12, 0, -1, 1, -2, 0, 14, -3],
    }),
    logprobCase("high_logits", "logits about 120, as large as exponentials in float32 are not", {
      N: 2,
      V: 4,
      seed: 109,
      temperature: 1,
      logits: [120, 119, 118.5, 121, 100, 101.5, 99, 100.5],
      isEdge: true,
    }),
  ],
  dialects: [{
    name: "softmax",
    sentence: "log-softmax of logits / temperature, and the entropy of that distribution",
    usedBy: ["verl", "TRL", "OpenRLHF", "NeMo-RL", "prime-rl", "slime", "agentrl"],
    compute,
  }],
  mistakes: MISTAKES,
};
