/** `non_finite_token`: values that are not numbers at tokens that the loss trains. */
import type { TokenSequence, TokenValues } from "../../tokens/token_batch.ts";
import type { Finding } from "../finding.ts";
import {
  greater,
  type SequenceView,
  shownBy,
  SIDE_WORDS,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf } from "./words.ts";

const ID = "non_finite_token";

/** The arrays of a sequence by what a sentence calls them, in the order in which one makes the next not finite. */
function arraysOf({ logProbs, entropy, advantages }: TokenSequence): [string, TokenValues][] {
  const { sampler, old, reference, trainer } = logProbs;
  const all: readonly (readonly [string, TokenValues | undefined])[] = [
    [SIDE_WORDS.sampler, sampler],
    ["the advantages", advantages],
    [SIDE_WORDS.old, old],
    [SIDE_WORDS.reference, reference],
    [SIDE_WORDS.trainer, trainer],
    ["the entropies", entropy],
  ];
  return all.flatMap(([name, values]) => values ? [[name, values]] : []);
}

/** What was seen of one array. */
interface Seen {
  /** NaN or infinite at a token that is trained. */
  trained: number;
  /** NaN or infinite elsewhere: nothing depends on it. */
  untrained: number;
  /** Nothing where other trained tokens of the sequence have a value. */
  missing: number;
  first?: Witness;
  firstMissing?: Witness;
}

function lookAt(seen: Seen, view: SequenceView, { values, nonFinite }: TokenValues): void {
  const { scored } = view;
  const known = new Set(nonFinite);
  for (const i of known) {
    if (scored[i] !== 1) {
      seen.untrained++;
      continue;
    }
    seen.trained++;
    // The earliest of a sequence shows it: what follows may follow from it.
    seen.first = greater(seen.first, witness(view, i, -i));
  }
  let valued = 0, missing = 0, at = -1;
  for (let i = 1; i < values.length; i++) {
    if (scored[i] !== 1 || known.has(i)) continue;
    if (Number.isFinite(values[i])) valued++;
    else {
      missing++;
      if (at < 0) at = i;
    }
  }
  if (valued === 0 || missing === 0) return;
  seen.missing += missing;
  seen.firstMissing = greater(seen.firstMissing, witness(view, at, -at));
}

function findingsOf(arrays: ReadonlyMap<string, Seen>): Finding[] {
  const names = [...arrays.keys()];
  const found: Finding[] = [];
  const broken = names.filter((name) => (arrays.get(name)?.trained ?? 0) > 0);
  if (broken.length > 0) {
    const [first = ""] = broken;
    const seen = arrays.get(first);
    const counts = broken.map((name) => `${name} (${arrays.get(name)?.trained})`).join(", ");
    found.push({
      id: ID,
      class: "violated",
      value: null,
      sentence:
        `Tokens that are trained have values that are NaN or infinite, by count: ${counts}.`,
      next:
        "Look at this token's sequence first: a row without a trained token, a log of 0, a padded row in a mean.",
      ...shownBy(seen?.first),
    });
  }
  const lacking = names.filter((name) => (arrays.get(name)?.missing ?? 0) > 0)
    // The sampler's are judged by the checks of the mask: there a missing value says who wrote the token.
    .filter((name) => name !== SIDE_WORDS.sampler && !broken.includes(name));
  if (lacking.length > 0) {
    const counts = lacking.map((name) => `${name} (${arrays.get(name)?.missing})`).join(", ");
    found.push({
      id: ID,
      class: "suspect",
      value: null,
      sentence:
        `Trained tokens lack a value where their neighbours have one, by count: ${counts}. Some writers put null where a number is NaN.`,
      ...shownBy(arrays.get(lacking[0])?.firstMissing),
    });
  }
  if (found.length > 0) return found;
  const beside = names.filter((name) => (arrays.get(name)?.untrained ?? 0) > 0);
  if (beside.length === 0) {
    return [{ id: ID, class: "holds", sentence: "Every value at a trained token is finite." }];
  }
  const count = beside.reduce((sum, name) => sum + (arrays.get(name)?.untrained ?? 0), 0);
  return [{
    id: ID,
    class: "note",
    sentence: `${countOf(count, "value")} of ${beside.join(", ")} ${
      count === 1 ? "is" : "are"
    } NaN or infinite, none of them at a trained token: a product with the mask's 0 would still be NaN.`,
  }];
}

/** Values that are not numbers. */
export const NON_FINITE: TokenCheckKind = {
  ids: [ID],
  open() {
    const arrays = new Map<string, Seen>();
    return {
      add(view) {
        for (const [name, values] of arraysOf(view.sequence)) {
          let seen = arrays.get(name);
          if (!seen) arrays.set(name, seen = { trained: 0, untrained: 0, missing: 0 });
          lookAt(seen, view, values);
        }
      },
      finish: () => arrays.size === 0 ? [] : findingsOf(arrays),
    };
  },
};
