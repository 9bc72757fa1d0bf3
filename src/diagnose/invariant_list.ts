/** The invariants as data: nine of the tutorial, then the sign of the entropy term and the layout of the groups. */
import { at } from "../core/element.ts";
import { mean, sampleVariance } from "../core/statistics.ts";
import { OWNER } from "../core/owner.ts";
import { klTerm } from "../equations/policy_loss.ts";
import { groupStandardizedAdvantage } from "../equations/advantage.ts";
import type { Evidence, Invariant, Measured } from "./invariant.ts";

/** Rounding of sums of f32 numbers of size 1, with room: the largest group and loss of this project stay below 1e-6. */
const F32_SUM_TOLERANCE = 1e-5;

/** Relative error of a gradient that is summed in another order, with room: f32 gives about 1e-6 here. */
const GRADIENT_TOLERANCE = 1e-4;

/** Rounding of an f32 log-prob of a few nats: what moves by less has not moved. */
const LOGP_ROUNDING = 1e-6;

/** A gradient of this norm is too small for f32 weights, whatever the optimizer makes of it. */
const NO_GRADIENT = 1e-6;

const UNGROUPED = { notApplicable: "the algorithm has no groups", lack: "setting" } as const;

const UNMOVED = {
  notApplicable: "the update moves no log-prob of the policy: the batch has no signal",
  lack: "batch",
} as const;

/** Visits every cell of the grid. */
function forEachCell(
  { trainer, inputs }: Evidence,
  visit: (cell: { readonly index: number; readonly owned: boolean; readonly logp: number }) => void,
): void {
  const { columnCount: C } = inputs;
  trainer.episodes.forEach(({ owners, logps }, b) => {
    for (let t = 0; t < C; t++) {
      // The record of a cell behind the episode's end is 0, as it is on a grid.
      visit({ index: b * C + t, owned: owners[t + 1] === OWNER.policy, logp: logps[t + 1] ?? 0 });
    }
  });
}

/** The largest number, or NaN where there is one. */
function largest(values: Iterable<number>): number {
  let result = 0;
  for (const value of values) result = Math.max(result, value);
  return result;
}

function strayCells(evidence: Evidence): number {
  let count = 0;
  forEachCell(evidence, ({ index, owned }) => {
    if (evidence.inputs.mask_BC[index] !== Number(owned)) count++;
  });
  return count;
}

function samplerGap(evidence: Evidence): number {
  const { mask_BC, logp_BC } = evidence.inputs;
  let gap = 0;
  forEachCell(evidence, ({ index, logp }) => {
    if ((mask_BC[index] ?? 0) > 0) gap = Math.max(gap, Math.abs((logp_BC[index] ?? NaN) - logp));
  });
  return gap;
}

function ratioError({ inputs: { mask_BC, logp_BC, oldLogp_BC } }: Evidence): number {
  return largest(
    Array.from(
      mask_BC,
      (trained, i) =>
        trained > 0 ? Math.abs(Math.exp((logp_BC[i] ?? NaN) - (oldLogp_BC[i] ?? NaN)) - 1) : 0,
    ),
  );
}

function groupMeans(values_B: ArrayLike<number>, groupId_B: readonly number[]): number[] {
  const valuesOf = new Map<number, number[]>();
  groupId_B.forEach((id, b) => valuesOf.set(id, [...valuesOf.get(id) ?? [], values_B[b] ?? NaN]));
  return [...valuesOf.values()].map(mean);
}

/** ‖a − b‖ / ‖b‖; 0 where both are 0. */
function relativeError(a_W: ArrayLike<number>, b_W: ArrayLike<number>): number {
  let difference = 0, norm = 0;
  for (let w = 0; w < b_W.length; w++) {
    const b = b_W[w] ?? NaN;
    difference += ((a_W[w] ?? NaN) - b) ** 2;
    norm += b ** 2;
  }
  return difference === 0 ? 0 : Math.sqrt(difference / norm);
}

function norm(values_W: ArrayLike<number>): number {
  return Math.sqrt(Array.from(values_W).reduce((sum, value) => sum + value ** 2, 0));
}

/** What rounding alone may change in a log-prob. */
function roundingOf({ trainer: { logpTolerance } }: Evidence): number {
  return Math.max(logpTolerance, LOGP_ROUNDING);
}

/** How much the update changed a log-prob; NaN where one of the two is missing. */
function change({ inputs, update }: Evidence, index: number): number {
  return (update.logp_BC[index] ?? NaN) - (inputs.logp_BC[index] ?? NaN);
}

/** True where the update changed no policy token's log-prob. Written so that NaN counts as a change. */
function isUnmoved(evidence: Evidence): boolean {
  let moved = 0;
  forEachCell(evidence, ({ index, owned }) => {
    if (owned) moved = Math.max(moved, Math.abs(change(evidence, index)));
  });
  return moved <= roundingOf(evidence);
}

/** True where no minibatch of the update saw a policy that had moved, so that every ratio was 1 anyway. */
function isUnmovedWithin(evidence: Evidence): boolean {
  const { largestGap = Infinity } = evidence.update;
  return largestGap <= roundingOf(evidence) || isUnmoved(evidence);
}

