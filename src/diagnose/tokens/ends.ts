/** Ends of answers as ids and stop reasons tell them, for dumps that do not say who wrote a token. */
import type { Finding } from "../finding.ts";
import {
  greater,
  type SequenceView,
  shownBy,
  type Span,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf } from "./words.ts";

/** Answers that must show the same before their ends say something. */
const LEAST_ENDS = 5;
const NEARLY_ALL = 0.9;

class IdCounts {
  readonly #counts = new Map<number, number>();
  total = 0;

  add(id: number): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    this.total++;
  }

  /** The id that most share, and how many do. */
  get top(): { readonly id: number; readonly count: number } {
    let found = { id: -1, count: 0 };
    for (const [id, count] of this.#counts) {
      if (count > found.count || (count === found.count && id < found.id)) found = { id, count };
    }
    return found;
  }

  of(id: number): number {
    return this.#counts.get(id) ?? 0;
  }
}

/** What answers end in. */
export class EndTally {
  /** The last trained token of answers that ended by themselves, and of those that were cut. */
  readonly ended = new IdCounts();
  readonly cut = new IdCounts();
  /** What follows the last trained token of answers that ended by themselves, where it is not trained. */
  readonly behind = new IdCounts();
  readonly trained = new Set<number>();
  /** By the id that is trained at the end of a cut answer. */
  readonly cutWitness = new Map<number, Witness>();
  behindWitness: Witness | undefined;
  /** True where the dump itself says what was drawn: then nothing is guessed. */
  isTold = false;

  add(view: SequenceView, turns: readonly Span[]): void {
    const { sequence: { ids, stop, sampled } } = view;
    const last = turns.at(-1);
    if (!last) return;
    if (sampled) this.isTold = true;
    for (const { from, until } of turns) {
      for (let i = from; i < until; i++) this.trained.add(ids[i]);
    }
    const end = ids[last.until - 1];
    if (stop === "length" && last.until === ids.length) {
      this.cut.add(end);
      this.cutWitness.set(end, greater(this.cutWitness.get(end), witness(view, last.until - 1, 0)));
    }
    if (stop !== "end") return;
    this.ended.add(end);
    if (last.until >= ids.length) return;
    this.behind.add(ids[last.until]);
    this.behindWitness = greater(this.behindWitness, witness(view, last.until, 0));
  }
}

/** Judges ends by their ids. */
export function judgeEnds(tally: EndTally): Finding[] {
  if (tally.isTold) return [];
  const { ended, cut, behind } = tally;
  const usual = ended.top;
  const hasEnd = ended.total >= LEAST_ENDS && usual.count >= NEARLY_ALL * ended.total;
  const forced = hasEnd ? cut.of(usual.id) : 0;
  if (forced > 0) {
    return [{
      id: "forced_end",
      class: "suspect",
      value: forced,
      bound: 0,
      boundFrom: "an answer that the length limit cuts has no end",
      sentence: `${forced} of ${
        countOf(cut.total, "answer")
      } that the length limit cut nevertheless end in id ${usual.id}, with which the others stop, and train it.`,
      alternatives: ["answers whose end fell on the last token that the limit allows"],
      next: "Leave appended ends out of the mask: they teach the policy to stop mid-sentence.",
      ...shownBy(tally.cutWitness.get(usual.id)),
    }];
  }
  const next = behind.top;
  const isEnd = behind.total >= LEAST_ENDS && next.count >= NEARLY_ALL * behind.total &&
    behind.total >= NEARLY_ALL * ended.total;
  // Where answers share their last trained token, that is the end, and what follows is the template's.
  if (!isEnd || usual.count > 0.5 * ended.total || tally.trained.has(next.id)) return [];
  return [{
    id: "mask_leaves_out",
    class: "suspect",
    value: next.count,
    bound: 0,
    boundFrom: "an end that is never trained is never learned",
    sentence: `${next.count} of ${
      countOf(ended.total, "answer")
    } that ended by themselves are followed by id ${next.id}, which is never trained, while their last trained tokens differ: it looks like the end of a turn.`,
    alternatives: ["a template's own marker, after an engine that returns no end token"],
    next: "Let the mask end with the end-of-turn token.",
    ...shownBy(tally.behindWitness),
  }];
}
