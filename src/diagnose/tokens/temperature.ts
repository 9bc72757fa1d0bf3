/** `temperature_mismatch`: whether one factor on the logits explains what sampler and trainer differ by, and which. */
import { LeastSquares } from "../../core/least_squares.ts";
import { ClusteredMean } from "../../core/streaming_statistics.ts";
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

const ID = "temperature_mismatch";

/** A factor must explain so much of the differences, where the trainer's entropies are known. Stale weights: below 0.55. */
const EXPLAINED_BY_ENTROPY = 0.75;
/** Where they are not, the fit sees less of it. Stale weights: below 0.4. */
const EXPLAINED_BY_ODDS = 0.5;
/** Standard errors between the factor and 1. */
const SURE = 5;
/** A temperature nearer to 1 is rounding of another kind. */
const LEAST_CHANGE = 0.02;
/** Nats by which tokens may be likelier than their distribution's entropy says, absolutely and as a share of it. */
const SHARPER_NATS = 0.03;
const SHARPER_SHARE = 0.1;

/** log(p / (1 − p)). */
function logOdds(logProb: number): number {
  return logProb - Math.log(-Math.expm1(logProb));
}

/** Where the odds of both can be told from rounding: neither nearly certain nor nearly impossible. */
function hasOdds(logProb: number): boolean {
  return logProb < -0.1 && logProb > -12;
}

class TemperatureTally {
  /** d ≈ (β − 1) (log p + H) + a H + b: the derivative of log p by β, and how its own change goes with the entropy. */
  readonly byEntropy = new LeastSquares(3);
  /** Where each token has one rival, β multiplies the log-odds: y − x ≈ (β − 1) x + a. */
  readonly byOdds = new LeastSquares(2);
  /** log p + H of tokens, 0 on average where they were drawn from that distribution. */
  readonly surplus = new ClusteredMean();
  readonly entropy = new ClusteredMean();
  readonly gap = new ClusteredMean();
  readonly stated = new Set<number>();

  worst: Witness | undefined;

  add(view: SequenceView): void {
    const { sequence, scored } = view;
    const side = partnerOf(sequence);
    const sampler = sequence.logProbs.sampler?.values;
    const trainer = side && sequence.logProbs[side]?.values;
    if (!sampler || !trainer) return;
    // Entropies are of the trainer's own distribution.
    const entropy = side === "trainer" || !sequence.logProbs.trainer
      ? sequence.entropy?.values
      : undefined;
    if (sequence.temperature !== undefined) this.stated.add(sequence.temperature);
    for (let i = 1; i < scored.length; i++) {
      const [s, t] = [sampler[i], trainer[i]];
      // An exact 0 is a filler, or the whole of a cut distribution.
      if (scored[i] !== 1 || !Number.isFinite(s - t) || s === 0) continue;
      this.gap.add(Math.abs(s - t));
      if (!this.worst || Math.abs(s - t) >= this.worst.size) {
        this.worst = greater(this.worst, witness(view, i, Math.abs(s - t)));
      }
      if (hasOdds(s) && hasOdds(t)) this.byOdds.add([1, logOdds(t)], logOdds(s) - logOdds(t));
      const h = entropy?.[i] ?? NaN;
      if (!Number.isFinite(h)) continue;
      this.byEntropy.add([1, t + h, h], s - t);
      this.surplus.add(t + h);
      this.entropy.add(h);
    }
    for (const mean of [this.surplus, this.entropy, this.gap]) mean.close();
  }
}

/** What the dump says itself of the sampler's temperature. */
function statedWords(stated: ReadonlySet<number>): string {
  if (stated.size === 0) return "";
  return ` The dump says that the sampler was asked for ${[...stated].sort().join(", ")}.`;
}

