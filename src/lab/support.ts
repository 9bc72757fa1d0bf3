/** Experiment `support`: where the gradient enters, and where it flows. */
import { largest } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import { OWNER } from "../core/owner.ts";
import { tileWidth } from "../kernels/logprob.ts";
import { TINY_AGENT } from "../model/config.ts";
import { allRows } from "../model/batch_inputs.ts";
import { Learner } from "../model/learner.ts";
import { createParameters, destroyParameters } from "../model/parameters.ts";
import { aggregationWeights } from "../equations/aggregate.ts";
import { objectiveRows } from "../rl/objective.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import { baseAgent, collateEpisodes, sampleSplit, type Weights } from "./agents.ts";
import { SCORE_LOSS } from "./episode_gradients.ts";
import { DRAW, type Experiment } from "./experiment.ts";
import { readRowOperand } from "./read_operand.ts";
import { norm } from "../core/vectors.ts";

const TUTORIAL = {
  logitPositions: 70,
  successTokens: 70,
  outside: 0,
  embedding: { prompt: 1.87e-4, policy: 1.49e-4, tool: 3.18e-5 },
} as const;

/** Norms of the loss's gradient at every packed token. */
export interface RowGradients {
  /** With respect to the token's logits. */
  readonly logits_N: number[];
  /** With respect to the token's embedding. */
  readonly embedding_N: number[];
}

/** The gradient of −(1/B) Σ_b R_b Σ_t log π at every token. */
export async function rowGradients(
  commands: Commands,
  weights_W: Weights,
  { packed, rewards_B, policyMask_BC }: TrainBatch,
): Promise<RowGradients> {
  const { episodeCount, columnCount, rowCount } = packed;
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const learner = new Learner(commands, parameters, {
    capacity: rowCount,
    maxPositions: largest(packed.length_B),
  });
  const shape = { episodeCount, columnCount };
  const loaded = learner.load(packed, {
    objective_N4: objectiveRows(packed, {
      advantage_B: rewards_B,
      weight_BC: aggregationWeights(policyMask_BC, { ...shape, mode: "seq_mean_token_sum" }),
      meanWeight_BC: new Float64Array(episodeCount * columnCount),
    }),
    // All rows, those without a weight too: which of them receive a gradient is the question.
    row_R: allRows(rowCount),
  });
  loaded.forward().backward({ loss: SCORE_LOSS });
  const { vocabSize, width } = TINY_AGENT;
  const norms = async (operand: typeof learner.gradients.dz_RC, options: {
    readonly width: number;
    readonly used: number;
  }) => {
    const rows = await readRowOperand(commands, operand, { rowCount, width: options.width });
    return Array.from(
      { length: rowCount },
      (_, row) => norm(rows.subarray(row * options.width, row * options.width + options.used)),
    );
  };
  const { dz_RC, dx_ND: [dx_ND] } = learner.gradients;
  const logits_N = await norms(dz_RC, { width: tileWidth(vocabSize), used: vocabSize });
  const embedding_N = await norms(dx_ND, { width, used: width });
  learner.destroy();
  destroyParameters(parameters);
  return { logits_N, embedding_N };
}

/** What each packed token is: its owner, whether the token after it is the policy's, and whether its episode passed. */
function describeRows({ trajectories }: TrainBatch) {
  return trajectories.flatMap(({ owners, reward }) =>
    Array.from(owners, (owner, t) => ({
      owner,
      predictsPolicy: owners[t + 1] === OWNER.policy,
      passed: reward > 0,
    }))
  );
}

/** Compares the two sets of positions and averages the embedding's gradient by owner. */
export function summarizeSupport(batch: TrainBatch, { logits_N, embedding_N }: RowGradients) {
  const rows = describeRows(batch);
  const count = (keep: (row: number) => boolean) =>
    rows.reduce((sum, _, row) => sum + Number(keep(row)), 0);
  const isExpected = (row: number) => rows[row].predictsPolicy && rows[row].passed;
  const byOwner = (["prompt", "policy", "tool"] as const).map((name) => {
    const own = embedding_N.filter((_, row) => rows[row].owner === OWNER[name]);
    return { name, positions: own.length, mean: own.reduce((a, b) => a + b, 0) / own.length };
  });
  return {
    logitPositions: count((row) => logits_N[row] > 0),
    successTokens: count(isExpected),
    differing: count((row) => (logits_N[row] > 0) !== isExpected(row)),
    outside: count((row) => logits_N[row] > 0 && !rows[row].predictsPolicy),
    byOwner,
  };
}

/** Which positions get a gradient at the logits, and which at the hidden states before them. */
export const SUPPORT: Experiment = {
  name: "support",
  title: "Which positions receive a gradient",
  shows:
    "Only the policy's tokens of successful episodes receive a gradient at their logits. Prompt and tool tokens " +
    "receive one at their embeddings nevertheless, through attention: so the policy learns to use what it reads.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 1,
  run: async (context) => {
    const weights_W = await baseAgent(context, "plain");
    const batch = collateEpisodes(
      await sampleSplit(context, weights_W, {
        split: "train",
        episodesPerTask: 4,
        draw: DRAW.support,
      }),
    );
    const found = summarizeSupport(batch, await rowGradients(context.commands, weights_W, batch));
    const tool = found.byOwner.find(({ name }) => name === "tool")?.mean ?? NaN;
    return {
      tables: [{
        title: `${batch.trajectories.length} episodes of the base agent`,
        columns: ["positions", "tutorial", "ours"],
        rows: [
          ["with a gradient at their logits", TUTORIAL.logitPositions, found.logitPositions],
          ["policy tokens of successes", TUTORIAL.successTokens, found.successTokens],
          ["with a gradient outside the mask", TUTORIAL.outside, found.outside],
        ],
      }, {
        title: "mean norm of the gradient at the embeddings",
        columns: ["owner", "positions", "tutorial", "ours"],
        rows: found.byOwner.map(({ name, positions, mean }) => [
          name,
          positions,
          TUTORIAL.embedding[name],
          mean,
        ]),
      }],
      figures: [],
      checks: [
        {
          requirement: "the two sets of positions are equal",
          value: `${found.differing} differ of ${found.successTokens}`,
          holds: found.differing === 0 && found.successTokens > 0,
        },
        { requirement: "embedding gradient of tools above 0", value: tool, holds: tool > 0 },
      ],
      data: found,
    };
  },
};
