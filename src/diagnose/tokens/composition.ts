/** `group_size_wrong`, `group_of_one`, `same_reward_different_advantage`, and groups of several prompts: who is in a group. */
import type { Finding } from "../finding.ts";
import type { GroupContext, GroupRule } from "./group_context.ts";
import { isCentred, isNear, sizeOf } from "./lines.ts";
import { type Group, type GroupSample, nameOf, sampleWitness } from "./samples.ts";
import { greatest, notCheckable, shownBy } from "./token_check.ts";
import { countOf, say } from "./words.ts";

const SIZE = "group_size_wrong";
const ONE = "group_of_one";
const SAME = "same_reward_different_advantage";
const MERGED = "groups_merged";

/** True where a group has all of its samples, as far as the dump tells. */
const hasAdvantages = ({ samples }: Group) =>
  samples.every(({ advantage }) => Number.isFinite(advantage));

/** The sizes with how many groups have them: `4 (2 groups), 3 (1 group)`. */
function sizesOf(groups: readonly Group[]): string {
  const counts = new Map<number, number>();
  for (const { samples: { length } } of groups) counts.set(length, (counts.get(length) ?? 0) + 1);
  const said = [...counts].toSorted(([a], [b]) => b - a)
    .map(([size, count]) => `${size} (${countOf(count, "group")})`);
  return said.slice(0, 6).join(", ") + (said.length > 6 ? ", …" : "");
}

function groupSize(
  { groups, usualSize = 0, isSizeTold, isPartial, hasRanks }: GroupContext,
): Finding[] {
  // Groups that are only known by their prompt join where one prompt was drawn twice.
  const odd = groups.filter(({ name, samples: { length } }) =>
    length !== usualSize && (name !== undefined || length % usualSize !== 0) && length > 1
  );
  const what = "whether groups are whole";
  if (groups.length === 0) return [notCheckable(SIZE, what, "group names, nor prompts")];
  if (groups.length === 1 && !isSizeTold) {
    return [notCheckable(SIZE, what, "second group to compare with")];
  }
  const isRest = (group: Group) => hasAdvantages(group) && !isCentred(group.samples);
  const [first] = odd;
  if (!first) {
    return [{
      id: SIZE,
      class: "holds",
      value: usualSize,
      sentence: `Groups have ${countOf(usualSize, "sample")} each.`,
    }];
  }
  if (isPartial) {
    return [
      notCheckable(
        SIZE,
        what,
        "rank but one, and others may hold the rest of these groups",
      ),
    ];
  }
  // A group that is centred without the others is whole, and was smaller when its baseline was computed.
  const isSmaller = odd.some((group) => !isRest(group));
  return [{
    id: SIZE,
    // Equal prompts make groups only where the dump names none, and samples may have been left out of it.
    class: (hasRanks && !isSmaller) || first.name === undefined ? "note" : "suspect",
    value: first.samples.length,
    bound: usualSize,
    boundFrom: isSizeTold ? "the size that you gave" : "the size of most groups",
    sentence: `${odd.length} of ${
      countOf(groups.length, "group")
    } have a size other than ${usualSize}: ${sizesOf(groups)}.`,
    alternatives: [
      "samples that failed or were filtered, by design",
      "a dump that does not hold all samples",
    ],
    next:
      "Where samples may be missing, compute baselines by the name of the group and never by reshaping.",
    ...shownBy(sampleWitness(first.samples[0], 0)),
  }];
}

function groupOfOne({ groups, usualSize = 0, isPartial }: GroupContext): Finding[] {
  if (usualSize < 2) return [];
  const ones = groups.filter(({ samples }) => samples.length === 1);
  if (ones.length === 0) {
    return [{ id: ONE, class: "holds", sentence: "No group has a single sample." }];
  }
  if (isPartial) {
    return [
      notCheckable(
        ONE,
        "whether samples are alone in their groups",
        "rank but one, and others may hold the rest of these groups",
      ),
    ];
  }
  const paid = ones.filter(({ samples: [{ advantage }] }) => Math.abs(advantage) > 1e-6);
  const raw = paid.filter(({ samples: [{ advantage, reward }] }) => isNear(advantage, reward));
  const count = countOf(ones.length, "group");
  const shown = (list: readonly Group[]) =>
    shownBy(
      greatest(list.map(({ samples: [one] }) => sampleWitness(one, Math.abs(one.advantage)))),
    );
  if (raw.length > 0) {
    return [{
      id: ONE,
      class: "violated",
      metric: "advantage_mean",
      value: raw.length,
      bound: 0,
      boundFrom: "a sample that is alone in its group is as good as its group",
      sentence:
        `${count} of ${groups.length} have a single sample, and the advantage of ${raw.length} is the reward itself: without others there is no baseline.`,
      next: "Leave groups of one out, or give them the advantage 0.",
      ...shown(raw),
    }];
  }
  return [{
    id: ONE,
    class: paid.length > 0 ? "suspect" : "note",
    value: ones.length,
    sentence: `${count} of ${groups.length} have a single sample${
      paid.length > 0
        ? `, and ${paid.length} of them an advantage other than 0`
        : ", and so nothing to compare it with"
    }.`,
    ...(paid.length > 0
      ? { alternatives: ["the dump does not hold the other samples of these groups"] }
      : {}),
    ...shown(paid.length > 0 ? paid : ones),
  }];
}

