/**
 * `sampler_trainer_gap_tokens` and `stale_weights`: how far two log-probs of the same token are apart, what the difference
 * depends on, and whether older weights explain it.
 */
import { ClusteredMean, type Estimate, LogHistogram } from "../../core/streaming_statistics.ts";
import type { LogProbSide, TokenSequence } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import type { EngineBounds } from "./engine_bounds.ts";
import {
  greater,
  greatest,
  notCheckable,
  type SequenceView,
  shownBy,
  SIDE_WORDS,
  SURE,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { type GapCell, staleWeights } from "./stale.ts";
import { countOf, say } from "./words.ts";

const ID = "sampler_trainer_gap_tokens";

/** Fewer tokens say nothing about a mean. */
export const LEAST_TOKENS = 50;

/** The trainer's log-probs that are nearest in time to the sampler's: those of before the first update. */
export function partnerOf({ logProbs, phase }: TokenSequence): LogProbSide | undefined {
  if (logProbs.old) return "old";
  return logProbs.trainer && phase !== "post" ? "trainer" : undefined;
}

/** What the gap is split by; each part is the mean |difference| of its tokens. */
const PARTS = {
  "first token of a turn": ({ isFirst }: TokenFacts) => isFirst,
  "later tokens": ({ isFirst }: TokenFacts) => !isFirst,
  "likely tokens (above 0.5)": ({ logProb }: TokenFacts) => logProb > Math.log(0.5),
  "unlikely tokens (below 0.1)": ({ logProb }: TokenFacts) => logProb < Math.log(0.1),
  "first quarter of the policy's tokens": ({ share }: TokenFacts) => share < 0.25,
  "last quarter": ({ share }: TokenFacts) => share >= 0.75,
} as const;

type Part = keyof typeof PARTS;

interface TokenFacts {
  readonly isFirst: boolean;
  /** The trainer's. */
  readonly logProb: number;
  /** How much of the sequence's scored tokens stands before it. */
  readonly share: number;
}

const PART_NAMES = Object.keys(PARTS) as Part[];

/** All that is kept of the gap. */
class GapTally {
  readonly sizes = new LogHistogram();
  readonly absolute = new ClusteredMean();
  readonly signed = new ClusteredMean();
  readonly parts = new Map(PART_NAMES.map((name) => [name, new ClusteredMean()]));
  /** By step and version of the weights; JSON texts of both. */
  readonly cells = new Map<string, GapCell>();
  readonly partners = new Set<LogProbSide>();

  add(view: SequenceView): void {
    const { sequence, scored, spans } = view;
    const side = partnerOf(sequence);
    const sampler = sequence.logProbs.sampler?.values;
    const trainer = side && sequence.logProbs[side]?.values;
    if (!sampler || !trainer || !side) return;
    this.partners.add(side);
    const total = spans.reduce((sum, { from, until }) => sum + until - from, 0);
    const touched = new Set<ClusteredMean>();
    let before = 0;
    for (const { from, until } of spans) {
      for (let i = from; i < until; i++, before++) {
        const difference = sampler[i] - trainer[i];
        if (!Number.isFinite(difference) || scored[i] !== 1) continue;
        const size = Math.abs(difference);
        this.sizes.add(size);
        this.absolute.add(size);
        this.signed.add(difference);
        const facts = { isFirst: i === from, logProb: trainer[i], share: before / total };
        for (const [name, mean] of this.parts) if (PARTS[name](facts)) mean.add(size);
        const cell = this.#cellOf(sequence, i);
        cell.mean.add(size);
        touched.add(cell.mean);
        if (cell.worst && size < cell.worst.size) continue;
        cell.worst = greater(cell.worst, witness(view, i, size));
      }
    }
    for (const mean of [this.absolute, this.signed, ...this.parts.values(), ...touched]) {
      mean.close();
    }
  }

  /** The cell of the token before: nearly always the one of the next, too. */
  #lastCell: {
    readonly step: number | undefined;
    readonly version: number | null;
    readonly cell: GapCell;
  } | undefined;

  get worst(): Witness | undefined {
    return greatest(Array.from(this.cells.values()).flatMap(({ worst }) => worst ?? []));
  }

  #cellOf({ step, weightVersions }: TokenSequence, i: number): GapCell {
    const version = weightVersions?.[i] ?? null;
    const last = this.#lastCell;
    if (last && last.step === step && last.version === version) return last.cell;
    const key = JSON.stringify([step ?? null, version]);
    let cell = this.cells.get(key);
    if (!cell) this.cells.set(key, cell = { mean: new ClusteredMean(), worst: undefined });
    this.#lastCell = { step, version, cell };
    return cell;
  }
}

