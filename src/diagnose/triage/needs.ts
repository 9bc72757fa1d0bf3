/** Whether a run is what a rule, a cause or a set of healthy runs needs it to be. */
import type { TestedRun } from "./evaluate.ts";
import type { Needs, SettingNeed, ToldValue } from "./knowledge.ts";

/** How a run stands to some needs. */
export interface NeedsResult {
  /** The needs, in words, that the run is told not to meet; empty where it is told of none. */
  readonly unmet: readonly string[];
  /** The needs, in words, of which nobody tells. */
  readonly untold: readonly string[];
}

interface Need {
  readonly words: string;
  /** Undefined where nobody tells. */
  readonly isMet: boolean | undefined;
}

function memberNeed(
  allowed: readonly string[] | undefined,
  told: string | undefined,
  article: string,
): Need[] {
  if (allowed === undefined) return [];
  const words = `${article} ${allowed.join(" or ")}`;
  return [{ words, isMet: told === undefined ? undefined : allowed.includes(told) }];
}

function settingNeed(need: SettingNeed, told: ToldValue | undefined): Need {
  const { words } = need;
  if (told === undefined) return { words, isMet: undefined };
  return { words, isMet: "above" in need ? Number(told) > need.above : told === need.is };
}

/**
 * Holds what is told of a run to needs.
 *
 * @param needs The needs; undefined: none.
 * @param run What is told of the run.
 */
export function judgeNeeds(needs: Needs | undefined, run: TestedRun): NeedsResult {
  const { producers, algorithms, settings = [] } = needs ?? {};
  const all = [
    ...memberNeed(producers, run.producer, "a run of"),
    ...memberNeed(algorithms, run.algorithm, "the algorithm"),
    ...settings.map((need) => settingNeed(need, run.settings?.[need.setting])),
  ];
  return {
    unmet: all.flatMap(({ isMet, words }) => isMet === false ? [words] : []),
    untold: all.flatMap(({ isMet, words }) => isMet === undefined ? [words] : []),
  };
}
