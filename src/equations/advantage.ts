/** Advantages: how much better than expected an episode, or what follows a token, turned out. */
import { at } from "../core/element.ts";
import { requireSizes } from "../core/shape.ts";

/** Added to a group's standard deviation where nothing else is said, so that nearly equal rewards divide by something. */
export const GROUP_STD_EPS = 1e-6;

/** Decay of the moving baseline where nothing else is said: each batch replaces a tenth of it. */
export const BASELINE_DECAY = 0.9;

/** Mean and standard deviation of the rewards of one group. */
interface Group {
  readonly size: number;
  readonly mean: number;
  /** With n − 1 in the denominator; NaN for a group of one. */
  readonly std: number;
}

/**
 * GRPO's advantage (Shao et al. 2024, arXiv:2402.03300, section 4.1.2): (r − mean) / (std + ε) of the group.
 *
 * The standard deviation has n − 1 in its denominator. A group of equal rewards gets 0, also where ε is 0.
 *
 * @param rewards_B Reward of every episode.
 * @param groupId_B Group of every episode: the episodes that share an id form a group, wherever they stand.
 * @param options.eps ε, at least 0 (default 1e-6).
 * @returns advantage_B; sums to 0 over each group, up to rounding.
 * @throws {RangeError} When the arrays differ in length, or a group has a single episode (no standard deviation).
 */
export function groupStandardizedAdvantage(
  rewards_B: ArrayLike<number>,
  groupId_B: ArrayLike<number>,
  options: { readonly eps?: number | undefined } = {},
): Float64Array {
  const { eps = GROUP_STD_EPS } = options;
  const groupOf = groupsOfTwo("groupStandardizedAdvantage", { rewards_B, groupId_B });
  return mapRewards(rewards_B, (reward, b) => {
    const { mean, std } = groupOf(b);
    return std === 0 ? 0 : (reward - mean) / (std + eps);
  });
}

/**
 * Dr. GRPO's advantage (Liu et al. 2025, arXiv:2503.20783, section 3.2): r − mean of the group, without the division that
 * favours groups of almost equal rewards.
 *
 * @param rewards_B Reward of every episode.
 * @param groupId_B Group of every episode, as in {@link groupStandardizedAdvantage}.
 * @returns advantage_B; sums to 0 over each group, up to rounding, and is 0 in a group of one.
 * @throws {RangeError} When the arrays differ in length.
 */
export function groupCenteredAdvantage(
  rewards_B: ArrayLike<number>,
  groupId_B: ArrayLike<number>,
): Float64Array {
  const groupOf = groups("groupCenteredAdvantage", { rewards_B, groupId_B });
  return mapRewards(rewards_B, (reward, b) => reward - groupOf(b).mean);
}

/**
 * RLOO's advantage (Kool et al. 2019; Ahmadian et al. 2024, arXiv:2402.14740): r − mean of the other episodes of the group.
 *
 * The baseline does not contain the episode's own reward, so it leaves the gradient unbiased; the result is
 * n / (n − 1) times {@link groupCenteredAdvantage}.
 *
 * @param rewards_B Reward of every episode.
 * @param groupId_B Group of every episode, as in {@link groupStandardizedAdvantage}.
 * @returns advantage_B; sums to 0 over each group, up to rounding.
 * @throws {RangeError} When the arrays differ in length, or a group has a single episode (no others).
 */
export function leaveOneOutAdvantage(
  rewards_B: ArrayLike<number>,
  groupId_B: ArrayLike<number>,
): Float64Array {
  const groupOf = groupsOfTwo("leaveOneOutAdvantage", { rewards_B, groupId_B });
  return mapRewards(rewards_B, (reward, b) => {
    const { size, mean } = groupOf(b);
    return (reward - mean) * size / (size - 1);
  });
}

/**
 * REINFORCE with a moving baseline (Williams 1992): r − baseline, the baseline being an exponential mean of past batches.
 *
 * The value that is subtracted is the one before the batch, so it depends on none of the batch's actions.
 *
 * @param rewards_B Reward of every episode.
 * @param baseline The baseline before the batch.
 * @param options.decay Share of the old value in the next one, from 0 to below 1 (default 0.9).
 * @returns advantage_B and the next batch's baseline, decay · baseline + (1 − decay) · mean(rewards).
 * @throws {RangeError} When the batch is empty.
 */
