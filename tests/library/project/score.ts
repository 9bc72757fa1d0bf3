/** Scores sequences and trains on them with a loss of its own over `Learner`: what a project does that brings its own data. */
import {
  aggregationWeights,
  Commands,
  createParameters,
  destroyParameters,
  initialValues,
  Learner,
  type ModelConfig,
  objectiveRows,
  openGpu,
  packEpisodes,
  rowsToGrid,
  scoreEpisodes,
} from "agentrl";

const MODEL: ModelConfig = {
  vocabSize: 12,
  width: 32,
  headCount: 2,
  feedForwardWidth: 64,
  layerCount: 1,
};

/** Two sequences to imitate: the first counts up, the second down. */
const SEQUENCES = [[1, 2, 3, 4, 5, 6, 7], [9, 8, 7, 6]];

const commands = new Commands(await openGpu());
const parameters = createParameters(commands, MODEL, initialValues(MODEL, 1));
const batch = packEpisodes(SEQUENCES, { vocabSize: MODEL.vocabSize });

/** Mean log-prob of the tokens that follow another one. */
async function meanLogp(): Promise<number> {
  const { logp_N } = await scoreEpisodes(commands, parameters, {
    ids_B: SEQUENCES,
    temperature: 1,
    withLogits: false,
  });
  return rowsToGrid(batch, logp_N).reduce(
    (sum, logp, cell) => sum + logp * (weight_BC[cell] ?? NaN),
    0,
  );
}

const learner = new Learner(commands, parameters, { capacity: batch.rowCount, maxPositions: 7 });
// Imitation is REINFORCE with an advantage of 1 for every token that follows another one.
const { episodeCount, columnCount } = batch;
const mask_BC = rowsToGrid(batch, new Float32Array(batch.rowCount).fill(1));
SEQUENCES.forEach((ids, b) =>
  mask_BC.fill(0, b * columnCount + ids.length - 1, (b + 1) * columnCount)
);
const weight_BC = aggregationWeights(mask_BC, { mode: "token_mean", episodeCount, columnCount });
const objective_N4 = objectiveRows(batch, {
  advantage_B: SEQUENCES.map(() => 1),
  weight_BC,
  meanWeight_BC: weight_BC,
});
const before = await meanLogp();
const norms: number[] = [];
for (let step = 1; step <= 20; step++) {
  const gradient = learner.load(batch, { objective_N4 }).forward().backward({
    loss: {
      surrogate: "reinforce",
      clipLow: 0.2,
      clipHigh: 0.2,
      klKind: "k3",
      klCoef: 0,
      entropyCoef: 0,
    },
  });
  gradient.step(1, { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, step }).keep();
  const { steps: [kept] } = await learner.collect();
  norms.push(kept?.gradNorm ?? NaN);
}
console.log(JSON.stringify({ before, after: await meanLogp(), norms }));
learner.destroy();
destroyParameters(parameters);