/** How much likelier the update made each episode, in nats: the change of its policy tokens' summed log-prob. */
function episodeMoves(evidence: Evidence): number[] {
  const { inputs, trainer } = evidence;
  const move_B = trainer.episodes.map(() => 0);
  forEachCell(evidence, ({ index, owned }) => {
    if (!owned) return;
    const b = Math.floor(index / inputs.columnCount);
    move_B[b] = (move_B[b] ?? NaN) + change(evidence, index);
  });
  return move_B;
}

/** The problem of each episode as a number. */
function ownGroups({ episodes }: Evidence["trainer"]): number[] {
  const problems = [...new Set(episodes.map(({ problem }) => problem))];
  return episodes.map(({ problem }) => problems.indexOf(problem));
}

/**
 * What the advantages should be, from rewards alone, so that a wrong sign in the trainer shows. A baseline that all
 * episodes share leaves a correlation as it is, so without groups the rewards will do. An episode that is alone with its
 * problem has nothing to be compared with, and gets 0.
 */
function rightAdvantages({ trainer }: Evidence): ArrayLike<number> {
  const rewards_B = trainer.episodes.map(({ reward }) => reward);
  if (!trainer.groupId_B) return rewards_B;
  const groupId_B = ownGroups(trainer);
  const compared = groupId_B.flatMap((id, b) =>
    groupId_B.some((other, c) => other === id && c !== b) ? [b] : []
  );
  const advantage_B = new Float64Array(rewards_B.length);
  groupStandardizedAdvantage(
    compared.map((b) => at(rewards_B, b)),
    compared.map((b) => at(groupId_B, b)),
  ).forEach((advantage, i) => advantage_B[at(compared, i)] = advantage);
  return advantage_B;
}

/** Whether the update follows the advantages, or why the batch cannot tell. */
function measureDirection(evidence: Evidence): Measured {
  const advantage_B = rightAdvantages(evidence);
  if (new Set(Array.from(advantage_B)).size < 2) {
    return {
      notApplicable: "all advantages are equal: the batch has no direction",
      lack: "batch",
    };
  }
  if (isUnmoved(evidence)) {
    const gradient = norm(evidence.onePass_W);
    if (gradient <= NO_GRADIENT) return UNMOVED;
    return {
      value: NaN,
      reason: `the gradient has a norm of ${gradient.toPrecision(3)} but no log-prob moves`,
    };
  }
  const move_B = episodeMoves(evidence);
  if (Math.max(...move_B) - Math.min(...move_B) <= roundingOf(evidence)) {
    return {
      notApplicable: "every episode moves alike: the batch has no direction",
      lack: "batch",
    };
  }
  return {
    value: correlation(move_B, advantage_B),
    reason: "correlation of the advantage with the change of log π of the episode",
  };
}

/** Pearson's correlation. */
function correlation(x_B: ArrayLike<number>, y_B: ArrayLike<number>): number {
  const [meanX, meanY] = [mean(x_B), mean(y_B)];
  const products = Array.from(x_B, (x, b) => (x - meanX) * ((y_B[b] ?? NaN) - meanY));
  return products.reduce((sum, product) => sum + product, 0) / (products.length - 1) /
    Math.sqrt(sampleVariance(x_B) * sampleVariance(y_B));
}

function meanReferenceKl(evidence: Evidence, referenceLogp_BC: ArrayLike<number>): number {
  const terms: number[] = [];
  forEachCell(evidence, ({ index, owned }) => {
    if (!owned) return;
    const logp = evidence.update.logp_BC[index] ?? NaN;
    terms.push(klTerm("k3", logp - (referenceLogp_BC[index] ?? NaN)).value);
  });
  return mean(terms);
}

/** Half of the square of a difference: the k3 estimate of two log-probs that differ by it. */
const klOfTolerance = (logpTolerance: number) => logpTolerance ** 2 / 2;

