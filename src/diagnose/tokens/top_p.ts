/** `top_p_mismatch`: a sampler that cut its distribution and divided by what was left, beside a trainer that did not. */
import { chanceAtMost } from "../../core/streaming_statistics.ts";
import type { Finding } from "../finding.ts";
import { LEAST_TOKENS, partnerOf } from "./gap.ts";
import {
  greater,
  notCheckable,
  type SequenceView,
  shownBy,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf, say } from "./words.ts";

const ID = "top_p_mismatch";

/** Bins of the trainer's probability. */
const BINS = 100;
/** Tokens that the sampler is exactly sure of and the trainer is not. */
const LEAST_CERTAIN = 10;
/** Of the tokens above the cut so many must be certain, and of those below it no more than the rest. */
const MOST = 0.9;
/** A cut never raises a log-prob by more than the log of what it left; samplers leave at least half. */
const LARGEST_RISE = Math.log(2);
/** Chance that both directions are equally likely and one has them nearly all. */
const CHANCE = 1e-6;

class CutTally {
  /** By the trainer's probability: all tokens, and those whose sampler's log-prob is exactly 0. */
  readonly all = new Float64Array(BINS);
  readonly certain = new Float64Array(BINS);
  /** Tokens whose two log-probs differ by more than noise. */
  raised = 0;
  lowered = 0;
  /** Raised by more than a cut can. */
  beyond = 0;
  count = 0;
  worst: Witness | undefined;
  readonly stated = new Set<number>();

  add(view: SequenceView, noise: number): void {
    const { sequence, spans, scored } = view;
    const side = partnerOf(sequence);
    const sampler = sequence.logProbs.sampler?.values;
    const trainer = side && sequence.logProbs[side]?.values;
    if (!sampler || !trainer) return;
    if (sequence.topP !== undefined) this.stated.add(sequence.topP);
    for (const { from, until } of spans) {
      // Where a mask is a column off, the ends of a turn are not the sampler's.
      for (let i = from + 1; i < until - Number(until === scored.length); i++) {
        const [s, t] = [sampler[i], trainer[i]];
        if (!Number.isFinite(s - t)) continue;
        this.count++;
        const bin = Math.min(BINS - 1, Math.floor(Math.exp(t) * BINS));
        this.all[bin]++;
        if (s === 0 && bin < BINS - 1) {
          this.certain[bin]++;
          this.worst = greater(this.worst, witness(view, i, -t));
        }
        if (s - t > noise) this.raised++;
        if (s - t > LARGEST_RISE + noise) this.beyond++;
        if (t - s > noise) this.lowered++;
      }
    }
  }

  /** The trainer's probability from which on the sampler is certain; undefined where there is none. */
  cut(): number | undefined {
    let certain = 0, all = 0, found: number | undefined;
    for (let bin = BINS - 2; bin >= 0; bin--) { // In the last bin rounding makes a 0 as well.
      certain += this.certain[bin];
      all += this.all[bin];
      if (certain >= LEAST_CERTAIN && certain >= MOST * all && this.certain[bin] > 0) found = bin;
    }
    if (found === undefined) return undefined;
    const below = this.all.subarray(0, found).reduce((sum, count) => sum + count, 0);
    const certainBelow = this.certain.subarray(0, found).reduce((sum, count) => sum + count, 0);
    // Certain everywhere is a sampler that reports nothing, or draws the likeliest token.
    return found > 0 && certainBelow <= (1 - MOST) * below && below > 0 ? found / BINS : undefined;
  }

  /** True where the sampler's log-probs are never below the trainer's, and above by no more than a cut explains. */
  get isOneSided(): boolean {
    const trials = this.raised + this.lowered;
    return this.raised >= 40 && this.raised >= 0.95 * trials && this.beyond <= 0.02 * this.raised &&
      chanceAtMost(this.raised, trials) < CHANCE;
  }
}

function findingOf(tally: CutTally): Finding | undefined {
  const cut = tally.cut();
  if (cut === undefined && !tally.isOneSided) return undefined;
  const stated = [...tally.stated].sort();
  // A cut at p leaves at least p: the token that crosses it stays.
  const isStated = stated.some((topP) =>
    topP < 1 && (cut === undefined || Math.abs(topP - cut) < 0.05)
  );
  const how = cut === undefined
    ? `the sampler's log-probs are above the trainer's at ${tally.raised} of the ${
      tally.raised + tally.lowered
    } tokens where they differ by more than noise, by no more than a cut explains`
    : `where the trainer gives a token more than ${say(cut)}, the sampler gives it exactly 1`;
  return {
    id: ID,
    class: isStated ? "expected" : "suspect",
    metric: "gap",
    ...(cut === undefined ? {} : { value: cut, bound: 1 }),
    boundFrom: "the trainer scores the whole distribution",
    sentence: `The sampler drew from a truncated distribution: ${how}.${
      stated.length === 0 ? "" : ` The dump says top_p ${stated.join(", ")}.`
    } The ratio is off by what was cut, and tokens beyond it can never be learned.`,
    ...(isStated ? {} : { alternatives: ["top-k or min-p in the sampler"] }),
    next:
      "Sample with top_p 1 and no top_k while training, or mask the trainer's logits the same way.",
    ...shownBy(tally.worst),
  };
}

/** Cut of the sampler's distribution. */
export const TOP_P: TokenCheckKind = {
  ids: [ID],
  open({ bounds }) {
    const tally = new CutTally();
    const noise = Math.max(1e-6, 2.5 * bounds.healthy);
    return {
      add: (view) => tally.add(view, noise),
      finish() {
        const what = "whether the sampler truncated its distribution";
        if (tally.count === 0) {
          return [notCheckable(ID, what, "log-probs of both sampler and trainer")];
        }
        const found = findingOf(tally);
        if (found) return [found];
        if (tally.count < LEAST_TOKENS) {
          return [{
            id: ID,
            class: "not-checkable",
            sentence: `Not checked: ${what}. ${countOf(tally.count, "token")}are too few to tell.`,
          }];
        }
        return [{
          id: ID,
          class: "holds",
          sentence: "The sampler drew from its whole distribution.",
        }];
      },
    };
  },
};
