/** When a log of TRL was written, as far as its keys and values tell: three keys have changed their meaning. */
import { hasKey } from "./log_traits.ts";
import type { Era, LogTraits } from "./definition.ts";

/** The eras by the change that began them. */
export type TrlEra = "to-0.15" | "2025-03" | "2025-08-21" | "2026-01-15" | "2026-07-20";

/** Eras in which `reward_std` is the mean of the groups' own spreads. */
export const GROUP_STD_ERAS: readonly TrlEra[] = ["to-0.15", "2025-03"];
/** Eras with the names of today. */
export const CURRENT_NAMES_ERAS: readonly TrlEra[] = [
  "2025-03",
  "2025-08-21",
  "2026-01-15",
  "2026-07-20",
];

/** Names that came with March 2025 or later. */
const hasNewNames = (traits: LogTraits) =>
  hasKey(traits, /^(?:completions|clip_ratio|sampling|tools)\//) ||
  hasKey(traits, /^rewards\/.+\/(?:mean|std)$/) || hasKey(traits, "frac_reward_zero_std");

/** Names that went then. */
const hasOldNames = (traits: LogTraits) =>
  !hasNewNames(traits) &&
  (hasKey(traits, "completion_length") || hasKey(traits, /^rewards\/[^/]+$/));

/** Relative difference up to which two columns are the same but for a factor: four significant digits are printed. */
const SAME = 2e-3;
/** A spread within the groups that is below this share of the batch's is another quantity. */
const CLEARLY_BELOW = 0.95;

/**
 * What `reward_std` is by its values, where one reward function alone makes the reward: the spread over the batch is then
 * the function's own times its weight, row for row; the spread within the groups is another number, and a smaller one.
 *
 * @returns Undefined where the values do not tell.
 */
export function rewardStdByValues(traits: LogTraits): "batch" | "group" | undefined {
  const functions = Array.from(traits.keys).filter((key) => /^rewards\/.+\/std$/.test(key));
  if (functions.length !== 1) return undefined;
  const ratios = traits.together("reward_std", functions[0])
    .flatMap(([whole, own]) => own > 0 ? [whole / own] : []).sort((a, b) => a - b);
  if (ratios.length < 3) return undefined;
  const least = ratios[0];
  const largest = ratios[ratios.length - 1];
  if (largest - least <= SAME * largest) return "batch";
  return ratios[ratios.length >> 1] < CLEARLY_BELOW ? "group" : undefined;
}

const fits =
  (options: { readonly mayLogSampling: boolean; readonly rewardStd: "batch" | "group" }) =>
  (traits: LogTraits): boolean =>
    !hasOldNames(traits) &&
    (options.mayLogSampling || !hasKey(traits, /^sampling\//)) &&
    (rewardStdByValues(traits) ?? options.rewardStd) === options.rewardStd;

/** The eras of TRL, the oldest first. */
export const TRL_ERAS: readonly (Era & { readonly id: TrlEra })[] = [
  {
    id: "to-0.15",
    title: "up to 0.15 (before March 2025)",
    fits: (traits) => !hasNewNames(traits),
  },
  {
    id: "2025-03",
    title: "March to August 2025",
    fits: fits({ mayLogSampling: false, rewardStd: "group" }),
  },
  {
    id: "2025-08-21",
    title: "2025-08-21 to 2026-01-15",
    fits: fits({ mayLogSampling: true, rewardStd: "group" }),
  },
  {
    id: "2026-01-15",
    title: "2026-01-15 to 2026-07-20",
    fits: fits({ mayLogSampling: true, rewardStd: "batch" }),
  },
  {
    id: "2026-07-20",
    title: "since 2026-07-20",
    fits: fits({ mayLogSampling: true, rewardStd: "batch" }),
  },
];
