/** `advantage_not_centred` and `groups_merged`: whose rewards the baseline of a group is the mean of. */
import type { Finding } from "../finding.ts";
import type { GroupContext, GroupRule } from "./group_context.ts";
import {
  deviationOf,
  isCentred,
  isFlat,
  isNear,
  liesOn,
  type Line,
  lineOf,
  meanOf,
  sizeOf,
} from "./lines.ts";
import { type Group, type GroupSample, nameOf, sampleWitness } from "./samples.ts";
import { greatest, notCheckable, shownBy } from "./token_check.ts";
import { countOf, say } from "./words.ts";

const CENTRED = "advantage_not_centred";
const MERGED = "groups_merged";

const rewardsOf = (samples: readonly GroupSample[]) => samples.map(({ reward }) => reward);
const samplesOf = (groups: readonly Group[]) => groups.flatMap(({ samples }) => samples);

/** Slopes that trainers use: none, leave-one-out, and one over a standard deviation. */
function isUsualSlope(slope: number, samples: readonly GroupSample[]): boolean {
  const n = samples.length, rewards = rewardsOf(samples);
  const slopes = [1, n / (n - 1), 1 / deviationOf(rewards, 1), 1 / deviationOf(rewards, 0)];
  return slopes.some((usual) => Math.abs(slope / usual - 1) < 0.02);
}

/** True where a line is that of all these samples together: its baseline is the mean of their rewards. */
function isOwnLine(line: Line, samples: readonly GroupSample[]): boolean {
  const rewards = rewardsOf(samples);
  return isNear(line.baseline, meanOf(rewards), deviationOf(rewards, 0)) && liesOn(samples, line);
}

/** Groups whose samples share the baseline that all of them have together. */
interface Cluster {
  readonly groups: readonly Group[];
  readonly line: Line;
}

/** Groups of one step that are compared with each other; each with each, so that there must be an end. */
const MOST_COMPARED = 500;

/** Finds groups that were treated as one, among those that are not centred by themselves. */
function clustersOf(uncentred: readonly Group[]): Cluster[] {
  const groups = uncentred.slice(0, MOST_COMPARED);
  const lines = groups.flatMap((group) => {
    const line = lineOf(group.samples);
    return line ? [{ group, line }] : [];
  });
  const flat = new Set(groups.filter(({ samples }) => isFlat(samples)));
  const clusters: Cluster[] = [];
  const taken = new Set<Group>();
  for (const { group, line } of lines) {
    if (taken.has(group)) continue;
    const alike = lines.filter((other) =>
      !taken.has(other.group) && liesOn(other.group.samples, line, sizeOf(group.samples))
    );
    const joined = [...flat].filter((one) => !taken.has(one) && liesOn(one.samples, line));
    const members = [...alike.map((one) => one.group), ...joined];
    if (members.length < 2 || !isOwnLine(line, samplesOf(members))) continue;
    for (const member of members) taken.add(member);
    clusters.push({ groups: members, line });
  }
  // Two flat groups of different rewards always lie on a line: it must be one that a trainer would use.
  const rest = [...flat].filter((group) => !taken.has(group));
  for (const [i, one] of rest.entries()) {
    const other = taken.has(one) ? undefined : rest.slice(i + 1).find((candidate) => {
      const both = [...one.samples, ...candidate.samples];
      const line = taken.has(candidate) ? undefined : lineOf(both);
      return line && isOwnLine(line, both) && isUsualSlope(line.slope, both);
    });
    const line = other && lineOf([...one.samples, ...other.samples]);
    if (!other || !line) continue;
    taken.add(one).add(other);
    clusters.push({ groups: [one, other], line });
  }
  return clusters;
}

/** What is known of one step's groups. */
interface Batch {
  readonly groups: readonly Group[];
  readonly centred: readonly Group[];
  readonly uncentred: readonly Group[];
}

/** Only samples that have one advantage each can be judged, and groups of at least two. */
function batchOf(groups: readonly Group[]): Batch {
  const judged = groups.filter(({ samples }) =>
    samples.length > 1 && samples.every(({ advantage }) => Number.isFinite(advantage))
  );
  return {
    groups: judged,
    centred: judged.filter(({ samples }) => isCentred(samples)),
    uncentred: judged.filter(({ samples }) => !isCentred(samples)),
  };
}

const worstOf = (groups: readonly Group[]) =>
  greatest(samplesOf(groups).map((sample) => sampleWitness(sample, Math.abs(sample.advantage))));

function exampleOf(group: Group): string {
  const { samples } = group;
  const top = samples.toSorted((a, b) => b.reward - a.reward)[0];
  const rewards = isFlat(samples)
    ? `all ${countOf(samples.length, "reward")} are ${say(top.reward)}`
    : `rewards have the mean ${say(meanOf(rewardsOf(samples)))}`;
  return `in ${nameOf(group)} ${rewards}, and the reward ${say(top.reward)} has the advantage ${
    say(top.advantage)
  }`;
}

