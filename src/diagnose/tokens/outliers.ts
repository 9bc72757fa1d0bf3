/** `kl_outliers` and `mixed_weight_versions`: a handful of tokens that carry a divergence; tokens that several weights drew. */
import type { LogProbSide } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import {
  compareWitnesses,
  notCheckable,
  placeOf,
  type SequenceView,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf, say } from "./words.ts";

const ID = "kl_outliers";

/** Tokens that are a handful. */
const HANDFUL = 5;
/** With fewer tokens a handful is not a small part of them. */
const LEAST_TOKENS = 500;
/** k3 of one token from which on it is an outlier: a token that one side gives e³ times less, or 20 times more. */
const OUTLIER_NATS = 2;

/** e to this is as large as a ratio is let to become; verl clamps there as well. */
const LARGEST_LOG_RATIO = 20;

/** Pairs whose divergence a trainer uses: the first is the one that the expectation is over. */
const PAIRS: readonly (readonly [LogProbSide, LogProbSide])[] = [
  ["sampler", "old"],
  ["sampler", "trainer"],
  ["trainer", "reference"],
];

class OutlierTally {
  count = 0;
  sum = 0;
  /** The largest, in descending order. */
  largest: Witness[] = [];

  add(view: SequenceView, token: number, k3: number): void {
    this.count++;
    this.sum += k3;
    const least = this.largest.at(-1);
    if (this.largest.length === HANDFUL && least && k3 < least.size) return;
    this.largest = [...this.largest, witness(view, token, k3)]
      .toSorted((a, b) => b.size - a.size || compareWitnesses(a, b)).slice(0, HANDFUL);
  }
}

function findingOf(
  pair: readonly [LogProbSide, LogProbSide],
  tally: OutlierTally,
  isMixed: boolean,
): Finding[] {
  const outliers = tally.largest.filter(({ size }) => size >= OUTLIER_NATS);
  const [first] = outliers;
  const carried = outliers.reduce((sum, { size }) => sum + size, 0);
  if (!first || tally.count < LEAST_TOKENS || carried < tally.sum / 2) return [];
  const [one, other] = pair;
  return [{
    id: ID,
    // A policy may move far from its reference in few places; two engines may not disagree there.
    class: one === "sampler" && !isMixed ? "suspect" : "note",
    metric: one === "sampler" ? "gap" : "kl_reference",
    value: carried / tally.sum,
    bound: outliers.length / tally.count,
    boundFrom: "their share of the tokens",
    sentence: `${countOf(outliers.length, "token")} of ${tally.count} ${
      outliers.length === 1 ? "carries" : "carry"
    } ${
      Math.round(100 * carried / tally.sum)
    } % of the divergence (k3) of ${one} and ${other}: the largest has ${say(first.size)} nats.`,
    next:
      "Look at these tokens before a mean: rare ids, the first tokens of a turn, re-tokenized text.",
    at: first.place,
    ...(first.step === undefined ? {} : { step: first.step }),
  }];
}

/** Tokens that carry a divergence. */
export const OUTLIERS: TokenCheckKind = {
  ids: [ID],
  open() {
    const tallies = PAIRS.map((pair) => ({ pair, tally: new OutlierTally() }));
    const versions = new Map<number | undefined, Set<number>>();
    return {
      add(view) {
        const { sequence: { logProbs, step, weightVersions }, scored } = view;
        if (weightVersions) {
          const seen = versions.get(step) ?? new Set<number>();
          scored.forEach((flag, i) => flag === 1 && seen.add(weightVersions[i]));
          versions.set(step, seen);
        }
        for (const { pair: [one, other], tally } of tallies) {
          const p = logProbs[one]?.values, q = logProbs[other]?.values;
          if (!p || !q) continue;
          for (let i = 1; i < scored.length; i++) {
            const d = q[i] - p[i];
            if (scored[i] !== 1 || !Number.isFinite(d)) continue;
            tally.add(view, i, Math.expm1(Math.min(d, LARGEST_LOG_RATIO)) - d);
          }
        }
      },
      finish() {
        const counted = tallies.filter(({ tally }) => tally.count > 0);
        const what = "whether a handful of tokens carries the divergence";
        if (counted.length === 0) return [notCheckable(ID, what, "second kind of log-probs")];
        // Where older weights drew a part, as the dump says, the sampler is meant to differ.
        const isMixed = [...versions.values()].some(({ size }) => size > 1);
        const found = counted.flatMap(({ pair, tally }) => findingOf(pair, tally, isMixed));
        if (found.length > 0) return found;
        const most = Math.max(...counted.map(({ tally }) => tally.count));
        if (most < LEAST_TOKENS) {
          return [{
            id: ID,
            class: "not-checkable",
            sentence: `Not checked: ${what}. Of ${
              countOf(most, "token")
            } a handful is no small part.`,
          }];
        }
        return [{
          id: ID,
          class: "holds",
          sentence: "No handful of tokens carries the divergence.",
        }];
      },
    };
  },
};

/** Weights that changed while a sequence was drawn. */
export const VERSIONS: TokenCheckKind = {
  ids: ["mixed_weight_versions"],
  open() {
    let sequences = 0, mixed = 0, most = 0;
    let first:
      | { readonly hash: number; readonly finding: Pick<Finding, "at" | "step"> }
      | undefined;
    return {
      add(view) {
        const { sequence: { weightVersions, step }, scored, hash } = view;
        if (!weightVersions) return;
        sequences++;
        const seen = new Set<number>();
        let change = -1;
        for (let i = 0; i < scored.length; i++) {
          if (scored[i] !== 1 || seen.has(weightVersions[i])) continue;
          seen.add(weightVersions[i]);
          if (seen.size === 2) change = i;
        }
        if (seen.size < 2) return;
        mixed++;
        most = Math.max(most, seen.size);
        if (first && first.hash <= hash) return;
        const at = placeOf(view.sequence, change);
        first = { hash, finding: { at, ...(step === undefined ? {} : { step }) } };
      },
      finish() {
        if (mixed === 0) return [];
        return [{
          id: "mixed_weight_versions",
          class: "note",
          value: mixed,
          sentence: `${mixed} of ${
            countOf(sequences, "sequence")
          } were drawn by several versions of the weights, up to ${most} in one: the ratio must then divide by what drew each token.`,
          ...first?.finding,
        }];
      },
    };
  },
};
