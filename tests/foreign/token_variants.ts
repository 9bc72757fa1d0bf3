/** What a variant of a dump is, and the moves that breakages and unusual healthy dumps are made of. */
import { type RandomSequence, randomSequence } from "../../src/core/rng.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import {
  type Draft,
  draftsOf,
  END,
  type Episode,
  type Kind,
  kindOf,
  sequencesOf,
} from "./recorded_batches.ts";

/** What a breakage may use. */
export interface Bench {
  readonly drafts: Draft[];
  readonly kind: Kind;
  readonly random: RandomSequence;
}

/** One way to break a dump, or to make a healthy one unusual. */
export interface Variant {
  /** The check that must say it; undefined of a healthy dump. */
  readonly expected?: string;
  /** One of these says it as well. */
  readonly or?: readonly string[];
  /** Changes the kind of dump. */
  readonly kind?: (kind: Kind) => Kind;
  /** Changes the drafts; what is returned takes their place. */
  readonly change?: (bench: Bench) => Draft[] | void;
  /** Changes the sequences that were made of them. */
  readonly finish?: (sequences: readonly TokenSequence[], bench: Bench) => readonly TokenSequence[];
}

export const isDrawn = ({ drawn }: Draft, i: number) => drawn[i] === 1;

export function byGroup(drafts: readonly Draft[]): Draft[][] {
  const groups = Map.groupBy(drafts, ({ step, group }) => `${step} ${group}`);
  return [...groups.values()];
}

export function byStep(drafts: readonly Draft[]): Draft[][] {
  return [...Map.groupBy(drafts, ({ step }) => step).values()];
}

export const rewardsOf = (drafts: readonly Draft[]) => drafts.map(({ reward }) => reward);

/** Moves an array: value i goes to i + offset. */
export function moved<T>(values: readonly T[], offset: number, filler: T): T[] {
  return values.map((_, i) => values[i - offset] ?? filler);
}

/** Ends of the policy's turns: the index of each last token. */
export function turnEnds({ drawn }: Draft): number[] {
  return drawn.flatMap((flag, i) => flag === 1 && drawn[i + 1] !== 1 ? [i] : []);
}

/** Puts a token that nobody drew behind an index. */
export function insert(draft: Draft, behind: number, id: number, role = 3): void {
  const at = behind + 1;
  draft.ids.splice(at, 0, id);
  draft.mask.splice(at, 0, 0);
  draft.drawn.splice(at, 0, 0);
  draft.roles.splice(at, 0, role);
  draft.sampler.splice(at, 0, null);
  draft.trainer.splice(at, 0, -0.001);
  draft.entropy.splice(at, 0, 0.01);
}

export function remove(draft: Draft, at: number, count = 1): void {
  for (
    const list of [
      draft.ids,
      draft.mask,
      draft.drawn,
      draft.roles,
      draft.sampler,
      draft.trainer,
      draft.entropy,
    ]
  ) {
    list.splice(at, count);
  }
}

export const SEPARATOR = 90;

/** Each turn ends in a separator, in prompts as well, where an example of a turn stands. */
export function withSeparators(draft: Draft): void {
  for (const end of turnEnds(draft).reverse()) {
    if (end + 1 < draft.ids.length) insert(draft, end, SEPARATOR);
  }
  // The first observation's mark follows the separator in the prompt as it does behind a turn.
  for (const id of [4, SEPARATOR, END]) insert(draft, 0, id, 1);
}

/** One sequence a turn: each begins with all that was said before, and trains its own turn. */
export function turnsOf(draft: Draft): Draft[] {
  return turnEnds(draft).map((end, turn, ends): Draft => {
    const until = end + 1, from = turn === 0 ? 0 : ends[turn - 1] + 1;
    const copy: Draft = { ...draft };
    for (
      const name of ["ids", "drawn", "roles", "mask", "sampler", "trainer", "entropy"] as const
    ) {
      (copy as unknown as Record<string, unknown[]>)[name] = draft[name].slice(0, until);
    }
    copy.mask = copy.mask.map((flag, i) => i < from ? 0 : flag);
    copy.drawn = copy.drawn.map((flag, i) => i < from ? 0 : flag);
    copy.sampler = copy.sampler.map((value, i) => i < from ? null : value);
    return copy;
  });
}

/** A seed for the randomness of a breakage, apart from the one of its dump. */
export const BREAK_STREAM = 91;

/** Episodes whose tokens all lie in the nucleus: what a sampler that cuts draws. */
export const inNucleus = ({ episode: { scores }, drawn }: Draft) =>
  scores.nucleus.every((value, i) => drawn[i] === 0 || value > -1e6);

/** A dump that lacks samples of its groups says nothing about them. */
export function withoutGroups(sequences: readonly TokenSequence[]): TokenSequence[] {
  return sequences.map(({ advantages: _advantages, group: _group, reward: _reward, ...rest }) =>
    rest
  );
}

/** Makes a dump of a variant. */
export function sequencesOfVariant(
  variant: Variant,
  { seed, episodes }: { readonly seed: number; readonly episodes: readonly Episode[] },
): readonly TokenSequence[] {
  const kind = variant.kind?.(kindOf(seed)) ?? kindOf(seed);
  const drafts = draftsOf(episodes, kind);
  const random = randomSequence({ seed, stream: BREAK_STREAM });
  const bench = { drafts, kind, random };
  const changed = variant.change?.(bench) ?? drafts;
  const sequences = sequencesOf(changed, kind);
  return variant.finish?.(sequences, bench) ?? sequences;
}
