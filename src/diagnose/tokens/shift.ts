/** `shifted_log_probs`: two arrays of log-probs that agree better when one of them is moved by a token or two. */
import { chanceAtMost } from "../../core/streaming_statistics.ts";
import type { LogProbSide, TokenValues } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import {
  greater,
  notCheckable,
  type SequenceView,
  shownBy,
  SIDE_WORDS,
  type Span,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf, say, sayChance } from "./words.ts";

const OFFSETS = [-2, -1, 1, 2] as const;

/** Arrays that are about the same tokens; the second is compared with the first. */
const PAIRS: readonly (readonly [LogProbSide, LogProbSide])[] = [
  ["sampler", "trainer"],
  ["sampler", "old"],
  ["old", "trainer"],
  ["trainer", "reference"],
];

/** Of the tokens that can tell, so many must agree better at the other offset. */
const LEAST_SHARE = 0.75;
/** One chance in a million, shared by pairs and offsets. */
const DUMP_CHANCE = 1e-6 / (PAIRS.length * OFFSETS.length);
/** Of single sequences there may be a million. */
const SEQUENCE_CHANCE = DUMP_CHANCE * 1e-6;
/** Fewer tokens that can tell say nothing in either direction. */
const LEAST_TOKENS = 20;

/** How one array agrees with another at an offset, against how it agrees where it stands. */
interface Tally {
  /** Tokens at which one of the two agrees clearly better. */
  trials: number;
  /** Tokens at which the offset does. */
  wins: number;
  /** Sum of |difference| at the offset, and where it stands. */
  moved: number;
  still: number;
}

const emptyTally = (): Tally => ({ trials: 0, wins: 0, moved: 0, still: 0 });

function addTo(sum: Tally, { trials, wins, moved, still }: Tally): void {
  sum.trials += trials;
  sum.wins += wins;
  sum.moved += moved;
  sum.still += still;
}

function isShifted({ trials, wins, moved, still }: Tally, chance: number): boolean {
  return trials >= LEAST_TOKENS && wins >= LEAST_SHARE * trials && 2 * moved < still &&
    chanceAtMost(wins, trials) < chance;
}

/** Compares value i with value i + offset of the other array, inside the turns of the policy. */
function tallyOf(
  one: TokenValues,
  other: TokenValues,
  { spans, offset, margin }: {
    readonly spans: readonly Span[];
    readonly offset: number;
    readonly margin: number;
  },
): Tally {
  const tally = emptyTally();
  for (const { from, until } of spans) {
    const first = Math.max(from, from - offset);
    const last = Math.min(until, until - offset);
    for (let i = first; i < last; i++) {
      const still = Math.abs(one.values[i] - other.values[i]);
      const moved = Math.abs(one.values[i] - other.values[i + offset]);
      // Neither NaN nor infinite values can tell; a difference within the noise does not either.
      if (!(Math.abs(still - moved) > margin) || still + moved === Infinity) continue;
      tally.trials++;
      tally.wins += Number(moved < still);
      tally.moved += moved;
      tally.still += still;
    }
  }
  return tally;
}

/** What was seen of a pair at an offset. */
interface Seen {
  readonly pair: readonly [LogProbSide, LogProbSide];
  readonly offset: number;
  readonly all: Tally;
  /** Sequences that are shifted for certain, each by itself. */
  readonly certain: Tally;
  certainCount: number;
  count: number;
  /** Where it shows most. */
  worst?: Witness;
}

function lookAt(seen: Seen, view: SequenceView, margin: number): void {
  const { pair: [one, other], offset } = seen;
  const values = view.sequence.logProbs[one], others = view.sequence.logProbs[other];
  if (!values || !others) return;
  const tally = tallyOf(values, others, { spans: view.spans, offset, margin });
  seen.count++;
  addTo(seen.all, tally);
  if (isShifted(tally, SEQUENCE_CHANCE)) {
    seen.certainCount++;
    addTo(seen.certain, tally);
  }
  if (tally.wins * 2 <= tally.trials) return;
  const [{ from } = { from: 0 }] = view.spans;
  seen.worst = greater(seen.worst, witness(view, from, tally.still - tally.moved));
}

