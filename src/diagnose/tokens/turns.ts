/** `prefix_broken`: turns of one sample that do not begin with the turns before them, and marks that are lost between turns. */
import type { Finding } from "../finding.ts";
import { type Kept, KeptTokens } from "./kept_tokens.ts";
import {
  greater,
  hashOfText,
  type Origin,
  placeOf,
  type SequenceView,
  shownBy,
  type Span,
  type TokenCheckKind,
  type Witness,
  witness,
} from "./token_check.ts";
import { countOf } from "./words.ts";

const ID = "prefix_broken";

/** Tokens that may be lost or put in where two renderings of one text differ. */
const MOST_EDITED = 8;
/** The same where the earlier turn ends after them. */
const MOST_AT_END = 2;
/** Tokens that must agree again after it: the same text continues. */
const LEAST_AGREEING = 4;
/** Boundaries that must show a mark before its lack says something. */
const LEAST_BOUNDARIES = 3;

/** A turn of a sample: of its sequence no more than must be kept. */
interface Turn {
  readonly ids: Kept;
  readonly length: number;
  /** What the policy drew. */
  readonly spans: readonly Span[];
  readonly hash: number;
  readonly step: number | undefined;
  readonly origin: Origin;
}

/** How a later turn departs from an earlier one. */
interface Departure {
  /** Index of the first id that differs. */
  readonly at: number;
  /** Ids of the earlier turn that the later lacks there, and those that it has instead; undefined where the text is another. */
  readonly edit?: { readonly lost: readonly number[]; readonly added: readonly number[] };
}

/** The smallest edit at two indices after which both continue alike. */
function editAt(
  earlier: Uint32Array,
  later: Uint32Array,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly lost: number; readonly added: number } | undefined {
  for (let size = 1; size <= 2 * MOST_EDITED; size++) {
    for (let lost = Math.max(0, size - MOST_EDITED); lost <= Math.min(size, MOST_EDITED); lost++) {
      const added = size - lost;
      const rest = earlier.length - from - lost;
      if (rest < 0) continue;
      const agreeing = Math.min(LEAST_AGREEING, rest);
      // A short end agrees with anything: there no more than a mark may be lost.
      if (agreeing < LEAST_AGREEING && size > MOST_AT_END) continue;
      let i = 0;
      while (i < agreeing && earlier[from + lost + i] === later[to + added + i]) i++;
      if (i === agreeing) return { lost, added };
    }
  }
  return undefined;
}

/**
 * Compares a turn with the one before it. An edit stands for the same text only where all that is left of the earlier turn is
 * found again, up to further edits: two branches of one history agree here and there, and then no more.
 */
function departureOf(
  a: Uint32Array,
  b: Uint32Array,
  { drawn }: { readonly drawn: readonly Span[] },
): Departure | undefined {
  let from = 0, to = 0;
  let first: Departure | undefined;
  for (;;) {
    while (from < a.length && a[from] === b[to]) {
      from++;
      to++;
    }
    if (from === a.length) return first;
    // What the policy drew in both is a branch of its own, and no history that was written again.
    if (!first && drawn.some(({ from, until }) => from <= to && to < until)) return undefined;
    const edit = editAt(a, b, { from, to });
    if (!edit) return { at: first?.at ?? to };
    first ??= {
      at: to,
      edit: {
        lost: [...a.subarray(from, from + edit.lost)],
        added: [...b.subarray(to, to + edit.added)],
      },
    };
    from += edit.lost;
    to += edit.added;
  }
}

/** What follows an id that ends turns. */
class Followers {
  /** By the id that follows at once. */
  readonly counts = new Map<number, number>();
  /** What follows that. */
  readonly behind = new Map<number, Set<number>>();

  add(next: number, afterNext: number | undefined): void {
    this.counts.set(next, (this.counts.get(next) ?? 0) + 1);
    const behind = this.behind.get(next) ?? new Set<number>();
    if (afterNext !== undefined) behind.add(afterNext);
    this.behind.set(next, behind);
  }
}

function followersOf(all: Map<number, Followers>, id: number): Followers {
  let found = all.get(id);
  if (!found) all.set(id, found = new Followers());
  return found;
}

class TurnTally {
  /** By a hash of step, phase, group and sample. */
  readonly samples = new Map<number, Turn[]>();
  readonly kept = new KeptTokens((length) => new Uint32Array(length));
  /** What follows the last id of a turn inside prompts and observations, and behind the policy's own turns. */
  readonly given = new Map<number, Followers>();
  readonly drawn = new Map<number, Followers>();
  readonly boundary = new Map<number, Witness>();

  add(view: SequenceView): void {
    const { sequence: { sample, step, phase, ids, group }, spans, scored } = view;
    // The last token of the policy's turns, by id: where it is in a prompt it ends a turn as well.
    const ends = new Set<number>();
    for (const { until } of spans) {
      if (until >= ids.length) continue;
      const end = ids[until - 1];
      ends.add(end);
      followersOf(this.drawn, end).add(ids[until], undefined);
      this.boundary.set(end, greater(this.boundary.get(end), witness(view, until, 0)));
    }
    for (let i = 1; i < ids.length; i++) {
      if (scored[i] === 1 || scored[i - 1] === 1 || !ends.has(ids[i - 1])) continue;
      const next = i + 1 < ids.length && scored[i + 1] !== 1 ? ids[i + 1] : undefined;
      followersOf(this.given, ids[i - 1]).add(ids[i], next);
    }
    const kept = sample === undefined || ids.length === 0 ? undefined : this.kept.keep(ids);
    if (sample === undefined || !kept) return;
    const key = hashOfText(JSON.stringify([step ?? null, phase ?? null, group ?? null, sample]));
    const turns = this.samples.get(key);
    const { file, row, offset } = view.sequence;
    const origin = { file, row, offset, sample };
    const turn = { ids: kept, length: ids.length, spans, hash: view.hash, step, origin };
    if (turns) turns.push(turn);
    else this.samples.set(key, [turn]);
  }
}

