/** What the invariants measure on the material of a trainer, and when a batch cannot tell. */
import { at } from "../core/element.ts";
import { mean, sampleVariance } from "../core/statistics.ts";
import { OWNER } from "../core/owner.ts";
import { klTerm } from "../equations/policy_loss.ts";
import { groupStandardizedAdvantage } from "../equations/advantage.ts";
import type { CheckMaterial, Measured } from "./invariant.ts";

/** Rounding of sums of f32 numbers of size 1, with room: the largest group and loss of this project stay below 1e-6. */
export const F32_SUM_TOLERANCE = 1e-5;

/** Relative error of a gradient that is summed in another order, with room: f32 gives about 1e-6 here. */
export const GRADIENT_TOLERANCE = 1e-4;

/** Rounding of an f32 log-prob of a few nats: what moves by less has not moved. */
const LOGP_ROUNDING = 1e-6;

/** A gradient of this norm is too small for f32 weights, whatever the optimizer makes of it. */
const NO_GRADIENT = 1e-6;

/** Of a trainer whose advantages know no groups. */
export const UNGROUPED = { notApplicable: "the algorithm has no groups", lack: "setting" } as const;

/** Of an update that leaves the policy where it was. */
export const UNMOVED = {
  notApplicable: "the update moves no log-prob of the policy: the batch has no signal",
  lack: "batch",
} as const;

