/** What a check of a token dump is: an accumulator that sees one sequence after the other and keeps no more than it must. */
import type { LogProbSide, TokenSequence, TokenSource } from "../../tokens/token_batch.ts";
import type { Finding, FindingPlace } from "../finding.ts";
import type { EngineBounds } from "./engine_bounds.ts";

/** What is known of a dump besides its sequences. */
export interface TokenContext {
  readonly source: TokenSource;
  /** What two engines may differ by. */
  readonly bounds: EngineBounds;
  /** Samples that share a prompt, where the user told. */
  readonly groupSize: number | undefined;
}

/** One check while a dump passes through. */
export interface TokenCheck {
  add(view: SequenceView): void;
  /** What is to be said once all sequences have passed; an order of the sequences that is another changes nothing. */
  finish(): readonly Finding[];
}

/** A check, ready to be opened for a dump. */
export interface TokenCheckKind {
  /** The findings that it can make. */
  readonly ids: readonly string[];
  open(context: TokenContext): TokenCheck;
}

/** Standard errors between a mean and what it surely exceeds: a chance of 1 in 700 of noise. */
export const SURE = 3;

/** A run of scored tokens: one turn of the policy. */
export interface Span {
  /** Index of its first token. */
  readonly from: number;
  /** Index after its last token. */
  readonly until: number;
}

/** A sequence with what several checks ask of it. */
export interface SequenceView {
  readonly sequence: TokenSequence;
  /** 1 at tokens of the policy: what the mask trains, else what the dump says was sampled, else what the sampler scored. */
  readonly scored: Uint8Array;
  /** Runs of scored tokens. */
  readonly spans: readonly Span[];
  /** A name that does not depend on where the sequence is in its file. */
  readonly hash: number;
}

const ASSISTANT = 2; // In TOKEN_ROLES.

/** The tokens that the policy is scored at. The first token has nothing before it, so that no log-prob is about it. */
function scoredTokens(sequence: TokenSequence): Uint8Array {
  const { mask, sampled, roles, logProbs, ids } = sequence;
  const scored = new Uint8Array(ids.length);
  for (let i = 1; i < ids.length; i++) {
    const isScored = mask
      ? mask[i] === 1
      : sampled
      ? sampled[i] === 1
      : roles
      ? roles[i] === ASSISTANT
      : logProbs.sampler !== undefined && logProbs.sampler.values[i] < 0;
    scored[i] = Number(isScored);
  }
  return scored;
}

/** Runs of ones. */
export function runsOf(flags: ArrayLike<number>): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < flags.length; i++) {
    if (flags[i] !== 1) continue;
    const from = i;
    while (i + 1 < flags.length && flags[i + 1] === 1) i++;
    spans.push({ from, until: i + 1 });
  }
  return spans;
}

/**
 * Hash of token ids: two multiplicative hashes of 32 bits, of which 53 bits are kept, so that a number can hold it. A million
 * different sequences have a chance of 1 in 20,000 of two that are taken for equal.
 *
 * @param ids Token ids, or any integers of 32 bits.
 */
export function hashOf(ids: ArrayLike<number>, from = 0, until = ids.length): number {
  let [low, high] = [0x9e3779b9, 0x85ebca6b];
  for (let i = from; i < until; i++) {
    low = Math.imul(low ^ ids[i], 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high + ids[i], 0xcc9e2d51);
    high ^= high >>> 13;
  }
  low = Math.imul(low ^ (low >>> 16), 0x7feb352d);
  high = Math.imul(high ^ (high >>> 16), 0x846ca68b);
  return (low >>> 0) * 2 ** 21 + (high >>> 11);
}

/** Hash of a text, as {@linkcode hashOf}. */
export function hashOfText(text: string): number {
  return hashOf(Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i)));
}

/** Looks at a sequence. */
export function viewOf(sequence: TokenSequence): SequenceView {
  const scored = scoredTokens(sequence);
  const { ids, prompt = "", answer = "" } = sequence;
  const hash = ids.length > 0 ? hashOf(ids) : hashOfText(`${prompt}\u0000${answer}`);
  return { sequence, scored, spans: runsOf(scored), hash };
}

/** What says where a sequence stands. */
export interface Origin {
  readonly file: string;
  readonly row: number;
  readonly offset: number;
  readonly sample?: string;
}

/** Where a token stands. */
export function placeOf({ file, row, sample, offset }: Origin, token?: number): FindingPlace {
  return {
    file,
    row,
    ...(sample === undefined ? {} : { sample }),
    // A row that packs several sequences counts its tokens through.
    ...(token === undefined ? {} : { token: offset + token }),
  };
}

/** A token that shows something, and how much. */
export interface Witness {
  readonly size: number;
  readonly place: FindingPlace;
  readonly step: number | undefined;
  /** Decides between equals, whatever the order of the rows. */
  readonly hash: number;
}

/** The greater of two witnesses; of equals the one with the smaller hash, so that the order of rows decides nothing. */
export function greater(one: Witness | undefined, other: Witness): Witness {
  if (!one || other.size > one.size) return other;
  return other.size === one.size && compareWitnesses(other, one) < 0 ? other : one;
}

/** The greatest of witnesses. */
export function greatest(witnesses: Iterable<Witness>): Witness | undefined {
  let found: Witness | undefined;
  for (const one of witnesses) found = greater(found, one);
  return found;
}

/** An order of equals that does not depend on the order of rows. */
export function compareWitnesses(a: Witness, b: Witness): number {
  const names = ({ place: { sample = "", file } }: Witness) => `${sample}\n${file}`;
  return a.hash - b.hash || (names(a) < names(b) ? -1 : Number(names(a) > names(b)));
}

/** `at` and `step` of a finding that a witness shows. */
export function shownBy(witness: Witness | undefined): Pick<Finding, "at" | "step"> {
  if (!witness) return {};
  return { at: witness.place, ...(witness.step === undefined ? {} : { step: witness.step }) };
}

/** A witness for one token of a sequence. */
export function witness({ sequence, hash }: SequenceView, token: number, size: number): Witness {
  return { size, place: placeOf(sequence, token), step: sequence.step, hash };
}

/** Whose log-probs, as a sentence says it. */
export const SIDE_WORDS: Readonly<Record<LogProbSide, string>> = {
  sampler: "the sampler's log-probs",
  old: "the old log-probs",
  trainer: "the trainer's log-probs",
  reference: "the reference's log-probs",
};

/**
 * What lacks, as a finding.
 *
 * @param what What cannot be said without it, for a sentence: `whether …`.
 * @param field What the dump would have to hold.
 */
export function notCheckable(id: string, what: string, field: string): Finding {
  return {
    id,
    class: "not-checkable",
    sentence: `Not checked: ${what}. The dump has no ${field}.`,
  };
}
