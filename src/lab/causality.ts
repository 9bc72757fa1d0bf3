/** Experiment `causality`: a token is credited with what comes after it, and the past adds nothing but noise. */
import { CompiledEnvironment } from "../gym/compiled.ts";
import type { CallBody } from "../gym/calls.ts";
import { scriptedEpisode } from "../gym/scripted.ts";
import { makeTasks } from "../gym/tasks.ts";
import { OWNER } from "../core/owner.ts";
import { rewardToGo, totalReturn } from "../equations/advantage.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import { compiledGym, probeEpisodes } from "./agents.ts";
import { probeNorms } from "./baselines_agent.ts";
import { EpisodeGradients, scaledMask } from "./episode_gradients.ts";
import type { Experiment, LabContext } from "./experiment.ts";

/** What a call costs. */
const CALL_COST = 0.1;

const TUTORIAL = {
  toGo: [0.6, 0.7, 0.8, 0.9],
  variance: { total: 104.9, toGo: 60.2, reduction: 0.43 },
} as const;

/** A passing episode of four calls, on `clamp`, whose bug is the order of min and max. */
const FOUR_CALLS: readonly CallBody[] = [
  "edit add_zero_guard",
  "edit swap_minmax",
  "edit fix_range_end",
  "submit",
];

/**
 * Rewards of the tokens behind the first one: −0.1 with the last token of every call, and the outcome with the last token
 * of the last call.
 *
 * @param owners The owner of each token, [T].
 * @param outcome The episode's reward.
 * @returns rewards, [T − 1]; entry t is about the token at position t + 1.
 */
export function stepCostRewards(owners: ArrayLike<number>, outcome: number): number[] {
  const isPolicy = (t: number) => owners[t] === OWNER.policy;
  const tokens = Array.from({ length: owners.length - 1 }, (_, t) => t + 1);
  const ends = tokens.map((t) => isPolicy(t) && !isPolicy(t + 1));
  const last = ends.lastIndexOf(true);
  return ends.map((ends, t) => (ends ? -CALL_COST : 0) + (t === last ? outcome : 0));
}

/** The rewards of a batch on its [B, C] grid. */
function rewardGrid({ trajectories, packed: { columnCount } }: TrainBatch): Float64Array {
  const rewards_BC = new Float64Array(trajectories.length * columnCount);
  trajectories.forEach(({ owners, reward }, b) =>
    rewards_BC.set(stepCostRewards(owners, reward), b * columnCount)
  );
  return rewards_BC;
}

/** Reward-to-go at the first token of each call of the episode of four calls. */
export async function fourCalls(context: LabContext) {
  const environment = new CompiledEnvironment(await compiledGym(context, "chapter6"));
  const { owners, reward } = await scriptedEpisode(({ turn }) => FOUR_CALLS[turn], {
    environment,
    task: makeTasks("all").findIndex(({ name }) => name === "clamp"),
    uniform: () => 0, // The script draws nothing.
  });
  const rewards = stepCostRewards(owners, reward);
  const toGo = rewardToGo(rewards, { episodeCount: 1, columnCount: rewards.length });
  const starts = rewards.map((_, t) => t).filter((t) =>
    owners[t + 1] === OWNER.policy && owners[t] !== OWNER.policy
  );
  return starts.map((t) => toGo[t]);
}

/** Total variance of the estimates with the total return and with the reward-to-go. */
async function measureVariances(context: LabContext) {
  const { weights_W, batch } = await probeEpisodes(context);
  const squaredNorms_B = await probeNorms(context);
  const { episodeCount, columnCount } = batch.packed;
  const shape = { episodeCount, columnCount };
  const rewards_BC = rewardGrid(batch);
  const total_B = totalReturn(rewards_BC, shape);
  const toGo_BC = rewardToGo(rewards_BC, shape).map((g, i) => g * batch.policyMask_BC[i]);
  const gradients = new EpisodeGradients(context.commands, weights_W, batch);
  const total = await gradients.totalVariance(scaledMask(batch, total_B), {
    squaredNorms_B: squaredNorms_B.map((square, b) => total_B[b] ** 2 * square),
  });
  const toGo = await gradients.totalVariance(toGo_BC, {
    onProgress: (done) =>
      context.progress(`reward-to-go: episode ${done} of ${episodeCount}`, done / episodeCount),
  });
  gradients.destroy();
  return { total, toGo, reduction: 1 - toGo / total };
}

/** The variance of the estimate with rewards-to-go beside that with total returns. */
export const CAUSALITY: Experiment = {
  name: "causality",
  title: "Causality: reward-to-go instead of the total return",
  shows:
    "With a cost of 0.1 a call, a call is charged for itself and the calls after it, not for those before it. " +
    "Dropping the past from every token's weight changes no expectation and lowers the variance.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 4,
  run: async (context) => {
    const toGo = await fourCalls(context);
    const variance = await measureVariances(context);
    const printed = toGo.map((g) => g.toFixed(2));
    return {
      tables: [{
        title: "reward-to-go at the first token of each call of a passing episode",
        columns: ["call", "tutorial", "ours"],
        rows: FOUR_CALLS.map((call, i) => [call, TUTORIAL.toGo[i], toGo[i]]),
      }, {
        title: "total variance over the episodes of the base agent",
        columns: ["weight of a token", "tutorial", "ours"],
        rows: [
          ["total return", TUTORIAL.variance.total, variance.total],
          ["reward-to-go", TUTORIAL.variance.toGo, variance.toGo],
          ["reduction", TUTORIAL.variance.reduction, variance.reduction],
        ],
      }],
      figures: [],
      checks: [
        {
          requirement: "0.60, 0.70, 0.80 and 0.90, exactly",
          value: printed.join(" "),
          holds: printed.join() === TUTORIAL.toGo.map((g) => g.toFixed(2)).join(),
        },
        {
          requirement: "the variance falls by at least 20 %",
          value: variance.reduction,
          holds: variance.reduction >= 0.2,
        },
      ],
      data: { toGo, variance },
    };
  },
};
