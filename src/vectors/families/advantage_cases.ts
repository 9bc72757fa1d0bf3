/** Cases of the family `advantages`: group sizes from 1 to 16, flat, uneven, interleaved, tiny and large rewards. */
import { lattice, type VectorCase } from "../family.ts";
import { row } from "../values.ts";

function advantageCase(
  id: string,
  about: string,
  rest: {
    readonly reward: readonly number[];
    readonly group: readonly number[];
    readonly isEdge?: true;
    readonly sameAs?: string;
  },
): VectorCase {
  const { reward, group, ...others } = rest;
  // By group and place only, so that a permuted batch has the same.
  const greedyReward = group.map((g) => (g % 3) / 2);
  const length = reward.map((value, b) =>
    1 + ((group[b] ?? 0) * 5 + Math.round(Math.abs(value) * 64)) % 9
  );
  return {
    id,
    about,
    inputs: {
      reward: row(reward.map(Math.fround)),
      group: row(group),
      greedyReward: row(greedyReward),
      length: row(length),
    },
    config: {},
    ...others,
  };
}

const blocks = (sizes: readonly number[]) =>
  sizes.flatMap((size, g) => Array.from({ length: size }, () => g));

const UNEVEN = blocks([2, 5, 3, 4]);
const UNEVEN_REWARD = lattice(14, { seed: 21, low: -1, high: 2 });
const ORDER = [3, 11, 0, 7, 13, 5, 9, 1, 12, 6, 2, 10, 4, 8];

const byGroup = (size: number, seed: number) =>
  advantageCase(`groups_of_${size}`, `two groups of ${size} with rewards of all kinds`, {
    reward: lattice(2 * size, { seed, low: -1, high: 2 }),
    group: blocks([size, size]),
  });

/** The cases. */
export const ADVANTAGE_CASES: readonly VectorCase[] = [
  advantageCase("binary", "rewards of 0 and 1, two groups of four", {
    reward: [1, 0, 0, 0, 1, 1, 0, 1],
    group: blocks([4, 4]),
  }),
  byGroup(2, 11),
  byGroup(3, 12),
  byGroup(5, 13),
  byGroup(8, 14),
  byGroup(16, 15),
  advantageCase("uneven", "groups of 2, 5, 3 and 4", { reward: UNEVEN_REWARD, group: UNEVEN }),
  advantageCase("interleaved", "uneven with its episodes in another order", {
    reward: ORDER.map((b) => UNEVEN_REWARD[b] ?? 0),
    group: ORDER.map((b) => UNEVEN[b] ?? 0),
    sameAs: "uneven",
  }),
  advantageCase("flat", "one group of equal rewards, one that differs", {
    reward: [0.5, 0.5, 0.5, 0.5, 1, 0, 0, 1],
    group: blocks([4, 4]),
  }),
  advantageCase("near_flat_1e-4", "a group whose standard deviation is about 1e-4", {
    reward: [0, 1e-4, 2e-4, 1e-4, 1, 0, 0, 0.5],
    group: blocks([4, 4]),
  }),
  advantageCase("near_flat_1e-7", "two groups whose standard deviations are about 1e-7", {
    reward: [0, 1e-7, 3e-7, 1e-7, 2e-7, 0],
    group: blocks([4, 2]),
  }),
  advantageCase("alone", "a group of one between two of three", {
    reward: [0.25, 1, -0.5, 0.75, 2, 0, 1],
    group: [0, 0, 0, 1, 2, 2, 2],
  }),
  advantageCase("large", "rewards in the thousands, of both signs", {
    reward: [1500, -750, 3000, 200, -100, 4000],
    group: blocks([3, 3]),
  }),
  advantageCase("negative", "penalties only", {
    reward: [-1, -0.5, -2, -0.25, -1, -3],
    group: blocks([3, 3]),
  }),
];
