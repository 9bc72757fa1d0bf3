/** `mask_on_unsampled`, `forced_end`, `mask_leaves_out` and `no_trained_token`: the loss mask against who wrote the tokens. */
import type { Finding } from "../finding.ts";
import { type Authorship, authorsOf } from "./authorship.ts";
import { EndTally, judgeEnds } from "./ends.ts";
import {
  greater,
  notCheckable,
  runsOf,
  type SequenceView,
  shownBy,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf } from "./words.ts";

const ON_UNSAMPLED = "mask_on_unsampled";
const LEAVES_OUT = "mask_leaves_out";

/** Where a token is in its turn. */
type Place = "first" | "inside" | "last" | "end";

const PLACES: readonly Place[] = ["first", "inside", "last", "end"];

const PLACE_WORDS: Readonly<Record<Place, string>> = {
  first: "the first trained token of a turn",
  inside: "tokens inside a turn",
  last: "the last trained token of a turn",
  end: "the last token of a sequence",
};

/** Turns of whose tokens at one place something is said. */
class PlaceTally {
  sure = 0;
  probable = 0;
  worst: Witness | undefined;

  add(view: SequenceView, token: number, isSure: boolean): void {
    if (isSure) this.sure++;
    else this.probable++;
    this.worst = greater(this.worst, witness(view, token, -token));
  }

  get count(): number {
    return this.sure + this.probable;
  }
}

/** Turns that must show the same before what is probable becomes certain: chance puts no token at one place so often. */
const LEAST_TURNS = 3;
const MOST_TURNS = 0.5;

const isGiven = (author: Authorship) => author === "given" || author === "probably-given";
const isSampled = (author: Authorship) => author === "sampled" || author === "probably-sampled";
const isSure = (author: Authorship) => author === "given" || author === "sampled";

class MaskTally {
  sequences = 0;
  masked = 0;
  known = 0;
  untrained = 0;
  firstUntrained: Witness | undefined;
  turns = 0;
  readonly unsampled = new Map(PLACES.map((place) => [place, new PlaceTally()]));
  /** Sampled tokens right before, right after and apart from what is trained. */
  readonly before = new PlaceTally();
  readonly after = new PlaceTally();
  readonly apart = new PlaceTally();
  readonly ends = new EndTally();

  add(view: SequenceView): void {
    const { sequence } = view;
    const { mask, ids } = sequence;
    this.sequences++;
    if (!mask || ids.length === 0) return;
    this.masked++;
    const turns = runsOf(mask);
    if (turns.length === 0) {
      this.untrained++;
      this.firstUntrained = greater(this.firstUntrained, witness(view, 0, 0));
      return;
    }
    this.ends.add(view, turns);
    const authors = authorsOf(sequence);
    if (!authors.isKnown) return;
    this.known++;
    this.turns += turns.length;
    for (const { from, until } of turns) {
      for (let i = Math.max(1, from); i < until; i++) {
        const author = authors.of(i);
        if (!isGiven(author)) continue;
        const place = i === ids.length - 1
          ? "end"
          : i === from
          ? "first"
          : i === until - 1
          ? "last"
          : "inside";
        this.unsampled.get(place)?.add(view, i, isSure(author));
      }
      for (const [i, tally] of [[from - 1, this.before], [until, this.after]] as const) {
        const author = i < 1 || i >= ids.length ? "unknown" : authors.of(i);
        if (isSampled(author)) tally.add(view, i, isSure(author));
      }
    }
    for (let i = 1; i + 1 < ids.length; i++) {
      if (mask[i - 1] === 1 || mask[i] === 1 || mask[i + 1] === 1) continue;
      const author = authors.of(i);
      if (isSampled(author)) this.apart.add(view, i, isSure(author));
    }
  }

  /** True where so many turns show it that no other reading is left. */
  isCertain(tally: PlaceTally, of = this.turns): boolean {
    return tally.sure > 0 || (tally.count >= LEAST_TURNS && tally.count >= MOST_TURNS * of);
  }
}

function onUnsampled(tally: MaskTally): Finding[] {
  const inside = tally.unsampled.get("inside");
  const found = (["first", "last", "inside"] as const).flatMap((place) => {
    const one = tally.unsampled.get(place);
    if (!one || one.count === 0) return [];
    // An exact 0 inside of turns is a cut distribution's; a log-prob that lacks there may be a NaN that the writer dropped.
    if (place === "inside" && one.sure === 0) return [];
    const zeros = inside?.probable ?? 0;
    if (one.sure === 0 && zeros > one.count) return [];
    return tally.isCertain(one) || one.count >= LEAST_TURNS ? [{ place, one }] : [];
  });
  const [first] = found.toSorted((a, b) => b.one.count - a.one.count);
  if (!first) return [];
  const { place, one } = first;
  const where = found.map(({ place, one }) =>
    `${PLACE_WORDS[place]} (${one.count}${
      place === "inside" ? "" : ` of ${countOf(tally.turns, "turn")}`
    })`
  ).join(", ");
  const shift = place === "first" && tally.isCertain(tally.after)
    ? ": the mask is one column early"
    : place === "last" && tally.isCertain(tally.before)
    ? ": the mask is one column late"
    : "";
  return [{
    id: ON_UNSAMPLED,
    class: found.some(({ one }) => tally.isCertain(one)) ? "violated" : "suspect",
    metric: "loss_tokens",
    value: found.reduce((sum, { one }) => sum + one.count, 0),
    bound: 0,
    boundFrom: "the policy can only be credited with tokens that it drew",
    sentence: `The loss trains tokens that the policy did not draw: ${where}${shift}.`,
    next: "Build the mask from who wrote each token, and move it together with the labels.",
    ...shownBy(one.worst),
  }];
}