/** Two samples of a group with equal rewards and other advantages, the furthest apart. */
function unequalPair({ samples }: Group): readonly [GroupSample, GroupSample] | undefined {
  const sorted = samples.toSorted((a, b) => a.reward - b.reward || a.advantage - b.advantage);
  const size = sizeOf(samples);
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1].reward - sorted[i].reward <= 1e-9) j++;
    if (j > i && !isNear(sorted[i].advantage, sorted[j].advantage, size)) {
      return [sorted[i], sorted[j]];
    }
    i = j + 1;
  }
  return undefined;
}

function sameReward({ groups, summaries }: GroupContext): Finding[] {
  const known = groups.filter((group) =>
    hasAdvantages(group) && group.samples.length > 1 &&
    group.samples.every(({ reward }) => Number.isFinite(reward))
  );
  const what = "whether equal rewards of a group have equal advantages";
  if (summaries.some(({ advantageVaries }) => advantageVaries)) return [];
  if (known.length === 0) return [notCheckable(SAME, what, "rewards and advantages by group")];
  const found = known.flatMap((group) => {
    const pair = unequalPair(group);
    return pair ? [{ group, pair, distance: Math.abs(pair[0].advantage - pair[1].advantage) }] : [];
  }).toSorted((a, b) => b.distance - a.distance || (a.group.key < b.group.key ? -1 : 1));
  const [first] = found;
  if (!first) {
    return [{
      id: SAME,
      class: "holds",
      sentence: `Equal rewards have equal advantages in each of ${countOf(known.length, "group")}.`,
    }];
  }
  const [one, other] = first.pair;
  // Rewards that are normalised by part need not agree where only their sums do.
  const isSure = found.some(({ pair }) =>
    pair[0].parts !== undefined && pair[0].parts === pair[1].parts
  );
  return [{
    id: SAME,
    class: isSure ? "violated" : "suspect",
    metric: "advantage_mean",
    value: other.advantage,
    bound: one.advantage,
    boundFrom: "another sample of the same group and reward",
    sentence: `In ${nameOf(first.group)} two samples with the reward ${
      say(one.reward)
    } have the advantages ${say(one.advantage)} and ${say(other.advantage)}; ${found.length} of ${
      countOf(known.length, "group")
    } have such samples.`,
    alternatives: [
      ...(isSure ? [] : ["rewards of several parts, each normalised by itself"]),
      "a weight or penalty of each sample that is not part of the reward",
      "advantages that were computed in another order than the samples now have",
    ],
    next: "Carry advantages together with their samples through every shuffle, filter and split.",
    ...shownBy(sampleWitness(other, 0)),
  }];
}

/** The prompts of a group with how many samples have each. */
function promptsOf({ samples }: Group): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { first: { promptHash, environment } } of samples) {
    if (Number.isNaN(promptHash)) continue;
    const key = JSON.stringify([promptHash, environment ?? null]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Names that several prompts share. */
function severalPrompts({ groups, usualSize = 0 }: GroupContext): Finding[] {
  const named = groups.filter(({ name, samples }) => name !== undefined && samples.length > 1);
  const several = named.flatMap((group) => {
    const counts = [...promptsOf(group).values()];
    // Where each sample has a prompt of its own, prompts are made so (names, dates, random examples).
    return counts.length > 1 && counts.every((count) => count > 1)
      ? [{ group, prompts: counts.length }]
      : [];
  });
  const [first] = several.toSorted((a, b) =>
    b.prompts - a.prompts || (a.group.key < b.group.key ? -1 : 1)
  );
  if (!first) return [];
  const { group, prompts } = first;
  const isOdd = several.length < named.length / 2 && group.samples.length > usualSize;
  return [{
    id: MERGED,
    class: isOdd ? "violated" : "suspect",
    value: several.length,
    bound: 0,
    boundFrom: "samples of a group share their prompt",
    sentence: `${several.length} of ${
      countOf(named.length, "group")
    } hold samples of several prompts: ${nameOf(group)} has ${
      countOf(group.samples.length, "sample")
    } of ${prompts} prompts, each of them more than once.`,
    alternatives: [
      "prompts that are varied on purpose",
      "agents with prompts of their own in one group",
    ],
    next: "Give the groups different names, also across environments and ranks.",
    ...shownBy(sampleWitness(group.samples[0], 0)),
  }];
}

/** Who is in a group. */
export const COMPOSITION: GroupRule = {
  ids: [SIZE, ONE, SAME, MERGED],
  judge: (context) => [
    ...severalPrompts(context),
    ...groupSize(context),
    ...groupOfOne(context),
    ...sameReward(context),
  ],
};
