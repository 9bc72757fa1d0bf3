/** What a comparison over seeds says, in sentences: which methods differ, and what cannot be claimed. */
import { withDigits } from "../core/digits.ts";
import { at } from "../core/element.ts";
import type { GroupComparison } from "./compare_groups.ts";
import type { PairResult } from "./group_pairs.ts";
import { type Interval, LEAST_SEEDS } from "./strata.ts";

/** Digits of scores and probabilities in texts. */
const DIGITS = 3;

/** Paths that a sentence lists. */
const MAX_LISTED = 5;

/** A number as texts have it. */
export function number(value: number): string {
  return withDigits(value, DIGITS);
}

/** A number with so many decimals; what rounds to 0 has no sign. */
function fixed(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(/^-(?=[0.]*$)/, "");
}

/** Ends of an interval, with as many decimals as its width tells: `0.52-0.81`, and `-0.10 to 0.20` below 0. */
function range({ low, high }: Pick<Interval, "low" | "high">): string {
  const decimals = decimalsOf(high - low);
  const [from, to] = [fixed(low, decimals), fixed(high, decimals)];
  return low < 0 ? `${from} to ${to}` : `${from}-${to}`;
}

function decimalsOf(width: number): number {
  if (!(width > 0)) return DIGITS;
  return Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(width))));
}

/** An estimate with its interval: `0.67 (0.52-0.81)`; without one the estimate alone. */
export function estimateText(estimate: number | null, interval: Interval | null): string {
  if (estimate === null) return "none";
  if (interval === null) return number(estimate);
  const decimals = decimalsOf(interval.high - interval.low);
  return `${fixed(estimate, decimals)} (${range(interval)})`;
}

/** What is said of a pair, with the heading under which it stands. */
export const PAIR_HEADINGS = [
  ["differs", "Differ"],
  ["alone", "Differ taken alone, but not among so many pairs"],
  ["not-told-apart", "Not told apart"],
  ["no-claim", "Not claimed"],
] as const;

/** What is said of a pair. */
export type PairVerdict = typeof PAIR_HEADINGS[number][0];

/** What is said of a pair: `alone` where only its own interval of 95 % leaves out 0.5. */
export function pairVerdict({ differs, improvement }: PairResult): PairVerdict {
  if (differs === null || improvement === null) return "no-claim";
  if (differs) return "differs";
  return improvement.low > 0.5 || improvement.high < 0.5 ? "alone" : "not-told-apart";
}

/** A pair in a sentence. */
export function pairSentence({ groups }: GroupComparison, pair: PairResult): string {
  const [first, second] = [at(groups, pair.first), at(groups, pair.second)];
  const { improvement, noClaim } = pair;
  if (noClaim === "no-shared-setting") {
    return `${first.name} and ${second.name} are not known to have run in one setting of the environment, so nothing is claimed.`;
  }
  if (improvement === null) {
    const counts = [first, second].map(({ name, runs }) => `${name} has ${seeds(runs)}`);
    return `${counts.join(", ")}: fewer than ${LEAST_SEEDS} in a setting, so nothing is claimed.`;
  }
  const chance = `a run of ${first.name} is better than one of ${second.name} with probability ${
    estimateText(improvement.estimate, improvement)
  }`;
  if (pair.differs) {
    const [better, worse] = improvement.estimate >= 0.5 ? [first, second] : [second, first];
    return `${better.name} is better than ${worse.name}: ${chance}.`;
  }
  if (pairVerdict(pair) === "alone") {
    return `${first.name} and ${second.name}, looked at alone, differ: ${chance}; one of so many pairs does so by chance too easily.`;
  }
  return `${first.name} and ${second.name} are not told apart: ${chance}.`;
}

function seeds(count: number): string {
  return `${count} ${count === 1 ? "seed" : "seeds"}`;
}

/** Paired differences of a pair in a sentence; undefined where no seed is in both. */
export function pairedSentence(
  { groups }: GroupComparison,
  { first, second, paired }: PairResult,
): string | undefined {
  if (!paired) return undefined;
  const { pairs, higher, lower, mean, interval } = paired;
  const isClaim = pairs >= LEAST_SEEDS && interval !== undefined;
  const size = isClaim ? estimateText(mean, interval) : number(mean);
  return `${at(groups, first).name} less ${
    at(groups, second).name
  }: ${size}, higher in ${higher} and lower in ${lower} of ${pairs} ${
    pairs === 1 ? "pair" : "pairs"
  }${isClaim ? "" : "; too few, or too equal, for an interval"}.`;
}

function listed(items: readonly string[]): string {
  const more = items.length > MAX_LISTED ? ` and ${items.length - MAX_LISTED} more` : "";
  return items.slice(0, MAX_LISTED).join(", ") + more;
}

function leftOutSentences({ leftOut }: GroupComparison): string[] {
  if (leftOut.length === 0) return [];
  const byWhy = Map.groupBy(leftOut, ({ group, why }) => `${group}: ${why}`);
  return Array.from(
    byWhy,
    ([why, runs]) => `Left out, of ${why} (${listed(runs.map(({ path }) => path))}).`,
  ).concat(
    "A method whose runs break off is judged by those that did not: look at the ones left out.",
  );
}

/** What cannot be claimed, or only with care, each with the reason. */
export function caveats(comparison: GroupComparison): string[] {
  const { groups, pairs } = comparison;
  const few = groups.filter(({ noInterval }) => noInterval === "few-seeds");
  const equal = groups.filter(({ noInterval }) => noInterval === "equal-scores");
  const claims = pairs.filter(({ differs }) => differs !== null);
  const family = groups.length * (groups.length - 1) / 2;
  const strata = new Set(groups.flatMap((group) => group.strata.map(({ name }) => name)));
  return [
    ...few.map(({ name, strata: own }) => {
      const least = Math.min(...own.map((stratum) => stratum.seeds.length));
      return own.length === 0
        ? `${name} has no run with a score.`
        : `${name} has ${seeds(least)}${
          own.length > 1 ? " in a setting of the environment" : ""
        }: ` +
          `of fewer than ${LEAST_SEEDS} no interval is given.`;
    }),
    ...equal.map(({ name, runs, mean }) =>
      `All ${runs} runs of ${name} scored ${
        number(mean ?? NaN)
      }: how far that may be off is not to be seen from them.`
    ),
    ...(claims.length > 0 && family > 1
      ? [
        `With ${family} pairs each is decided at 0.05/${family}, so that all verdicts together are wrong in at most 5 %; ` +
        "the intervals shown are of 95 % each.",
      ]
      : []),
    ...(pairs.length < family
      ? [`Of ${groups.length} groups only the best is compared with each other one.`]
      : []),
    ...(strata.size > 1
      ? [
        `The runs are of ${strata.size} settings of the environment (${
          listed([...strata].map((name) => name || "unknown"))
        }), which count alike.`,
      ]
      : []),
    ...leftOutSentences(comparison),
  ];
}

/** What the score of a seed is. */
export function scoreSentence({ metric, scoreRule, lowerIsBetter }: GroupComparison): string {
  const what = scoreRule === "last" ? `the last ${metric}` : `the mean of the last four ${metric}`;
  return `Score of a seed: ${what} of its run; ${lowerIsBetter ? "lower" : "higher"} is better.`;
}