function mismatch(tally: TemperatureTally): Finding | undefined {
  const hasEntropy = tally.byEntropy.count >= LEAST_TOKENS;
  const sums = hasEntropy ? tally.byEntropy : tally.byOdds;
  if (sums.count < LEAST_TOKENS) return undefined;
  const { weights: [, weight], errors: [, error], explained } = sums.fit();
  const temperature = 1 / (1 + weight);
  const least = hasEntropy ? EXPLAINED_BY_ENTROPY : EXPLAINED_BY_ODDS;
  if (!(explained >= least && Math.abs(weight) > SURE * error)) return undefined;
  if (!(Math.abs(temperature - 1) > LEAST_CHANGE && temperature > 0)) return undefined;
  const share = `${Math.round(explained * 100)} %`;
  return {
    id: ID,
    class: "suspect",
    metric: "gap",
    value: temperature,
    bound: 1,
    boundFrom: "sampler and trainer divide their logits by the same temperature",
    sentence: `The sampler's log-probs look like the trainer's at a temperature of ${
      hasEntropy ? "" : "about "
    }${
      say(Number(temperature.toPrecision(2)))
    } times the trainer's own: that explains ${share} of the difference (${
      countOf(sums.count, "token")
    })${hasEntropy ? "" : "; without entropies the true value may be further from 1"}.${
      statedWords(tally.stated)
    }`,
    alternatives: ["weights that differ by a sharpening of the whole policy"],
    next:
      "Divide the trainer's logits by the sampler's temperature, or ask the sampler for log-probs after its own scaling.",
    measures: { temperature, explained },
    ...shownBy(tally.worst),
  };
}

/** Tokens that are likelier than the entropy allows were drawn from a sharper distribution than the one that was reported. */
function sharper(tally: TemperatureTally, healthy: number): Finding | undefined {
  const { mean, error, count } = tally.surplus.estimate;
  const entropy = tally.entropy.estimate.mean;
  const gap = tally.gap.estimate.mean;
  if (count < 4 * LEAST_TOKENS || !(gap <= Math.max(healthy, 0.02))) return undefined;
  if (!(mean - SURE * error > Math.max(SHARPER_NATS, SHARPER_SHARE * entropy))) return undefined;
  return {
    id: ID,
    class: "suspect",
    metric: "entropy",
    value: entropy - mean,
    bound: entropy,
    boundFrom: "tokens drawn from a distribution have its entropy as their mean −log p",
    sentence:
      `Tokens are likelier than draws from the trainer's distribution can be: their mean −log p is ${
        say(entropy - mean)
      } nats where its entropy is ${
        say(entropy)
      }, while sampler and trainer report the same log-probs: the sampler draws at a lower temperature, or from a truncated distribution, than it reports.${
        statedWords(tally.stated)
      }`,
    alternatives: ["a dump that holds only samples that were selected for their reward"],
    next:
      "Ask the sampler for the log-probs that it drew from, and score them the same way in the trainer.",
    ...shownBy(tally.worst),
  };
}

/** Temperature of the sampler against the trainer's. */
export const TEMPERATURE: TokenCheckKind = {
  ids: [ID],
  open({ bounds }) {
    const tally = new TemperatureTally();
    return {
      add: (view) => tally.add(view),
      finish() {
        const { count, mean } = tally.gap.estimate;
        const what = "whether sampler and trainer use one temperature";
        if (count === 0) return [notCheckable(ID, what, "log-probs of both sampler and trainer")];
        const found = (mean > bounds.healthy ? mismatch(tally) : undefined) ??
          sharper(tally, bounds.healthy);
        if (found) return [found];
        if (Math.max(tally.byEntropy.count, tally.byOdds.count) < LEAST_TOKENS) {
          return [{
            id: ID,
            class: "not-checkable",
            sentence: `Not checked: ${what}. Fewer than ${LEAST_TOKENS} tokens can tell.`,
          }];
        }
        return [{
          id: ID,
          class: "holds",
          sentence: "No temperature explains the difference between sampler and trainer.",
        }];
      },
    };
  },
};
