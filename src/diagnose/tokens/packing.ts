/** `padding_dependent`: log-probs of equal ids that differ with what stands beside them, and positions that count padding. */
import { ClusteredMean } from "../../core/streaming_statistics.ts";
import type { LogProbSide, TokenSequence } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import type { EngineBounds } from "./engine_bounds.ts";
import { type Kept, KeptTokens } from "./kept_tokens.ts";
import {
  greater,
  hashOf,
  hashOfText,
  notCheckable,
  type Origin,
  placeOf,
  type SequenceView,
  shownBy,
  SIDE_WORDS,
  SURE,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf, say } from "./words.ts";

const ID = "padding_dependent";

/** Sides that a trainer computes; the sampler batches as it likes and has the bounds of its own check. */
const SIDES: readonly LogProbSide[] = ["old", "trainer", "reference"];

/** Positions that are wrong. */
interface PositionTally {
  known: number;
  offset: number;
  broken: number;
  worst?: Witness;
}

/** Whether positions count from 0 by 1, from the padding on, or otherwise. */
function positionsOf({ positions, padding, offset }: TokenSequence): "right" | "offset" | "other" {
  if (!positions || positions.length === 0) return "right";
  const [first] = positions;
  for (let i = 0; i < positions.length; i++) if (positions[i] !== first + i) return "other";
  if (first === 0) return "right";
  return first === (padding?.left ?? 0) || first === offset ? "offset" : "other";
}

/** One sequence's log-probs of one side. */
interface Copy {
  /** NaN at tokens that are not scored. */
  readonly values: Kept;
  readonly origin: Origin;
  readonly step: number | undefined;
  readonly hash: number;
  /** Another of the same side, step, phase and ids. */
  readonly next: Copy | undefined;
}

class TwinTally {
  readonly kept = new KeptTokens((length) => new Float32Array(length));
  readonly positions: PositionTally = { known: 0, offset: 0, broken: 0 };
  /** By side, then by a hash of step, phase and ids. */
  readonly #copies = new Map(SIDES.map((side) => [side, new Map<number, Copy>()]));

  add(view: SequenceView): void {
    const { sequence, hash, scored } = view;
    this.#addPositions(view);
    for (const [side, copies] of this.#copies) {
      const values = sequence.logProbs[side]?.values;
      // Within a step the trainer's weights move from one update to the next: what was computed before all of them compares.
      if (!values || (side === "trainer" && sequence.logProbs.old)) continue;
      const kept = this.kept.keep(values.map((value, i) => scored[i] === 1 ? value : NaN));
      if (!kept) continue;
      const { step, phase, file, row, offset, sample } = sequence;
      const key = hashOfText(`${step} ${phase} ${hash}`);
      const origin = { file, row, offset, ...(sample === undefined ? {} : { sample }) };
      copies.set(key, { values: kept, origin, step, hash, next: copies.get(key) });
    }
  }

  /** |differences| of equal tokens of one side. */
  compare(
    side: LogProbSide,
  ): { readonly mean: ClusteredMean; readonly worst: Witness | undefined } {
    const mean = new ClusteredMean();
    let worst: Witness | undefined;
    for (const last of this.#copies.get(side)?.values() ?? []) {
      if (!last.next) continue;
      const [first, ...others] = this.#ordered(last);
      for (const { values, copy: { origin, step, hash } } of others) {
        for (let i = 1; i < Math.min(values.length, first.values.length); i++) {
          const size = Math.abs(values[i] - first.values[i]);
          if (!Number.isFinite(size)) continue;
          mean.add(size);
          if (worst && size < worst.size) continue;
          worst = greater(worst, { size, place: placeOf(origin, i), step, hash });
        }
        mean.close();
      }
    }
    return { mean, worst };
  }

