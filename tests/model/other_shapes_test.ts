/** Models of other sizes on the GPU held to the float64 reference from end to end: nothing assumes TinyAgent's sizes. */
import { assert } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { type ModelConfig, parameterLayout } from "../../src/model/config.ts";
import { Learner } from "../../src/model/learner.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import { logprobFromLogits, logprobFromLogitsBackward } from "../../src/reference/logprob.ts";
import { tinyAgentBackward, tinyAgentForward } from "../../src/reference/tiny_agent.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

const SHAPES: readonly ModelConfig[] = [
  { vocabSize: 7, width: 32, headCount: 8, feedForwardWidth: 48, layerCount: 1 },
  { vocabSize: 1000, width: 96, headCount: 6, feedForwardWidth: 128, layerCount: 2 },
  { vocabSize: 61, width: 128, headCount: 2, feedForwardWidth: 64, layerCount: 4 },
];
const LENGTHS = [1, 13, 5, 30];
/** Those of the golden numbers, whose reasons hold for these sizes too. */
const LOGP_BOUND = 2e-5, GRADIENT_BOUND = 1e-4;

/** −mean log π of all rows, without KL and entropy. */
const LOSS = {
  surrogate: "reinforce",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
} as const;

/** Log-probs and the gradient of −mean log π, in float64. */
function reference(config: ModelConfig, values_W: Float32Array, ids_B: number[][]) {
  const batch = packEpisodes(ids_B, { vocabSize: config.vocabSize });
  const column = (i: number) => Array.from(batch.target_N, (_, n) => batch.token_N4[4 * n + i]!);
  const tokens = { ids_N: column(0), position_N: column(1), startOfEpisode_N: column(2) };
  const { ranges } = parameterLayout(config);
  const parameters = Object.fromEntries(
    ranges.map(({ name, offset, length }) =>
      [name, Float64Array.from(values_W.subarray(offset, offset + length))] as const
    ),
  );
  const shape = { ...config, vocabularySize: config.vocabSize };
  const activations = tinyAgentForward(parameters, { shape, tokens });
  const rowCount = batch.rowCount;
  const options = {
    rowCount,
    vocabularySize: config.vocabSize,
    target_N: batch.target_N,
    temperature: 1,
  };
  const dlogits_NV = logprobFromLogitsBackward(activations.logits_NV, {
    ...options,
    dlogp_N: new Float64Array(rowCount).fill(-1 / rowCount),
    dentropy_N: new Float64Array(rowCount),
  });
  const gradient = tinyAgentBackward(parameters, { shape, tokens, activations, dlogits_NV });
  return {
    batch,
    logp_N: logprobFromLogits(activations.logits_NV, options).logp_N,
    gradient_W: ranges.flatMap(({ name }) => Array.from(gradient[name]!)),
  };
}

for (const config of SHAPES) {
  const { vocabSize, width, headCount, layerCount } = config;
  const name = `V=${vocabSize}, D=${width}, H=${headCount}, L=${layerCount}`;
  gpuTest(`Learner matches the reference model at ${name}`, async () => {
    const ids_B = LENGTHS.map((length, b) =>
      Array.from({ length }, (_, t) => (29 * b + 17 * t + t * t) % vocabSize)
    );
    const values_W = initialValues(config, 3);
    const { batch, logp_N, gradient_W } = reference(config, values_W, ids_B);
    const commands = new Commands(await testGpu());
    const parameters = createParameters(commands, config, values_W);
    const sizes = { capacity: batch.rowCount, maxPositions: Math.max(...LENGTHS) };
    const learner = new Learner(commands, parameters, sizes);
    const weight = 1 / batch.rowCount;
    const scored = learner.load(batch, {
      objective_N4: Float32Array.from(
        { length: 4 * batch.rowCount },
        (_, i) => [1, weight, weight, 0][i % 4]!,
      ),
    }).forward();
    scored.keepRows();
    scored.backward({ loss: LOSS });
    const { rows: [kept] } = await learner.collect();
    logp_N.forEach((logp, n) => {
      const error = Math.abs(kept!.result_N4[4 * n]! - logp);
      assert(error <= LOGP_BOUND, `the log-prob of row ${n} is off by ${error}`);
    });
    const error = (await learner.readGradient()).map((g, w) => g - gradient_W[w]!);
    const relative = globalNorm(error) / globalNorm(gradient_W);
    assert(globalNorm(gradient_W) > 0.1, "the gradient says something");
    assert(relative <= GRADIENT_BOUND, `the gradient is off by ${relative} of its norm`);
    learner.destroy();
    destroyParameters(parameters);
    commands.destroy();
  });
}