/** Visits every cell of the grid. */
export function forEachCell(
  { trainer, inputs }: CheckMaterial,
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
export function largest(values: Iterable<number>): number {
  let result = 0;
  for (const value of values) result = Math.max(result, value);
  return result;
}

/** Cells where the loss mask differs from the owners of the tokens. */
export function strayCells(material: CheckMaterial): number {
  let count = 0;
  forEachCell(material, ({ index, owned }) => {
    if (material.inputs.mask_BC[index] !== Number(owned)) count++;
  });
  return count;
}

/** Largest |trainer − sampler| log-prob of a trained token, in nats. */
export function samplerGap(material: CheckMaterial): number {
  const { mask_BC, logp_BC } = material.inputs;
  let gap = 0;
  forEachCell(material, ({ index, logp }) => {
    if ((mask_BC[index] ?? 0) > 0) gap = Math.max(gap, Math.abs((logp_BC[index] ?? NaN) - logp));
  });
  return gap;
}

/** Largest |π / π_old − 1| of a trained token. */
export function ratioError({ inputs: { mask_BC, logp_BC, oldLogp_BC } }: CheckMaterial): number {
  return largest(
    Array.from(
      mask_BC,
      (trained, i) =>
        trained > 0 ? Math.abs(Math.exp((logp_BC[i] ?? NaN) - (oldLogp_BC[i] ?? NaN)) - 1) : 0,
    ),
  );
}

/** Mean of the values of each group. */
export function groupMeans(values_B: ArrayLike<number>, groupId_B: readonly number[]): number[] {
  const valuesOf = new Map<number, number[]>();
  groupId_B.forEach((id, b) => valuesOf.set(id, [...valuesOf.get(id) ?? [], values_B[b] ?? NaN]));
  return [...valuesOf.values()].map(mean);
}

/** ‖a − b‖ / ‖b‖; 0 where both are 0. */
export function relativeError(a_W: ArrayLike<number>, b_W: ArrayLike<number>): number {
  let difference = 0, norm = 0;
  for (let w = 0; w < b_W.length; w++) {
    const b = b_W[w] ?? NaN;
    difference += ((a_W[w] ?? NaN) - b) ** 2;
    norm += b ** 2;
  }
  return difference === 0 ? 0 : Math.sqrt(difference / norm);
}

/** ‖values‖. */
export function norm(values_W: ArrayLike<number>): number {
  return Math.sqrt(Array.from(values_W).reduce((sum, value) => sum + value ** 2, 0));
}

/** What padding changes: the loss, or where its terms cancel, and so hide what padding does to them, its gradient. */
export function measurePadding({ inputs, padded }: CheckMaterial): Measured {
  const columns = `${padded.columnCount - inputs.columnCount} columns of padding`;
  if (!(Math.max(Math.abs(inputs.loss), Math.abs(padded.loss)) <= F32_SUM_TOLERANCE)) {
    return {
      value: Math.abs(padded.loss - inputs.loss),
      reason: `change of the loss by ${columns}`,
    };
  }
  const { gradient_W: own_W } = inputs;
  const { gradient_W: padded_W } = padded;
  if (!own_W || !padded_W || (norm(own_W) === 0 && norm(padded_W) === 0)) {
    return {
      notApplicable: "the loss is 0 up to rounding, whatever padding does to its terms",
      lack: "batch",
    };
  }
  return {
    value: relativeError(padded_W, own_W),
    reason: `change of the gradient by ${columns}, over its norm; the loss is 0 up to rounding`,
    bound: GRADIENT_TOLERANCE,
  };
}

/** What rounding alone may change in a log-prob. */
function roundingOf({ trainer: { logpTolerance } }: CheckMaterial): number {
  return Math.max(logpTolerance, LOGP_ROUNDING);
}

/** How much the update changed a log-prob; NaN where one of the two is missing. */
function change({ inputs, update }: CheckMaterial, index: number): number {
  return (update.logp_BC[index] ?? NaN) - (inputs.logp_BC[index] ?? NaN);
}

/** True where the update changed no policy token's log-prob. Written so that NaN counts as a change. */
export function isUnmoved(material: CheckMaterial): boolean {
  let moved = 0;
  forEachCell(material, ({ index, owned }) => {
    if (owned) moved = Math.max(moved, Math.abs(change(material, index)));
  });
  return moved <= roundingOf(material);
}

/** True where no minibatch of the update saw a policy that had moved, so that every ratio was 1 anyway. */
export function isUnmovedWithin(material: CheckMaterial): boolean {
  const { largestGap = Infinity } = material.update;
  return largestGap <= roundingOf(material) || isUnmoved(material);
}

/** How much likelier the update made each episode, in nats: the change of its policy tokens' summed log-prob. */
export function episodeMoves(material: CheckMaterial): number[] {
  const { inputs, trainer } = material;
  const move_B = trainer.episodes.map(() => 0);
  forEachCell(material, ({ index, owned }) => {
    if (!owned) return;
    const b = Math.floor(index / inputs.columnCount);
    move_B[b] = (move_B[b] ?? NaN) + change(material, index);
  });
  return move_B;
}

/** The problem of each episode as a number. */
export function ownGroups({ episodes }: CheckMaterial["trainer"]): number[] {
  const problems = [...new Set(episodes.map(({ problem }) => problem))];
  return episodes.map(({ problem }) => problems.indexOf(problem));
}

/**
 * What the advantages should be, from rewards alone, so that a wrong sign in the trainer shows. A baseline that all
 * episodes share leaves a correlation as it is, so without groups the rewards will do. An episode that is alone with its
 * problem has nothing to be compared with, and gets 0.
 */
export function rightAdvantages({ trainer }: CheckMaterial): ArrayLike<number> {
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
export function measureDirection(material: CheckMaterial): Measured {
  const advantage_B = rightAdvantages(material);
  if (new Set(Array.from(advantage_B)).size < 2) {
    return {
      notApplicable: "all advantages are equal: the batch has no direction",
      lack: "batch",
    };
  }
  if (isUnmoved(material)) {
    const gradient = norm(material.onePass_W);
    if (gradient <= NO_GRADIENT) return UNMOVED;
    return {
      value: NaN,
      reason: `the gradient has a norm of ${gradient.toPrecision(3)} but no log-prob moves`,
    };
  }
  const move_B = episodeMoves(material);
  if (Math.max(...move_B) - Math.min(...move_B) <= roundingOf(material)) {
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

/** Mean k3 estimate of the KL to the reference over the policy's tokens, in nats. */
export function meanReferenceKl(
  material: CheckMaterial,
  referenceLogp_BC: ArrayLike<number>,
): number {
  const terms: number[] = [];
  forEachCell(material, ({ index, owned }) => {
    if (!owned) return;
    const logp = material.update.logp_BC[index] ?? NaN;
    terms.push(klTerm("k3", logp - (referenceLogp_BC[index] ?? NaN)).value);
  });
  return mean(terms);
}

/** Half of the square of a difference: the k3 estimate of two log-probs that differ by it. */
export const klOfTolerance = (logpTolerance: number) => logpTolerance ** 2 / 2;
