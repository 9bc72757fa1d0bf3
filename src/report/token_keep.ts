/** The sequences of a dump that a page has room for: the worst with the others of their groups, of long ones the part to look at. */
import type { Finding } from "../diagnose/finding.ts";
import type { TokenSequence, TokenValues } from "../tokens/token_batch.ts";
import type { SequenceSummary } from "./token_summary.ts";

/** A sequence that is shown. */
export interface KeptSequence {
  readonly summary: SequenceSummary;
  /** What points to it. */
  readonly findings: readonly Finding[];
  /** The first token that is kept. */
  readonly begin: number;
  /** The kept tokens alone; texts are cut as well. */
  readonly tokens: TokenSequence;
}

/** Tokens of a sequence that are kept: about what can be read. */
export const MAX_WINDOW = 1200;

/** Sequences on a page: more make lists that nobody reads. */
const MAX_SEQUENCES = 1000;

/** Characters of a text. */
const MAX_TEXT = 4000;

/** Base64 of a 32-bit number has so many bytes. */
const BYTES_PER_NUMBER = 16 / 3;

/** Names, counts and runs of a sequence, about. */
const BYTES_PER_SEQUENCE = 600;

function windowOfValues(
  { values, nonFinite }: TokenValues,
  { begin, end }: { readonly begin: number; readonly end: number },
): TokenValues {
  return {
    values: values.slice(begin, end),
    nonFinite: nonFinite.filter((i) => i >= begin && i < end).map((i) => i - begin),
  };
}

/** The middle of a text is what it can lose. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const half = MAX_TEXT / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.toWellFormed();
}

/** Some tokens of a sequence. */
function windowOf(sequence: TokenSequence, begin: number, end: number): TokenSequence {
  const { mask, sampled, roles, weightVersions, positions, entropy, advantages } = sequence;
  const { prompt, answer } = sequence;
  const range = { begin, end };
  return {
    ...sequence,
    ids: sequence.ids.slice(begin, end),
    ...(mask && { mask: mask.slice(begin, end) }),
    ...(sampled && { sampled: sampled.slice(begin, end) }),
    ...(roles && { roles: roles.slice(begin, end) }),
    ...(weightVersions && { weightVersions: weightVersions.slice(begin, end) }),
    ...(positions && { positions: positions.slice(begin, end) }),
    logProbs: Object.fromEntries(
      Object.entries(sequence.logProbs).map(([side, values]) =>
        [side, windowOfValues(values, range)] as const
      ),
    ),
    ...(entropy && { entropy: windowOfValues(entropy, range) }),
    ...(advantages && { advantages: windowOfValues(advantages, range) }),
    ...(prompt !== undefined && { prompt: shortened(prompt) }),
    ...(answer !== undefined && { answer: shortened(answer) }),
  };
}

/** Bytes that a sequence fills in a page, about. */
function sizeOf({ tokens }: KeptSequence): number {
  const { ids, logProbs, entropy, advantages, prompt = "", answer = "" } = tokens;
  const columns = 1 + Object.keys(logProbs).length + Number(Boolean(entropy)) +
    Number(Boolean(advantages));
  return BYTES_PER_SEQUENCE + ids.length * columns * BYTES_PER_NUMBER +
    1.1 * (prompt.length + answer.length);
}

/** Negative where a sequence is to be shown before another. */
function compare({ summary: a }: KeptSequence, { summary: b }: KeptSequence): number {
  // Not by subtraction: two badnesses may be infinite.
  return b.severity - a.severity || Number(b.badness > a.badness) - Number(b.badness < a.badness) ||
    Number(a.key) - Number(b.key);
}

interface KeptGroup {
  readonly members: KeptSequence[];
  worst: KeptSequence;
  sizeBytes: number;
}

/**
 * Keeps what a page has room for. Room is made by leaving out the group whose worst member is the least bad: groups stay whole
 * where they can, since their members are to be compared.
 */
export class WorstSequences {
  readonly #maxBytes: number;
  readonly #groups = new Map<string, KeptGroup>();
  #sizeBytes = 0;
  #count = 0;

  /** @param maxBytes What they may fill together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the next sequence. */
  add(
    sequence: TokenSequence,
    { summary, findings }: {
      readonly summary: SequenceSummary;
      readonly findings: readonly Finding[];
    },
  ): void {
    const last = Math.max(0, sequence.ids.length - MAX_WINDOW);
    const begin = Math.min(last, Math.max(0, summary.focus - MAX_WINDOW / 2));
    const tokens = windowOf(sequence, begin, begin + MAX_WINDOW);
    const kept: KeptSequence = { summary, findings, begin, tokens };
    const key = summary.groupKey ?? `#${summary.key}`;
    const group = this.#groups.get(key) ?? { members: [], worst: kept, sizeBytes: 0 };
    group.members.push(kept);
    if (compare(kept, group.worst) < 0) group.worst = kept;
    this.#groups.set(key, group);
    this.#resize(group, { sizeBytes: sizeOf(kept), count: 1 });
    while (this.#sizeBytes > this.#maxBytes || this.#count > MAX_SEQUENCES) this.#makeRoom();
  }

  #resize(
    group: KeptGroup,
    { sizeBytes, count }: { readonly sizeBytes: number; readonly count: number },
  ): void {
    group.sizeBytes += sizeBytes;
    this.#sizeBytes += sizeBytes;
    this.#count += count;
  }

  /** Leaves out the least bad group; of one that fills half of the page, its least bad member. */
  #makeRoom(): void {
    let [leastKey, least] = ["", undefined as KeptGroup | undefined];
    for (const [key, group] of this.#groups) {
      if (!least || compare(group.worst, least.worst) > 0) [leastKey, least] = [key, group];
    }
    if (!least) return;
    const { members, sizeBytes } = least;
    const isHuge = sizeBytes > this.#maxBytes / 2 || members.length > MAX_SEQUENCES / 2;
    if (isHuge && members.length > 1) {
      const last = members.reduce((worst, one) => compare(one, worst) > 0 ? one : worst);
      members.splice(members.indexOf(last), 1);
      this.#resize(least, { sizeBytes: -sizeOf(last), count: -1 });
      return;
    }
    this.#groups.delete(leastKey);
    this.#resize(least, { sizeBytes: -sizeBytes, count: -members.length });
  }

  /** What is kept, the worst first. */
  finish(): KeptSequence[] {
    return [...this.#groups.values()].flatMap(({ members }) => members).sort(compare);
  }
}
