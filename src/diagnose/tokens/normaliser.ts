/** `normaliser_wrong`: the denominator that a dump states against the tokens that it holds. */
import type { Finding } from "../finding.ts";
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

const ID = "normaliser_wrong";

/** Whose tokens a mean may be over. */
const SCOPES = ["step", "rank", "micro-batch", "sequence"] as const;

type Scope = typeof SCOPES[number];

/** What a denominator may count; the first two are right, each for its own aggregation. */
const COUNTS = ["trained", "sequences", "behindPrompt", "tokens", "padded"] as const;

type Counted = typeof COUNTS[number];

const COUNT_WORDS: Readonly<Record<Counted, string>> = {
  trained: "trained tokens",
  sequences: "sequences",
  behindPrompt: "tokens after the prompts, masked ones included",
  tokens: "tokens, prompts and masked ones included",
  padded: "tokens and padding",
};

/** The sequences of one scope. */
interface Tally {
  readonly counts: Record<Counted, number>;
  readonly stated: Set<number>;
  worst?: Witness;
}

function isCountedAs(stated: number, count: number): boolean {
  return Math.abs(stated - count) <= 1e-6 * Math.max(1, count);
}

function keyOf({ sequence, hash }: SequenceView, scope: Scope): string {
  const { file, row, step, rank, microBatch, phase, offset } = sequence;
  const parts: (string | number | undefined)[] = [phase, step];
  if (scope !== "step") parts.push(rank);
  if (scope === "micro-batch") parts.push(microBatch);
  if (scope === "sequence") parts.push(file, row, offset, hash);
  return JSON.stringify([scope, ...parts.map((part) => part ?? null)]);
}

class NormaliserTally {
  readonly scopes = new Map<string, { readonly scope: Scope; readonly tally: Tally }>();
  readonly aggregations = new Set<string>();
  count = 0;

  add(view: SequenceView): void {
    const { sequence, scored, spans } = view;
    const { loss, mask, ids, padding } = sequence;
    if (loss?.denominator === undefined || !mask) return;
    this.count++;
    if (loss.aggregation !== undefined) this.aggregations.add(loss.aggregation);
    const first = spans[0]?.from ?? ids.length;
    const own: Record<Counted, number> = {
      trained: scored.reduce((sum, flag) => sum + flag, 0),
      sequences: 1,
      behindPrompt: ids.length - first,
      tokens: ids.length,
      padded: ids.length + (padding?.left ?? 0) + (padding?.right ?? 0),
    };
    for (const scope of SCOPES) {
      if (scope === "micro-batch" && sequence.microBatch === undefined) continue;
      if (scope === "rank" && sequence.rank === undefined) continue;
      const key = keyOf(view, scope);
      let entry = this.scopes.get(key);
      if (!entry) {
        const counts = { trained: 0, sequences: 0, behindPrompt: 0, tokens: 0, padded: 0 };
        this.scopes.set(key, entry = { scope, tally: { counts, stated: new Set() } });
      }
      const { tally } = entry;
      for (const name of COUNTS) tally.counts[name] += own[name];
      tally.stated.add(loss.denominator);
      tally.worst = greater(tally.worst, witness(view, first, own.tokens - own.trained));
    }
  }

  /** The scopes and counts that give the stated denominator wherever it is stated. */
  matches(): { readonly scope: Scope; readonly counted: Counted; readonly example: Tally }[] {
    const all = [...this.scopes.values()];
    return SCOPES.flatMap((scope) => {
      const tallies = all.filter((entry) => entry.scope === scope).map(({ tally }) => tally);
      if (tallies.length === 0) return [];
      return COUNTS.flatMap((counted) => {
        const isAll = tallies.every(({ stated, counts }) =>
          [...stated].every((value) => isCountedAs(value, counts[counted]))
        );
        const example = tallies.toSorted((a, b) =>
          (b.worst?.size ?? 0) - (a.worst?.size ?? 0) || (a.worst?.hash ?? 0) - (b.worst?.hash ?? 0)
        )[0];
        return isAll && example ? [{ scope, counted, example }] : [];
      });
    });
  }
}

function judge(tally: NormaliserTally): Finding {
  const matches = tally.matches();
  const right = matches.find(({ counted }) => counted === "trained" || counted === "sequences");
  const stated = [...tally.scopes.values()].flatMap(({ tally }) => [...tally.stated]);
  const aggregations = [...tally.aggregations].sort().join(", ");
  const called = aggregations === "" ? "" : ` (${aggregations})`;
  if (right) {
    return {
      id: ID,
      class: "holds",
      sentence: `The stated denominator${called} is the number of ${
        COUNT_WORDS[right.counted]
      } of each ${right.scope}.`,
    };
  }
  const [wrong] = matches;
  if (wrong) {
    const { counts, stated: [value], worst } = wrong.example;
    return {
      id: ID,
      class: "violated",
      metric: "loss_tokens",
      value,
      bound: counts.trained,
      boundFrom: `${COUNT_WORDS.trained} of the ${wrong.scope}`,
      sentence: `The loss is divided by ${say(value)}${called}, the number of ${
        COUNT_WORDS[wrong.counted]
      } of the ${wrong.scope}, of which only ${counts.trained} are trained: the step is ${
        say(value / counts.trained)
      } times too small, and more so the more is masked.`,
      next: "Divide by the sum of the loss mask.",
      ...shownBy(worst),
    };
  }
  if (new Set(stated).size === 1) {
    return {
      id: ID,
      class: "note",
      value: stated[0],
      sentence: `The loss is divided by ${
        say(stated[0])
      }${called} everywhere, a constant that counts nothing in this dump.`,
    };
  }
  return {
    id: ID,
    class: "not-checkable",
    sentence: `Not checked: what the loss is divided by. ${
      countOf(new Set(stated).size, "stated denominator")
    }${called} count neither tokens nor sequences of any step, rank, micro-batch or sequence of this dump, which may hold only part of the batch.`,
  };
}

/** Denominator of the loss. */
export const NORMALISER: TokenCheckKind = {
  ids: [ID],
  open() {
    const tally = new NormaliserTally();
    return {
      add: (view) => tally.add(view),
      finish: () =>
        tally.count === 0
          ? [notCheckable(ID, "what the loss is divided by", "stated denominator beside a mask")]
          : [judge(tally)],
    };
  },
};