  /** Copies in an order of their values: which one the others are compared with does not depend on the order of rows. */
  #ordered(last: Copy): { readonly values: Float32Array; readonly copy: Copy }[] {
    const all: { values: Float32Array; copy: Copy; order: number }[] = [];
    for (let copy: Copy | undefined = last; copy; copy = copy.next) {
      const values = this.kept.of(copy.values);
      const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
      all.push({ values, copy, order: hashOf(bits) });
    }
    return all.toSorted((a, b) => a.order - b.order);
  }

  #addPositions(view: SequenceView): void {
    if (!view.sequence.positions) return;
    this.positions.known++;
    const kind = positionsOf(view.sequence);
    if (kind === "right") return;
    if (kind === "offset") this.positions.offset++;
    else this.positions.broken++;
    this.positions.worst = greater(this.positions.worst, witness(view, 0, 0));
  }
}

function judgeTwins(
  tally: TwinTally,
  { healthy, look = 0.1, from, engine }: EngineBounds,
): Finding[] {
  return SIDES.flatMap((side): Finding[] => {
    const compared = tally.compare(side);
    const { count, mean, error } = compared.mean.estimate;
    if (count === 0) return [];
    const { worst } = compared;
    const isExact = engine === "exact";
    // Two roundings differ by more than one, which the bound is about.
    const noise = Math.SQRT2 * healthy;
    const isOff = isExact
      ? (worst?.size ?? 0) > 0
      : mean - 2 * error > noise && (worst?.size ?? 0) > look;
    const common = { id: ID, metric: "gap", value: mean, bound: noise, boundFrom: from };
    if (!isOff) {
      return [{
        ...common,
        class: "holds",
        sentence: `Equal ids have equal log-probs wherever they stand: ${SIDE_WORDS[side]} of ${
          countOf(count, "token")
        } that occur again are ${say(mean)} nats apart.${tally.kept.words}`,
      }];
    }
    // The trainer's own may have been computed with other weights, one update later.
    const isSure = isExact || (side !== "trainer" && mean - SURE * error > look);
    return [{
      ...common,
      class: isSure ? "violated" : "suspect",
      sentence: `Equal ids have different log-probs in another row: ${SIDE_WORDS[side]} of ${
        countOf(count, "token")
      } that occur again in the same step are ${say(mean)} nats apart, up to ${
        say(worst?.size ?? 0)
      }: what stands beside a sequence changes it.${tally.kept.words}`,
      alternatives: [
        ...(side === "trainer" ? ["an update between the two rows"] : []),
        "position ids that count padding, an attention mask that lets padding or neighbours through",
      ],
      next: "Score one sequence alone and in its batch, and compare token by token.",
      ...shownBy(worst),
    }];
  });
}

function judgePositions({ positions: { known, offset, broken, worst } }: TwinTally): Finding[] {
  if (known === 0 || offset + broken === 0) return [];
  if (offset > 0) {
    return [{
      id: ID,
      class: "suspect",
      value: offset,
      bound: 0,
      boundFrom: "the first token of a sequence has position 0",
      sentence: `Positions of ${offset} of ${
        countOf(known, "sequence")
      } start not at 0 but after what comes before them in the row: padding and neighbours are counted.`,
      alternatives: ["relative positions, which a shift of all of them does not change"],
      next:
        "Compute positions from the attention mask: cumsum(mask) − 1, from 0 in each packed sequence.",
      ...shownBy(worst),
    }];
  }
  return [{
    id: ID,
    class: "note",
    value: broken,
    sentence: `Positions of ${broken} of ${
      countOf(known, "sequence")
    } do not count up by 1 from 0, as where images have positions of their own.`,
    ...shownBy(worst),
  }];
}

/** Dependence on padding and packing. */
export const PACKING: TokenCheckKind = {
  ids: [ID],
  open({ bounds }) {
    const tally = new TwinTally();
    return {
      add: (view) => tally.add(view),
      finish() {
        const found = [...judgeTwins(tally, bounds), ...judgePositions(tally)];
        const [worst] = found.filter(({ class: own }) => own === "violated" || own === "suspect");
        if (worst) return found.filter((finding) => finding.class !== "holds");
        if (found.length > 0) return found;
        return [notCheckable(
          ID,
          "whether padding or packing changes log-probs",
          "sequence twice in one step",
        )];
      },
    };
  },
};
