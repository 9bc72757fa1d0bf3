/** `old_is_not_sampler` and `ratio_not_one_at_start`: what the ratio divides by, against who drew the tokens and who trains. */
import { ClusteredMean } from "../../core/streaming_statistics.ts";
import type { Finding } from "../finding.ts";
import type { EngineBounds } from "./engine_bounds.ts";
import { LEAST_TOKENS } from "./gap.ts";
import {
  greater,
  notCheckable,
  type SequenceView,
  shownBy,
  SURE,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf, say } from "./words.ts";

const OLD = "old_is_not_sampler";
const RATIO = "ratio_not_one_at_start";

class OldTally {
  /** |difference| of two sides at tokens that have all three. */
  readonly samplerOld = new ClusteredMean();
  readonly samplerTrainer = new ClusteredMean();
  /** Of old and trainer where the dump says that no update came between. */
  readonly start = new ClusteredMean();
  /** Where it does not say. */
  readonly unknown = new ClusteredMean();
  worstOld: Witness | undefined;
  worstStart: Witness | undefined;
  largestStart = 0;

  add(view: SequenceView): void {
    const { sequence: { logProbs, phase }, scored } = view;
    const old = logProbs.old?.values, trainer = logProbs.trainer?.values;
    const sampler = logProbs.sampler?.values;
    if (!old || !trainer) return;
    for (let i = 1; i < scored.length; i++) {
      const ratio = Math.abs(old[i] - trainer[i]);
      if (scored[i] !== 1 || !Number.isFinite(ratio)) continue;
      if (phase === "pre") {
        this.start.add(ratio);
        this.largestStart = Math.max(this.largestStart, ratio);
        this.worstStart = greater(this.worstStart, witness(view, i, ratio));
      } else if (phase === undefined) this.unknown.add(ratio);
      const gap = sampler ? Math.abs(sampler[i] - old[i]) : NaN;
      if (!sampler || !Number.isFinite(gap) || phase === "post") continue;
      this.samplerOld.add(gap);
      this.samplerTrainer.add(Math.abs(sampler[i] - trainer[i]));
      this.worstOld = greater(this.worstOld, witness(view, i, gap));
    }
    for (const mean of [this.samplerOld, this.samplerTrainer, this.start, this.unknown]) {
      mean.close();
    }
  }
}

/** The old log-probs alone are off: sampler and trainer agree with each other. */
function judgeOld(tally: OldTally, { look = 0.1, healthy, from, engine }: EngineBounds): Finding[] {
  const old = tally.samplerOld.estimate, trainer = tally.samplerTrainer.estimate;
  if (old.count === 0) {
    return [
      notCheckable(
        OLD,
        "whether the old policy is the one that sampled",
        "sampler's, old and trainer's log-probs together",
      ),
    ];
  }
  const common = { id: OLD, metric: "gap", value: old.mean, boundFrom: from };
  const isAlone = trainer.mean + SURE * trainer.error < old.mean / 2;
  if (old.mean - SURE * old.error > look && isAlone) {
    return [{
      ...common,
      class: engine === "exact" ? "violated" : "suspect",
      bound: look,
      sentence: `The old log-probs are not those of the policy that sampled: they are ${
        say(old.mean)
      } nats per token from the sampler's, while the trainer's are ${say(trainer.mean)} from them.`,
      alternatives: ["the ratio is meant to divide by an older policy"],
      next:
        "Compute the old log-probs once per batch, with the weights, temperature and mask that sampled it.",
      ...shownBy(tally.worstOld),
    }];
  }
  if (old.count < LEAST_TOKENS || old.mean > look) return [];
  return [{
    ...common,
    class: "holds",
    bound: healthy,
    sentence: `The old log-probs are the sampler's, up to ${say(old.mean)} nats per token.`,
  }];
}

function judgeRatio(tally: OldTally, bounds: EngineBounds): Finding[] {
  const { count, mean, error } = tally.start.estimate;
  const what = "whether the ratio is 1 before the first update";
  if (count === 0) {
    const unknown = tally.unknown.estimate;
    const { healthy } = bounds;
    if (unknown.count >= LEAST_TOKENS && unknown.mean + SURE * unknown.error <= healthy) {
      return [{
        id: RATIO,
        class: "holds",
        value: Math.exp(unknown.mean),
        sentence: `Old and trainer's log-probs agree: ${say(unknown.mean)} nats per token apart.`,
      }];
    }
    return [
      notCheckable(RATIO, what, unknown.count > 0 ? "phase" : "old log-probs beside the trainer's"),
    ];
  }
  const isExact = bounds.engine === "exact";
  const isOff = isExact
    ? tally.largestStart > 0
    : mean - SURE * error > bounds.healthy && count >= LEAST_TOKENS;
  if (isOff) {
    return [{
      id: RATIO,
      class: isExact ? "violated" : "suspect",
      metric: "ratio",
      value: mean,
      bound: bounds.healthy,
      boundFrom: bounds.from,
      sentence: `Before the first update old and trainer's log-probs must be equal, and differ by ${
        say(mean)
      } nats per token (${countOf(count, "token")}).`,
      alternatives: [
        "dropout, or a different mask or position, in one of the two passes",
        "the old log-probs are the sampler's, at a different temperature or with older weights",
      ],
      next: "Compute both of one batch before any update and compare them token by token.",
      ...shownBy(tally.worstStart),
    }];
  }
  if (count < LEAST_TOKENS && !isExact) {
    return [{
      id: RATIO,
      class: "not-checkable",
      sentence: `Not checked: ${what}. ${countOf(count, "token")}are too few to tell.`,
    }];
  }
  return [{
    id: RATIO,
    class: "holds",
    value: mean,
    bound: bounds.healthy,
    sentence: `The ratio is 1 before the first update, up to ${say(mean)} nats per token.`,
  }];
}

/** Old log-probs against both of their neighbours. */
export const OLD_POLICY: TokenCheckKind = {
  ids: [OLD, RATIO],
  open({ bounds }) {
    const tally = new OldTally();
    return {
      add: (view) => tally.add(view),
      finish: () => [...judgeOld(tally, bounds), ...judgeRatio(tally, bounds)],
    };
  },
};