function findingOf(seen: Seen, tally: Tally, where: string): Finding {
  const { pair: [one, other], offset } = seen;
  const by = `${countOf(Math.abs(offset), "token")} ${offset > 0 ? "too late" : "too early"}`;
  return {
    id: "shifted_log_probs",
    class: "violated",
    metric: "gap",
    value: offset,
    bound: 0,
    boundFrom: "value i of both arrays belongs to token i",
    sentence: `Of the log-probs of the same tokens, ${
      SIDE_WORDS[other]
    } are ${by}${where}: shifted back, they agree better with ${
      SIDE_WORDS[one]
    } at ${tally.wins} of the ${countOf(tally.trials, "token")} that can tell (${
      sayChance(chanceAtMost(tally.wins, tally.trials) * OFFSETS.length * PAIRS.length)
    } if the arrays were in place), and differ by ${
      say(tally.moved / tally.trials)
    } nats there instead of ${say(tally.still / tally.trials)}.`,
    next:
      "The logits at index i predict token i + 1: take the log-prob of ids[1:] from logits[:-1], " +
      "and cut both arrays to the answer by the same indices.",
    ...shownBy(seen.worst),
  };
}

/** The offset that explains a pair best; one further shifted array follows from a shift between two others. */
function verdicts(all: readonly Seen[]): Finding[] {
  return PAIRS.flatMap((pair) => {
    const shifted = all.filter((seen) => seen.pair === pair && seen.all.trials > 0);
    const whole = shifted.filter(({ all }) => isShifted(all, DUMP_CHANCE))
      .toSorted((a, b) => a.all.moved / a.all.trials - b.all.moved / b.all.trials);
    if (whole[0]) return [findingOf(whole[0], whole[0].all, "")];
    const part = shifted.filter(({ certainCount }) => certainCount > 0)
      .toSorted((a, b) => b.certainCount - a.certainCount);
    if (!part[0]) return [];
    const where = ` in ${part[0].certainCount} of ${countOf(part[0].count, "sequence")}`;
    return [findingOf(part[0], part[0].certain, where)];
  });
}

/** Shift of one array of log-probs against another. */
export const SHIFT: TokenCheckKind = {
  ids: ["shifted_log_probs"],
  open({ bounds }) {
    // What noise alone may decide does not count.
    const margin = Math.max(1e-6, 2.5 * bounds.healthy);
    const all = PAIRS.flatMap((pair) =>
      OFFSETS.map((offset): Seen => ({
        pair,
        offset,
        all: emptyTally(),
        certain: emptyTally(),
        certainCount: 0,
        count: 0,
      }))
    );
    return {
      add: (view) => all.forEach((seen) => lookAt(seen, view, margin)),
      finish() {
        const id = "shifted_log_probs";
        const found = verdicts(all);
        if (found[0]) return [found[0]];
        const pairs = all.filter(({ count }) => count > 0);
        const what = "whether log-probs are at their own tokens";
        if (pairs.length === 0) return [notCheckable(id, what, "second kind of log-probs")];
        const most = Math.max(...pairs.map(({ all }) => all.trials));
        if (most < LEAST_TOKENS) {
          return [{
            id,
            class: "not-checkable",
            sentence: `Not checked: ${what}. Only ${
              countOf(most, "token")
            } can tell, and at least ${LEAST_TOKENS} are needed.`,
          }];
        }
        return [{
          id,
          class: "holds",
          value: 0,
          sentence: `Log-probs are at their own tokens: no other offset agrees better, as ${
            countOf(most, "token")
          } tell.`,
        }];
      },
    };
  },
};