function forcedEnd(tally: MaskTally): Finding[] {
  const ends = tally.unsampled.get("end");
  const zeros = tally.unsampled.get("inside")?.probable ?? 0;
  if (ends && ends.count > 0 && (ends.sure > 0 || ends.probable > zeros)) {
    return [{
      id: "forced_end",
      class: ends.sure > 0 || ends.count >= LEAST_TURNS ? "violated" : "suspect",
      value: ends.count,
      bound: 0,
      boundFrom: "the policy can only be credited with tokens that it drew",
      sentence: `${
        countOf(ends.count, "sequence")
      } of ${tally.masked} end in a token that is trained and that nobody drew: an end was appended to what the length limit had cut.`,
      next: "Leave appended ends out of the mask: they teach the policy to stop mid-sentence.",
      ...shownBy(ends.worst),
    }];
  }
  return judgeEnds(tally.ends).filter(({ id }) => id === "forced_end");
}

function leavesOut(tally: MaskTally): Finding[] {
  const { before, after, apart } = tally;
  const found = ([["first", before], ["last", after]] as const)
    .filter(([, one]) => one.count >= LEAST_TURNS && one.count >= MOST_TURNS * tally.turns);
  const [first] = found.toSorted(([, a], [, b]) => b.count - a.count);
  if (first) {
    const where = found.map(([place, one]) =>
      `the ${place} token of ${one.count} of ${countOf(tally.turns, "turn")}`
    ).join(" and ");
    return [{
      id: LEAVES_OUT,
      class: "suspect",
      metric: "loss_tokens",
      value: first[1].count,
      bound: 0,
      boundFrom: "every token that the policy drew has a share in the outcome",
      sentence: `The policy drew tokens that are never trained: ${where}${
        first[0] === "last" ? "; an end that is never trained is never learned" : ""
      }.`,
      next:
        "Let the mask begin at the first drawn token of a turn and end with its end-of-turn token.",
      ...shownBy(first[1].worst),
    }];
  }
  const ends = judgeEnds(tally.ends).filter(({ id }) => id === LEAVES_OUT);
  if (ends.length > 0) return ends;
  const rest = before.count + after.count + apart.count;
  if (tally.known === 0) return [];
  if (rest === 0) {
    return [{
      id: LEAVES_OUT,
      class: "holds",
      sentence: "The mask trains every token that the policy drew.",
    }];
  }
  return [{
    id: LEAVES_OUT,
    class: "note",
    metric: "loss_tokens",
    value: rest,
    sentence: `${
      countOf(rest, "drawn token")
    } are left out beside those that are trained, as where only some turns are meant to be trained.`,
    ...shownBy(apart.worst ?? after.worst ?? before.worst),
  }];
}

function untrained(tally: MaskTally): Finding[] {
  const { untrained: count, masked } = tally;
  const id = "no_trained_token";
  if (masked === 0) return [];
  if (count === 0) {
    return [{ id, class: "holds", sentence: "Every sequence has a token that is trained." }];
  }
  const isAll = count === masked;
  return [{
    id,
    class: isAll ? "violated" : "note",
    value: count,
    sentence: isAll
      ? `None of the ${countOf(masked, "sequence")} has a token that is trained.`
      : `${count} of ${
        countOf(masked, "sequence")
      } have no token that is trained, as where cut answers are left out: their mean over 0 tokens must not be taken.`,
    ...shownBy(tally.firstUntrained),
  }];
}

/** The loss mask. */
export const MASK: TokenCheckKind = {
  ids: [ON_UNSAMPLED, "forced_end", LEAVES_OUT, "no_trained_token"],
  open() {
    const tally = new MaskTally();
    return {
      add: (view) => tally.add(view),
      finish() {
        const none = untrained(tally);
        const what = "whether the loss trains the tokens that the policy drew, and no others";
        if (tally.masked === 0) return [notCheckable(ON_UNSAMPLED, what, "loss mask")];
        const lacking = tally.known === 0 && tally.untrained < tally.masked
          ? [notCheckable(ON_UNSAMPLED, what, "role or sampled flag, nor log-probs of the sampler")]
          : [];
        const on = onUnsampled(tally), forced = forcedEnd(tally);
        const holds: Finding[] = tally.known > 0 && on.length === 0 && forced.length === 0
          ? [{
            id: ON_UNSAMPLED,
            class: "holds",
            sentence: "Every trained token was drawn by the policy.",
          }]
          : [];
        return [...on, ...forced, ...leavesOut(tally), ...none, ...holds, ...lacking];
      },
    };
  },
};