/** Judges turns that are sequences of their own. */
function judgeTurns(tally: TurnTally): { readonly found: Finding[]; readonly pairs: number } {
  let pairs = 0, broken = 0, edited = 0, removed = 0;
  let worst: Witness | undefined;
  let example: Departure["edit"];
  for (const turns of tally.samples.values()) {
    const ordered = turns.toSorted((a, b) => a.length - b.length || a.hash - b.hash);
    for (let i = 1; i < ordered.length; i++) {
      const [earlier, later] = [ordered[i - 1], ordered[i]];
      if (earlier.hash === later.hash) continue; // The same once more.
      pairs++;
      const departure = departureOf(tally.kept.of(earlier.ids), tally.kept.of(later.ids), {
        drawn: later.spans,
      });
      if (!departure) continue;
      broken++;
      if (departure.edit) {
        edited++;
        if (departure.edit.added.length === 0) removed++;
      }
      const size = departure.edit ? 1 : 0;
      const { hash, step, origin } = later;
      const shown = { size, place: placeOf(origin, departure.at), step, hash };
      const next = greater(worst, shown);
      if (next !== worst && departure.edit) example = departure.edit;
      worst = next;
    }
  }
  if (broken === 0) return { found: [], pairs };
  const what = edited === 0
    ? "the text continues differently"
    : removed === edited
    ? `ids are lost and the text continues (${countOf(example?.lost.length ?? 0, "id")}: ${
      example?.lost.join(" ")
    })`
    : `different ids encode the same text (${example?.lost.join(" ") || "nothing"} became ${
      example?.added.join(" ") || "nothing"
    })`;
  return {
    pairs,
    found: [{
      id: ID,
      class: edited > 0 ? "suspect" : "note",
      value: broken,
      bound: 0,
      boundFrom: "a turn's prompt is what was said before",
      sentence: `${broken} of ${
        countOf(pairs, "turn")
      } do not begin with the ids of the turns before them: ${what}${
        edited > 0 && edited < broken ? ` in ${edited} of them` : ""
      }.`,
      ...(edited > 0
        ? {
          alternatives: ["a template that is not append-only, such as one that drops reasoning"],
          next: "Pass on the sampled ids instead of re-tokenizing the text of the history.",
        }
        : {}),
      ...shownBy(worst),
    }],
  };
}

/** A mark X that prompts always put between an end of a turn and what follows, and that is gone behind the policy's turns. */
function lostMarks(tally: TurnTally): Finding[] {
  const found = [...tally.drawn].flatMap(([end, drawn]) => {
    const given = tally.given.get(end);
    const [mark, times] = [...given?.counts ?? []][0] ?? [];
    if (given?.counts.size !== 1 || mark === undefined || times === undefined) return [];
    const boundaries = [...drawn.counts.values()].reduce((sum, count) => sum + count, 0);
    if (times < LEAST_BOUNDARIES || boundaries < LEAST_BOUNDARIES) return [];
    if (drawn.counts.has(mark)) return [];
    // What follows the mark in prompts is what follows the end itself here.
    const known = given.behind.get(mark);
    const isLost = [...drawn.counts.keys()].every((id) => known?.has(id));
    return isLost ? [{ end, mark, times, lost: boundaries }] : [];
  });
  const [first] = found.toSorted((a, b) => b.lost - a.lost || a.end - b.end);
  if (!first) return [];
  const { end, mark, times, lost } = first;
  return [{
    id: ID,
    class: "suspect",
    value: lost,
    bound: 0,
    boundFrom: "one template writes all turns",
    sentence: `Id ${mark}, which follows id ${end} at all ${
      countOf(times, "place")
    } in prompts and observations, is missing after all ${
      countOf(lost, "turn")
    } of the policy: one id is missing at every boundary.`,
    next:
      "Put the template's own marks between turns, outside the mask, when the ids of turns are joined.",
    ...shownBy(tally.boundary.get(end)),
  }];
}

/** Turns and what stands between them. */
export const TURNS: TokenCheckKind = {
  ids: [ID],
  open() {
    const tally = new TurnTally();
    return {
      add: (view) => tally.add(view),
      finish() {
        const { found, pairs } = judgeTurns(tally);
        const all = [...found, ...lostMarks(tally)];
        if (all.length > 0) return all;
        if (pairs === 0) {
          return [{
            id: ID,
            class: "not-checkable",
            sentence:
              "Not checked: whether turns begin with the turns before them. No sample of the dump has several sequences.",
          }];
        }
        return [{
          id: ID,
          class: "holds",
          sentence: `All ${
            countOf(pairs, "turn")
          } begin with the turns before them.${tally.kept.words}`,
        }];
      },
    };
  },
};