export function movingBaselineAdvantage(
  rewards_B: ArrayLike<number>,
  baseline: number,
  options: { readonly decay?: number | undefined } = {},
): { readonly advantage_B: Float64Array; readonly baseline: number } {
  const { decay = BASELINE_DECAY } = options;
  const B = rewards_B.length;
  if (B === 0) throw new RangeError("Cannot update the moving baseline: the batch has no episode");
  let sum = 0;
  for (let b = 0; b < B; b++) sum += at(rewards_B, b);
  return {
    advantage_B: mapRewards(rewards_B, (reward) => reward - baseline),
    baseline: decay * baseline + (1 - decay) * (sum / B),
  };
}

/** Shape of per-token rewards: B episodes of T columns. */
export interface RewardShape {
  /** B. */
  readonly episodeCount: number;
  /** T. */
  readonly columnCount: number;
}

/**
 * Total return of every episode: R[b] = Σ_t r[b, t].
 *
 * @param rewards_BT Reward that arrives with each token; 0 where there is none.
 * @returns return_B
 * @throws {RangeError} When the rewards do not fit the shape.
 */
export function totalReturn(rewards_BT: ArrayLike<number>, shape: RewardShape): Float64Array {
  const { columnCount: T, episodeCount: B } = shape;
  const toGo_BT = rewardToGo(rewards_BT, shape);
  return Float64Array.from({ length: B }, (_, b) => T === 0 ? 0 : at(toGo_BT, b * T));
}

/**
 * Reward-to-go: G[b, t] = Σ_{u ≥ t} r[b, u], without discount. A token is credited only with rewards that arrive with it
 * or after it; those before it are fixed when it is drawn and add nothing but variance.
 *
 * @param rewards_BT Reward that arrives with each token; 0 where there is none.
 * @returns toGo_BT, at every token; the loss mask decides which of them count.
 * @throws {RangeError} When the rewards do not fit the shape.
 */
export function rewardToGo(rewards_BT: ArrayLike<number>, shape: RewardShape): Float64Array {
  const { episodeCount: B, columnCount: T } = shape;
  requireSizes("rewardToGo", { rewards_BT: [rewards_BT, { B, T }] });
  const toGo_BT = new Float64Array(B * T);
  for (let b = 0; b < B; b++) {
    let toGo = 0;
    for (let t = T - 1; t >= 0; t--) toGo_BT[b * T + t] = toGo += at(rewards_BT, b * T + t);
  }
  return toGo_BT;
}

interface GroupedRewards {
  readonly rewards_B: ArrayLike<number>;
  readonly groupId_B: ArrayLike<number>;
}

function mapRewards(
  rewards_B: ArrayLike<number>,
  advantage: (reward: number, b: number) => number,
): Float64Array {
  return Float64Array.from({ length: rewards_B.length }, (_, b) => advantage(at(rewards_B, b), b));
}

/** The group of an episode, for groups of any size. */
function groups(operation: string, batch: GroupedRewards): (b: number) => Group {
  const { rewards_B, groupId_B } = batch;
  requireSizes(operation, { groupId_B: [groupId_B, { B: rewards_B.length }] });
  const rewardsOf = new Map<number, number[]>();
  for (let b = 0; b < rewards_B.length; b++) {
    const group = at(groupId_B, b);
    const rewards = rewardsOf.get(group) ?? [];
    rewards.push(at(rewards_B, b));
    rewardsOf.set(group, rewards);
  }
  const groupById = new Map([...rewardsOf].map(([id, rewards]) => [id, summarize(rewards)]));
  return (b) => groupById.get(at(groupId_B, b)) ?? summarize([]);
}

/** The group of an episode, for statistics that need two episodes or more. */
function groupsOfTwo(operation: string, batch: GroupedRewards): (b: number) => Group {
  const groupOf = groups(operation, batch);
  for (let b = 0; b < batch.rewards_B.length; b++) {
    if (groupOf(b).size >= 2) continue;
    throw new RangeError(
      `Cannot compute ${operation}: group ${batch.groupId_B[b]} has 1 episode but needs at least 2`,
    );
  }
  return groupOf;
}

function summarize(rewards: readonly number[]): Group {
  const size = rewards.length;
  // Equal rewards must have exactly 0 advantage; their rounded mean may differ from them (three times 0.1, for one).
  const [first = NaN] = rewards;
  if (rewards.every((reward) => reward === first)) {
    return { size, mean: first, std: size > 1 ? 0 : NaN };
  }
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / size;
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  return { size, mean, std: Math.sqrt(squares / (size - 1)) };
}
