/** `lengths_disagree`: the length of an answer that a dump states against the tokens that the policy drew. */
import type { Finding } from "../finding.ts";
import { authorsOf } from "./authorship.ts";
import {
  greater,
  notCheckable,
  type SequenceView,
  shownBy,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf } from "./words.ts";

const ID = "lengths_disagree";

/** What a stated length may count instead. */
const COUNTED = [
  "all tokens after the prompt, also those of tools",
  "all tokens of the sequence",
  "all tokens of the row and its padding",
] as const;

function countsOf({ sequence: { ids, padding }, spans }: SequenceView): readonly number[] {
  const first = spans[0]?.from ?? ids.length;
  return [
    ids.length - first,
    ids.length,
    ids.length + (padding?.left ?? 0) + (padding?.right ?? 0),
  ];
}

/** Tokens that the policy drew: as the dump says, else as the mask does. */
function drawnOf({ sequence, scored }: SequenceView): number {
  const { sampled, roles, ids } = sequence;
  if (!sampled && !roles) return scored.reduce((sum, flag) => sum + flag, 0);
  const authors = authorsOf(sequence);
  let drawn = 0;
  for (let i = 0; i < ids.length; i++) {
    const author = authors.of(i);
    drawn += Number(author === "sampled" || (!sampled && scored[i] === 1 && author !== "given"));
  }
  return drawn;
}

/** Lengths of answers. */
export const LENGTHS: TokenCheckKind = {
  ids: [ID],
  open() {
    let known = 0, off = 0;
    const matches = COUNTED.map(() => 0);
    let worst:
      | { readonly shown: Witness; readonly stated: number; readonly drawn: number }
      | undefined;
    return {
      add(view) {
        const { sequence: { answerLength, ids } } = view;
        if (answerLength === undefined || ids.length === 0) return;
        known++;
        const drawn = drawnOf(view);
        if (drawn === answerLength) return;
        off++;
        countsOf(view).forEach((count, kind) => matches[kind] += Number(count === answerLength));
        const shown = witness(view, view.spans[0]?.from ?? 0, Math.abs(answerLength - drawn));
        if (greater(worst?.shown, shown) === shown) worst = { shown, stated: answerLength, drawn };
      },
      finish(): Finding[] {
        const what = "whether stated lengths are those of the drawn tokens";
        if (known === 0) {
          return [notCheckable(ID, what, "stated length of answers beside their ids")];
        }
        if (!worst) {
          return [{
            id: ID,
            class: "holds",
            sentence: "Stated lengths are the numbers of drawn tokens.",
          }];
        }
        const kind = matches.findIndex((count) => count === off);
        const counts = kind < 0 ? "" : `: they count ${COUNTED[kind]}`;
        return [{
          id: ID,
          class: "suspect",
          metric: "length",
          value: worst.stated,
          bound: worst.drawn,
          boundFrom: "tokens that the policy drew",
          sentence: `Stated lengths of ${off} of ${
            countOf(known, "answer")
          } are not those of the drawn tokens, for example ${worst.stated} where ${worst.drawn} were drawn${counts}.`,
          next: "Measure limits, penalties and means of length on the tokens of the loss mask.",
          ...shownBy(worst.shown),
        }];
      },
    };
  },
};
