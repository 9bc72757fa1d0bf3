/** The invariants as data: nine of the tutorial, then those that other faults asked for. */
import { DATA_INVARIANTS } from "./data_invariants.ts";
import type { Invariant } from "./invariant.ts";
import {
  F32_SUM_TOLERANCE,
  GRADIENT_TOLERANCE,
  groupMeans,
  isUnmoved,
  isUnmovedWithin,
  klOfTolerance,
  largest,
  meanReferenceKl,
  measureDirection,
  measurePadding,
  norm,
  ownGroups,
  ratioError,
  relativeError,
  samplerGap,
  strayCells,
  UNGROUPED,
  UNMOVED,
} from "./measurements.ts";
import { UPDATE_INVARIANTS } from "./update_invariants.ts";

/** The nine invariants under the tutorial's numbers, then further ones. */
export const INVARIANTS: readonly Invariant[] = [
  {
    id: 1,
    key: "policy_mask",
    name: "mask = policy tokens",
    relation: "<=",
    bound: () => 0,
    boundReason: "a mask is right or wrong",
    measure: (material) => ({
      value: strayCells(material),
      reason: "cells where the loss mask differs from the owners of the tokens",
    }),
  },
  {
    id: 2,
    key: "sampler_is_trainer",
    name: "sampler = trainer log-prob",
    relation: "<=",
    bound: (logpTolerance) => logpTolerance,
    boundReason:
      "what rounding may change between sampler and trainer (0: they have the same bits)",
    measure: (material) => ({
      value: samplerGap(material),
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
    measure: (material) => ({
      value: ratioError(material),
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
    measure: measurePadding,
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
    measure: (material) => {
      if (material.trainer.stepsPerUpdate <= 1) {
        return {
          notApplicable: "an update is one step, before which the ratio is 1 anyway",
          lack: "setting",
        };
      }
      if (isUnmovedWithin(material)) {
        return {
          notApplicable:
            "no minibatch comes after one that moved the policy: every ratio is 1 anyway",
          lack: "batch",
        };
      }
      return { value: material.update.approxKl, reason: "approx_kl over the update, in nats" };
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
    measure: (material) => {
      const { referenceLogp_BC } = material.update;
      if (!referenceLogp_BC) {
        return { notApplicable: "the loss has no KL term", lack: "setting" };
      }
      if (isUnmoved(material)) return UNMOVED;
      return {
        value: meanReferenceKl(material, referenceLogp_BC),
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
  ...[...DATA_INVARIANTS, ...UPDATE_INVARIANTS].sort((a, b) => a.id - b.id),
];

/** The key of an invariant; its number where a file tells of one that this version does not know. */
export function invariantKey(id: number): string {
  return INVARIANTS.find((invariant) => invariant.id === id)?.key ?? `invariant_${id}`;
}
