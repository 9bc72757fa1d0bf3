/** An invariant: within a group, equal rewards earn equal advantages, whatever the normalisation. */
import type { Invariant } from "../../../src/diagnose/invariant.ts";
import { smallest } from "../../../src/core/statistics.ts";
import { F32_SUM_TOLERANCE, largest, UNGROUPED } from "../../../src/diagnose/measurements.ts";

/** Nineteen is the first number that is free. */
export const EQUAL_REWARDS: Invariant = {
  id: 19,
  key: "equal_rewards_equal_advantages",
  name: "equal rewards, equal advantages",
  relation: "<=",
  bound: () => F32_SUM_TOLERANCE,
  boundReason: "rounding of f32 advantages",
  measure({ trainer: { episodes, groupId_B }, inputs: { advantage_B } }) {
    if (!groupId_B) return UNGROUPED;
    const advantagesOf = new Map<string, number[]>();
    episodes.forEach(({ reward }, b) => {
      const same = `${groupId_B[b]} ${reward}`;
      advantagesOf.set(same, [...advantagesOf.get(same) ?? [], advantage_B[b] ?? NaN]);
    });
    const compared = [...advantagesOf.values()].filter(({ length }) => length > 1);
    if (compared.length === 0) {
      return { notApplicable: "no two episodes of a group earned the same", lack: "batch" };
    }
    return {
      value: largest(compared.map((values) => largest(values) - smallest(values))),
      reason: "largest difference of advantages that the same reward earned in a group",
    };
  },
};