/** The part of the gap that stands out: twice as large as its counterpart, and surely so. */
function whereItIs(tally: GapTally): string {
  const pairs: readonly (readonly [Part, Part])[] = [
    ["first token of a turn", "later tokens"],
    ["unlikely tokens (below 0.1)", "likely tokens (above 0.5)"],
    ["last quarter", "first quarter of the policy's tokens"],
  ];
  const said = pairs.flatMap(([one, other]) => {
    const [a, b] = [tally.parts.get(one)?.estimate, tally.parts.get(other)?.estimate];
    if (!a || !b || !(a.count >= 10 && b.count >= 10)) return [];
    if (!(a.mean - b.mean > SURE * Math.hypot(a.error, b.error) && a.mean > 2 * b.mean)) return [];
    return [`${one}: ${say(a.mean)} against ${say(b.mean)} nats (${other})`];
  });
  return said.length === 0 ? "" : ` It depends on the token: ${said.join("; ")}.`;
}

function quantilesOf({ sizes }: GapTally): string {
  const [half, tenth, hundredth] = [0.5, 0.9, 0.99].map((q) => say(sizes.quantile(q)));
  return `median ${half}, 90 % below ${tenth}, 99 % below ${hundredth}, largest ${
    say(sizes.largest)
  }`;
}

/** Whether sampler and trainer differ to one side. */
function biasOf(tally: GapTally, absolute: Estimate): string {
  const { mean, error } = tally.signed.estimate;
  if (Math.abs(mean) <= SURE * error) return "to both sides alike";
  const share = Math.abs(mean) / absolute.mean;
  const who = mean > 0 ? "the sampler's are higher" : "the sampler's are lower";
  return `${who} by ${say(Math.abs(mean))} on average, ${
    share > 0.5 ? "a bias more than noise" : "mostly noise"
  }`;
}

const ALTERNATIVES = [
  "the sampler holds older weights than the trainer (on purpose, where rollouts are asynchronous)",
  "a temperature, top-p or top-k that differs between sampler and trainer",
  "re-tokenized text, or a different template, so that the trainer sees another context",
  "a quantized or otherwise less exact sampler",
];

function judgeLevel(tally: GapTally, bounds: EngineBounds, isStale: boolean): Finding {
  const { absolute, sizes } = tally;
  const { count, mean, error } = absolute.estimate;
  const sides = [...tally.partners].map((side) => SIDE_WORDS[side]).join(" or ");
  const sentence = `${SIDE_WORDS.sampler} and ${sides} differ by ${say(mean)} nats per token (${
    quantilesOf(tally)
  }; ${countOf(count, "token")}), ${biasOf(tally, absolute.estimate)}.`;
  const common = {
    id: ID,
    metric: "gap",
    value: mean,
    boundFrom: bounds.from,
    sentence: `T${sentence.slice(1)}`,
    measures: {
      mean,
      error,
      median: sizes.quantile(0.5),
      q90: sizes.quantile(0.9),
      q99: sizes.quantile(0.99),
      largest: sizes.largest,
      bias: tally.signed.estimate.mean,
    },
    ...shownBy(tally.worst),
  };
  if (bounds.engine === "exact") {
    if (sizes.largest === 0) return { ...common, class: "holds", bound: 0 };
    return {
      ...common,
      class: "violated",
      bound: 0,
      sentence: common.sentence + whereItIs(tally),
      alternatives: ALTERNATIVES.slice(0, 3),
    };
  }
  const surely = mean - SURE * error;
  if (bounds.look !== undefined && surely > bounds.look) {
    return {
      ...common,
      class: isStale ? "note" : "suspect",
      bound: bounds.look,
      sentence: common.sentence + whereItIs(tally),
      alternatives: ALTERNATIVES,
      next:
        "Before any update, score one sampled batch with the trainer: same ids, same temperature and top-p, same weights?",
    };
  }
  if (surely > bounds.healthy) {
    const until = bounds.look === undefined
      ? " Whether that is too much depends on what is quantized and how."
      : ` Below ${say(bounds.look)} this alone is not a fault.`;
    return {
      ...common,
      class: "note",
      bound: bounds.healthy,
      sentence: common.sentence + until + whereItIs(tally),
    };
  }
  // Too few or too scattered to exclude a gap that would want a look.
  if (count < LEAST_TOKENS || !(mean + SURE * error < (bounds.look ?? Infinity))) {
    return {
      id: ID,
      class: "not-checkable",
      sentence: `Not checked: whether sampler and trainer agree. ${
        countOf(count, "token")
      } with a mean gap of ${say(mean)} ± ${say(error)}nats are too few to tell.`,
    };
  }
  return { ...common, class: "holds", bound: bounds.healthy };
}

/** Gap of sampler and trainer, and what older weights explain of it. */
export const GAP: TokenCheckKind = {
  ids: [ID, "stale_weights"],
  open({ bounds }) {
    const tally = new GapTally();
    return {
      add: (view) => tally.add(view),
      finish() {
        if (tally.sizes.count === 0) {
          return [notCheckable(
            ID,
            "whether sampler and trainer agree about the same tokens",
            "log-probs of both the sampler and the trainer before its update",
          )];
        }
        const { findings, isStated } = staleWeights(tally.cells, bounds);
        return [judgeLevel(tally, bounds, isStated), ...findings];
      },
    };
  },
};
