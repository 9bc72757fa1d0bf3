/** Which sequences of a dump to look at first: those whose sides are furthest apart by the dump itself. */
import { LOG_PROB_SIDES, type TokenSequence } from "../../tokens/token_batch.ts";
import { viewOf } from "../tokens/token_check.ts";

/** The largest mean |difference| of two sides of a sequence, in nats; 0 where it has no two of them. */
export function ownGap(sequence: TokenSequence): number {
  const { scored } = viewOf(sequence);
  const sides = LOG_PROB_SIDES.filter((side) => side !== "reference")
    .flatMap((side) => sequence.logProbs[side] ?? []);
  let most = 0;
  sides.forEach((one, a) => {
    for (const other of sides.slice(a + 1)) {
      let sum = 0, count = 0;
      for (let i = 1; i < scored.length; i++) {
        const gap = Math.abs(one.values[i] - other.values[i]);
        if (scored[i] !== 1 || !Number.isFinite(gap)) continue;
        sum += gap;
        count++;
      }
      if (count > 0) most = Math.max(most, sum / count);
    }
  });
  return most;
}

/** Keeps the sequences with the largest gaps while a dump passes through; of equals those that came first. */
export class LargestGaps {
  readonly #limit: number;
  #kept: { readonly sequence: TokenSequence; readonly gap: number }[] = [];

  /** @param limit How many are kept; all by default. */
  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  add(sequence: TokenSequence): void {
    const gap = this.#limit === Infinity ? 0 : ownGap(sequence);
    this.#kept.push({ sequence, gap });
    // Sorting now and then costs less than keeping an order.
    if (this.#kept.length >= 2 * this.#limit + 64) this.#cut();
  }

  /** The sequences, the largest gap first where there is a limit. */
  get sequences(): readonly TokenSequence[] {
    this.#cut();
    return this.#kept.map(({ sequence }) => sequence);
  }

  #cut(): void {
    if (this.#limit === Infinity) return;
    this.#kept = this.#kept.toSorted((a, b) => b.gap - a.gap).slice(0, this.#limit);
  }
}
