/** What the checks of groups share: the groups of a dump, and whether it holds all of them. */
import type { Finding } from "../finding.ts";
import { batchesOf, type Group, groupsOf, type SequenceSummary } from "./samples.ts";

/** Groups of a dump. */
export interface GroupContext {
  readonly summaries: readonly SequenceSummary[];
  readonly groups: readonly Group[];
  /** Groups by step. */
  readonly batches: readonly (readonly Group[])[];
  /** Samples of most groups, or as the user told; undefined where there are no groups. */
  readonly usualSize: number | undefined;
  readonly isSizeTold: boolean;
  /** True where the dump is one process's of several, as far as it tells: it may hold parts of groups. */
  readonly isPartial: boolean;
  /** True where sequences say which process wrote them. */
  readonly hasRanks: boolean;
}

/** One check of groups: a pure function of them. */
export interface GroupRule {
  readonly ids: readonly string[];
  judge(context: GroupContext): readonly Finding[];
}

/** The size that most groups have; of equals the larger. */
function usualSizeOf(groups: readonly Group[]): number | undefined {
  const counts = new Map<number, number>();
  for (const { samples: { length } } of groups) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].toSorted(([a, x], [b, y]) => y - x || b - a)[0]?.[0];
}

/** Finds the groups of summaries. */
export function groupContextOf(
  summaries: readonly SequenceSummary[],
  { groupSize }: { readonly groupSize: number | undefined },
): GroupContext {
  const groups = groupsOf(summaries);
  const ranks = new Set(summaries.flatMap(({ rank }) => rank === undefined ? [] : [rank]));
  return {
    summaries,
    groups,
    batches: batchesOf(groups),
    usualSize: groupSize ?? usualSizeOf(groups),
    isSizeTold: groupSize !== undefined,
    isPartial: ranks.size === 1,
    hasRanks: ranks.size > 0,
  };
}