/** One baseline for a whole step. */
function overBatch({ groups }: Batch, line: Line): Finding {
  const samples = samplesOf(groups), rewards = rewardsOf(samples);
  const spread = deviationOf(rewards, 0);
  const tokens = samples.reduce((sum, { scoredCount }) => sum + scoredCount, 0);
  const byToken = samples.reduce((sum, { reward, scoredCount }) => sum + reward * scoredCount, 0) /
    tokens;
  const isMean = isNear(line.baseline, meanOf(rewards), spread);
  const isRagged = new Set(groups.map((group) => group.samples.length)).size > 1;
  const isPlain = isNear(line.slope, 1) ||
    isNear(line.slope, rewards.length / (rewards.length - 1));
  const base = `${say(line.baseline)}, the mean of all ${
    countOf(samples.length, "reward")
  } of the step`;
  const common = { metric: "advantage_mean", value: line.baseline, ...shownBy(worstOf(groups)) };
  if (isMean && groups.length === 2) {
    return {
      ...common,
      id: MERGED,
      class: "suspect",
      sentence: `Two groups share one baseline, ${base}: ${exampleOf(groups[0])}.`,
      alternatives: ["a baseline over the whole batch by design"],
      next: "Give the groups different names, also across environments and ranks.",
    };
  }
  if (isMean && isRagged && isPlain) {
    return {
      ...common,
      id: CENTRED,
      class: "suspect",
      bound: 0,
      boundFrom: "advantages of a group have the mean 0",
      sentence: `Groups have unequal sizes (${
        groups.map((group) => group.samples.length).toSorted((a, b) => b - a).slice(0, 6).join(", ")
      }${groups.length > 6 ? ", …" : ""}) and one baseline, ${base}: ${
        exampleOf(flatFirst(groups))
      }.`,
      alternatives: ["a baseline over the whole batch by design"],
      next:
        "Compute the baseline by group name and not by reshaping, which needs groups of one size.",
    };
  }
  const whose = isMean
    ? "the mean over the batch"
    : isNear(line.baseline, byToken, spread)
    ? "the mean over the batch's tokens"
    : "which all groups share";
  return {
    ...common,
    id: CENTRED,
    class: "expected",
    sentence: `Advantages are not centred in each group: the baseline is ${
      say(line.baseline)
    }, ${whose}, as in trainers that normalize over the batch.`,
  };
}

/** A group whose rewards do not differ shows a foreign baseline best. */
function flatFirst(groups: readonly Group[]): Group {
  return groups.find(({ samples }) => isFlat(samples) && sizeOf(samples) > 0) ?? groups[0];
}

function merged({ groups, line }: Cluster, isSure: boolean): Finding {
  const samples = samplesOf(groups);
  return {
    id: MERGED,
    class: isSure ? "violated" : "suspect",
    metric: "advantage_mean",
    value: line.baseline,
    sentence: `${groups.map(nameOf).slice(0, 3).join(" and ")}${
      groups.length > 3 ? ` and ${groups.length - 3} more` : ""
    } were treated as one: the baseline of each is ${say(line.baseline)}, the mean of the ${
      countOf(samples.length, "reward")
    } of all of them; ${exampleOf(flatFirst(groups))}.`,
    next: "Give the groups different names, also across environments and ranks.",
    ...shownBy(worstOf(groups)),
  };
}

function notCentred(
  off: readonly Group[],
  { isRule, groupCount }: { readonly isRule: boolean; readonly groupCount: number },
): Finding {
  return {
    id: CENTRED,
    // Where nearly all are centred, these are wrong; else another rule may be meant.
    class: isRule ? "violated" : "suspect",
    metric: "advantage_mean",
    value: meanOf(off[0].samples.map(({ advantage }) => advantage)),
    bound: 0,
    boundFrom: "rewards minus their mean have the mean 0",
    sentence: `Advantages of ${off.length} of ${
      countOf(groupCount, "group")
    } do not have the mean 0: ${exampleOf(flatFirst(off))}.`,
    ...(isRule
      ? {}
      : { alternatives: ["a weight or penalty of each sample that is not part of the reward"] }),
    next:
      "Compute baselines by the name of the group, before samples are shuffled, filtered or split.",
    ...shownBy(worstOf(off)),
  };
}

/** One step's groups with what explains those that are not centred. */
interface Studied extends Batch {
  /** The line of the whole step. */
  readonly whole: Line | undefined;
  readonly clusters: readonly Cluster[];
  /** Groups that neither explains. */
  readonly rest: readonly Group[];
}

