/** Dumps of the same sequences laid together: what one tells of a sequence, the other is told by the hash of its token ids. */
import { hashOfIds } from "./ids_hash.ts";
import { type ByteRuns, packRuns, unpackRuns } from "./runs_of_bytes.ts";
import type { TokenSequence } from "./token_batch.ts";
import type { TokenNotes } from "./token_reader.ts";
import { present } from "./token_values.ts";

/** What goes from one dump to another as it is. */
const SHARED = [
  "environment",
  "group",
  "reward",
  "rewardParts",
  "stop",
  "stopText",
  "temperature",
  "topP",
] as const satisfies readonly (keyof TokenSequence)[];

/** By these a sequence is judged: where two with equal ids differ in one, nobody knows whose it is. */
const DECISIVE = ["group", "reward"] as const satisfies readonly (typeof SHARED[number])[];

type Facts = Pick<TokenSequence, typeof SHARED[number]>;

/** What is known of the sequences with the same ids in the same step. */
interface Entry {
  facts: Facts;
  readonly roles: ByteRuns | undefined;
  readonly sampled: ByteRuns | undefined;
  /** Names of the samples: equal answers of one group stay so many. */
  readonly samples: string[];
  /** True where sequences with these ids contradict each other. */
  isAmbiguous: boolean;
  /** How many sequences were told of it. */
  told: number;
}

const isSame = (a: unknown, b: unknown) => a === undefined || b === undefined || Object.is(a, b);

function factsOf(sequence: TokenSequence): Facts {
  return present(Object.fromEntries(SHARED.map((key) => [key, sequence[key]]))) as Facts;
}

/** What dumps tell of sequences, by the hash of their ids; the ids themselves are not kept. */
export class SequenceFacts {
  /** By hash, then by step. */
  readonly #entries = new Map<string, Map<number | undefined, Entry>>();

  /** Takes in what a sequence tells. */
  add(sequence: TokenSequence): void {
    const hash = hashOfIds(sequence.ids);
    const steps = this.#entries.get(hash) ?? new Map<number | undefined, Entry>();
    this.#entries.set(hash, steps);
    const entry = steps.get(sequence.step);
    const facts = factsOf(sequence);
    const samples = sequence.sample === undefined ? [] : [sequence.sample];
    if (entry) {
      entry.isAmbiguous ||= DECISIVE.some((key) => !isSame(entry.facts[key], facts[key]));
      entry.facts = { ...facts, ...entry.facts };
      entry.samples.push(...samples);
      return;
    }
    const { roles, sampled } = sequence;
    steps.set(sequence.step, {
      facts,
      roles: roles && packRuns(roles),
      sampled: sampled && packRuns(sampled),
      samples,
      isAmbiguous: false,
      told: 0,
    });
  }

  /** What is known of sequences with these ids, best of the same step. */
  #find({ ids, step }: TokenSequence): Entry | "ambiguous" | undefined {
    const steps = this.#entries.get(hashOfIds(ids));
    if (!steps) return undefined;
    // Where dumps count steps differently, ids that are in one step only still find each other.
    const entry = steps.get(step) ?? (steps.size === 1 ? [...steps.values()][0] : undefined);
    return entry === undefined || entry.isAmbiguous ? "ambiguous" : entry;
  }

  /**
   * A sequence with what is known of it from elsewhere; what it tells itself stands.
   *
   * @param notes Hears of sequences of which nothing is known, or not whose it is.
   */
  completed(sequence: TokenSequence, notes: TokenNotes): TokenSequence {
    const place = `${sequence.file}, row ${sequence.row}`;
    const entry = this.#find(sequence);
    if (entry === undefined) {
      notes.ignore("sequences that the other dump does not hold", place);
      return sequence;
    }
    if (entry === "ambiguous") {
      notes.ignore("sequences whose tokens are in several groups or with several rewards", place);
      return sequence;
    }
    const sample = sequence.sample ?? entry.samples[entry.told % entry.samples.length];
    entry.told++;
    const roles = sequence.roles ?? (entry.roles && unpackRuns(entry.roles));
    const sampled = sequence.sampled ?? (entry.sampled && unpackRuns(entry.sampled));
    return { ...entry.facts, ...sequence, ...present({ sample, roles, sampled }) };
  }

  /** The number of different sequences of which nobody was told anything. */
  countUntold(): number {
    let count = 0;
    for (const steps of this.#entries.values()) {
      for (const { told } of steps.values()) count += Number(told === 0);
    }
    return count;
  }
}

/**
 * Completes the sequences of a dump by those of another.
 *
 * @param sequences The dump whose sequences come out.
 * @param others The other, which is read first, from its beginning to its end.
 * @param notes Hears of what found no partner.
 */
export async function* completedBy(
  sequences: AsyncIterable<TokenSequence>,
  others: AsyncIterable<TokenSequence>,
  notes: TokenNotes,
): AsyncGenerator<TokenSequence> {
  const facts = new SequenceFacts();
  for await (const other of others) facts.add(other);
  for await (const sequence of sequences) yield facts.completed(sequence, notes);
  const untold = facts.countUntold();
  if (untold > 0) notes.ignore("sequences that only the other dump holds", "", untold);
}