/** The nine invariants under the tutorial's numbers, then further ones. */
export const INVARIANTS: readonly Invariant[] = [
  {
    id: 1,
    key: "policy_mask",
    name: "mask = policy tokens",
    relation: "<=",
    bound: () => 0,
    boundReason: "a mask is right or wrong",
    measure: (evidence) => ({
      value: strayCells(evidence),
      reason: "cells where the loss mask differs from the owners of the tokens",
    }),
  },
  {
    id: 2,
    key: "sampler_is_trainer",
    name: "sampler = trainer log-prob",
    relation: "<=",
    bound: (logpTolerance) => logpTolerance,
    boundReason: "what rounding may change between sampler and trainer (on one adapter: nothing)",
    measure: (evidence) => ({
      value: samplerGap(evidence),
      reason: "largest |trainer − sampler| of a trained token, in nats",
    }),
  },
  {
    id: 3,
    key: "ratio_one_before_step",
    name: "ratio = 1 before any step",
    relation: "<=",
    bound: (logpTolerance) => logpTolerance,
    boundReason: "a ratio differs from 1 as much as its two log-probs differ",
    measure: (evidence) => ({
      value: ratioError(evidence),
      reason: "largest |π / π_old − 1| of a trained token",
    }),
  },
  {
    id: 4,
    key: "group_mean_zero",
    name: "group advantage mean = 0",
    relation: "<=",
    bound: () => F32_SUM_TOLERANCE,
    boundReason: "rounding of a mean of f32 advantages",
    measure: ({ trainer: { groupId_B }, inputs }) =>
      groupId_B
        ? {
          value: largest(groupMeans(inputs.advantage_B, groupId_B).map(Math.abs)),
          reason: "largest |mean advantage| of a group as the trainer lays groups out",
        }
        : UNGROUPED,
  },
  {
    id: 5,
    key: "padding_invariant",
    name: "loss invariant to padding",
    relation: "<=",
    bound: () => F32_SUM_TOLERANCE,
    boundReason: "rounding of a sum of f32 terms in another order",
    measure: ({ inputs, padded }) => {
      if (Math.max(Math.abs(inputs.loss), Math.abs(padded.loss)) <= F32_SUM_TOLERANCE) {
        return {
          notApplicable: "the loss is 0 up to rounding, whatever padding does to its terms",
          lack: "batch",
        };
      }
      const columnCount = padded.columnCount - inputs.columnCount;
      return {
        value: Math.abs(padded.loss - inputs.loss),
        reason: `change of the loss by ${columnCount} columns of padding`,
      };
    },
  },
  {
    id: 6,
    key: "accumulated_is_one_pass",
    name: "accumulated = one-pass gradient",
    relation: "<=",
    bound: () => GRADIENT_TOLERANCE,
    boundReason: "rounding of f32 gradients that are summed in another order",
    measure: ({ accumulated_W, onePass_W }) =>
      norm(accumulated_W) === 0 && norm(onePass_W) === 0
        ? { notApplicable: "the gradient is 0, however the batch is cut", lack: "batch" }
        : {
          value: relativeError(accumulated_W, onePass_W),
          reason: "norm of the difference over the norm of the one-pass gradient",
        },
  },
  {
    id: 7,
    key: "old_logp_frozen",
    name: "old_logp frozen in the update",
    relation: ">",
    bound: klOfTolerance,
    boundReason: "log-probs that are recomputed differ by rounding alone",
    measure: (evidence) => {
      if (evidence.trainer.stepsPerUpdate <= 1) {
        return {
          notApplicable: "an update is one step, before which the ratio is 1 anyway",
          lack: "setting",
        };
      }
      if (isUnmovedWithin(evidence)) {
        return {
          notApplicable:
            "no minibatch comes after one that moved the policy: every ratio is 1 anyway",
          lack: "batch",
        };
      }
      return { value: evidence.update.approxKl, reason: "approx_kl over the update, in nats" };
    },
  },
  {
    id: 8,
    key: "update_follows_advantage",
    name: "update raises log π where A > 0",
    relation: ">",
    bound: () => 0,
    boundReason: "a clipped step follows the advantages in sign, not in size",
    measure: measureDirection,
  },
  {
    id: 9,
    key: "reference_stays_behind",
    name: "KL to the reference > 0 after a step",
    relation: ">",
    bound: klOfTolerance,
    boundReason: "a frozen reference stays behind, a live one differs by rounding alone",
    measure: (evidence) => {
      const { referenceLogp_BC } = evidence.update;
      if (!referenceLogp_BC) {
        return { notApplicable: "the loss has no KL term", lack: "setting" };
      }
      if (isUnmoved(evidence)) return UNMOVED;
      return {
        value: meanReferenceKl(evidence, referenceLogp_BC),
        reason: "mean k3 estimate over the policy's tokens, in nats",
      };
    },
  },
  {
    id: 10,
    key: "no_signal_no_change",
    name: "no signal, no change",
    relation: "<=",
    bound: () => 0,
    boundReason: "a gradient of 0 moves no weight when the optimizer is fresh",
    measure: ({ movement }) => ({
      value: movement,
      reason:
        "largest change of a weight by an update with advantages, KL and entropy coefficients 0",
    }),
  },
  {
    id: 11,
    key: "own_group_advantages",
    name: "advantages of each problem's own group",
    relation: "<=",
    bound: () => F32_SUM_TOLERANCE,
    boundReason: "rounding of f32 advantages",
    measure: ({ trainer, inputs: { advantage_B } }) => {
      if (!trainer.groupId_B) return UNGROUPED;
      const own_B = trainer.advantages(ownGroups(trainer));
      const value = largest(Array.from(own_B, (own, b) => Math.abs(own - (advantage_B[b] ?? NaN))));
      if (value === 0 && new Set(trainer.episodes.map(({ reward }) => reward)).size < 2) {
        return { notApplicable: "all rewards are equal, whatever the groups", lack: "batch" };
      }
      return {
        value,
        reason: "largest change of an advantage when each problem is made a group",
      };
    },
  },
];

/** The key of an invariant; its number where a file tells of one that this version does not know. */
export function invariantKey(id: number): string {
  return INVARIANTS.find((invariant) => invariant.id === id)?.key ?? `invariant_${id}`;
}