function study(batch: Batch): Studied {
  const { groups, uncentred } = batch;
  const none = { ...batch, whole: undefined, clusters: [], rest: uncentred };
  if (uncentred.length === 0) return none;
  if (!samplesOf(groups).every(({ reward }) => Number.isFinite(reward))) return none;
  // One line through all groups leaves no baseline of a single one, whatever groups have the mean of all by chance.
  const whole = groups.length > 1 ? lineOf(samplesOf(groups)) : undefined;
  if (whole) return { ...batch, whole, clusters: [], rest: [] };
  const clusters = clustersOf(uncentred);
  const explained = new Set(clusters.flatMap((cluster) => cluster.groups));
  return { ...none, clusters, rest: uncentred.filter((group) => !explained.has(group)) };
}

/** So many centred groups must stand beside each that is not, before its samples cannot merely be missing. */
const TIMES_AS_MANY = 4;
/** Rewards of a cluster from which on chance does not give several groups the mean of all of them. */
const LEAST_MERGED = 24;

function judgeStudied(
  all: readonly Studied[],
  { usualSize = 0, isPartial }: GroupContext,
): Finding[] {
  if (isPartial && all.some(({ uncentred }) => uncentred.length > 0)) {
    return [notCheckable(
      CENTRED,
      "whether advantages are centred in each group",
      "rank but one, and others may hold the rest of these groups",
    )];
  }
  const clusters = all.flatMap((one) => one.clusters);
  const clustered = clusters.flatMap((cluster) => cluster.groups);
  const centred = all.flatMap((one) => one.whole ? [] : one.centred)
    .filter(({ samples }) => sizeOf(samples) > 0);
  const rest = all.flatMap((one) => one.rest);
  // Of halves of groups some have by chance the mean of others' halves; then there are more that have nobody's.
  const areMerged = rest.length * 10 <= clustered.length;
  const isSure = clusters.length > 1 ||
    clustered.flatMap(({ samples }) => samples).length >= LEAST_MERGED;
  const isRule = centred.length >= TIMES_AS_MANY * rest.length;
  const usual = rest.filter(({ samples }) => samples.length >= usualSize);
  // Where groups have baselines of their own, what is missing of them explains it, and so does a baseline by design.
  const full = isRule ? usual : usual.filter(hasNoLine);
  const unclear = rest.length - full.length + (areMerged ? 0 : clustered.length);
  const groupCount = all.reduce((sum, { groups }) => sum + groups.length, 0);
  return [
    ...all.flatMap((one) => one.whole ? [overBatch(one, one.whole)] : []),
    ...areMerged && clusters[0] ? [merged(clusters[0], isSure)] : [],
    ...full.length > 0 ? [notCentred(full, { isRule, groupCount })] : [],
    ...full.length === 0 && unclear > 0
      ? [notCheckable(
        CENTRED,
        `whether the advantages of ${countOf(unclear, "group")} are centred`,
        "other samples that they may have had, or no reward for each sample",
      )]
      : [],
  ];
}

/** True where rewards are known and advantages do not follow from them by any baseline. */
function hasNoLine({ samples }: Group): boolean {
  return samples.every(({ reward }) => Number.isFinite(reward)) && !isFlat(samples) &&
    !lineOf(samples);
}

/** Of several findings of one id the gravest, with how many steps have it. */
function once(findings: readonly Finding[]): Finding[] {
  const order = ["violated", "suspect", "expected", "note", "not-checkable"];
  return [CENTRED, MERGED].flatMap((id) => {
    const own = findings.filter((finding) => finding.id === id)
      .toSorted((a, b) => order.indexOf(a.class) - order.indexOf(b.class));
    return own.slice(0, 1);
  });
}

/** Baselines of groups. */
export const BASELINES: GroupRule = {
  ids: [CENTRED, MERGED],
  judge(context) {
    const { batches, summaries } = context;
    const what = "whether advantages are centred in each group";
    const varying = summaries.filter(({ advantageVaries }) => advantageVaries).length;
    if (varying > summaries.length / 10) {
      return [{
        id: CENTRED,
        class: "not-applicable",
        sentence:
          "Advantages differ from token to token, as a value function's do: there is no baseline of a group to check.",
      }];
    }
    const judged = batches.map(batchOf);
    const count = judged.reduce((sum, { groups }) => sum + groups.length, 0);
    if (count === 0) {
      const lacks = context.groups.some(({ samples }) => samples.length > 1)
        ? "advantages"
        : "groups of several samples";
      return [notCheckable(CENTRED, what, lacks)];
    }
    const found = once(judgeStudied(judged.map(study), context));
    if (found.length > 0) return found;
    return [{
      id: CENTRED,
      class: "holds",
      value: 0,
      sentence: `Advantages have the mean 0 in each of ${countOf(count, "group")}.`,
    }];
  },
};
