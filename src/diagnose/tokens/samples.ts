/** Summaries of samples and their groups: what the checks of rewards and advantages keep of a dump. */
import type { StopReason, TokenSequence } from "../../tokens/token_batch.ts";
import type { FindingPlace } from "../finding.ts";
import {
  compareWitnesses,
  hashOf,
  hashOfText,
  placeOf,
  type SequenceView,
  type Witness,
} from "./token_check.ts";

/** What is kept of one sequence. Numbers are NaN where the dump has none. */
export interface SequenceSummary {
  readonly place: FindingPlace;
  readonly step: number | undefined;
  readonly phase: string | undefined;
  readonly group: string | undefined;
  readonly sample: string | undefined;
  readonly rank: number | undefined;
  readonly environment: string | undefined;
  /** Of all its ids, or of its texts. */
  readonly hash: number;
  /** Of what stands before the policy's first token; NaN where that is not known. */
  readonly promptHash: number;
  /** Tokens, or characters of a dump of texts. */
  readonly length: number;
  /** Tokens of the policy. */
  readonly scoredCount: number;
  /** What its log-probs sum to: the chance that the sampler draws it once more. */
  readonly logProb: number;
  readonly reward: number;
  /** Parts of the reward, as one text. */
  readonly parts: string | undefined;
  /** The one advantage of all its tokens. */
  readonly advantage: number;
  /** True where tokens have advantages of their own, as a value function's have. */
  readonly advantageVaries: boolean;
  readonly stop: StopReason | undefined;
  readonly stopText: string | undefined;
}

/** Relative difference of two advantages that storage in bf16 explains. */
const STORAGE = 2 ** -8;

/** The advantage of all trained tokens. */
function advantageOf(
  { sequence, scored }: SequenceView,
): Pick<SequenceSummary, "advantage" | "advantageVaries"> {
  const values = sequence.advantages?.values;
  if (!values) return { advantage: NaN, advantageVaries: false };
  let least = Infinity, most = -Infinity;
  for (let i = 0; i < values.length; i++) {
    // A dump of texts has one value.
    if ((scored[i] !== 1 && sequence.ids.length > 0) || !Number.isFinite(values[i])) continue;
    least = Math.min(least, values[i]);
    most = Math.max(most, values[i]);
  }
  if (least > most) return { advantage: NaN, advantageVaries: false };
  const varies = most - least > STORAGE * Math.max(Math.abs(most), Math.abs(least)) + 1e-6;
  return { advantage: varies ? NaN : (least + most) / 2, advantageVaries: varies };
}

function logProbOf({ sequence: { logProbs }, scored }: SequenceView): number {
  const values = (logProbs.sampler ?? logProbs.old ?? logProbs.trainer)?.values;
  if (!values) return NaN;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    if (scored[i] === 1 && Number.isFinite(values[i])) sum += values[i];
  }
  return sum;
}

function promptHashOf({ sequence, spans }: SequenceView): number {
  const { ids, prompt } = sequence;
  if (ids.length === 0) return prompt === undefined ? NaN : hashOfText(prompt);
  return spans[0] ? hashOf(ids, 0, spans[0].from) : NaN;
}

function partsOf({ rewardParts }: TokenSequence): string | undefined {
  if (!rewardParts || rewardParts.size === 0) return undefined;
  return JSON.stringify([...rewardParts].toSorted(([a], [b]) => a < b ? -1 : 1));
}

/** Summarizes a sequence. */
export function summaryOf(view: SequenceView): SequenceSummary {
  const { sequence, spans, hash } = view;
  const { ids, prompt = "", answer = "", step, phase, group, sample, rank, environment } = sequence;
  return {
    place: placeOf(sequence),
    step,
    phase,
    group,
    sample,
    rank,
    environment,
    hash,
    promptHash: promptHashOf(view),
    length: ids.length > 0 ? ids.length : prompt.length + answer.length,
    scoredCount: spans.reduce((sum, { from, until }) => sum + until - from, 0),
    logProb: logProbOf(view),
    reward: sequence.reward ?? NaN,
    parts: partsOf(sequence),
    ...advantageOf(view),
    stop: sequence.stop,
    stopText: sequence.stopText,
  };
}

/** One answer of a prompt: a sequence, or the turns of an episode. */
export interface GroupSample {
  readonly sequences: readonly SequenceSummary[];
  readonly first: SequenceSummary;
  readonly reward: number;
  readonly parts: string | undefined;
  readonly advantage: number;
  /** Tokens of the policy. */
  readonly scoredCount: number;
}

/** Samples of one prompt in one step. */
export interface Group {
  readonly key: string;
  /** The name in the dump; undefined where equal prompts make the group. */
  readonly name: string | undefined;
  readonly step: number | undefined;
  /** In an order that does not depend on the rows'. */
  readonly samples: readonly GroupSample[];
}

function one(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  const [first = NaN] = known;
  return known.every((value) => Math.abs(value - first) <= STORAGE * Math.abs(first)) ? first : NaN;
}

function sampleOf(sequences: readonly SequenceSummary[]): GroupSample {
  // The shortest prompt is the first turn's.
  const ordered = sequences.toSorted((a, b) => a.length - b.length || a.hash - b.hash);
  return {
    sequences: ordered,
    first: ordered[0],
    reward: one(ordered.map(({ reward }) => reward)),
    parts: ordered[0].parts,
    advantage: one(ordered.map(({ advantage }) => advantage)),
    scoredCount: ordered.reduce((sum, { scoredCount }) => sum + scoredCount, 0),
  };
}

/** Several lists by a key, in the order of the keys. */
export function listsBy<T>(
  values: Iterable<T>,
  keyOf: (value: T) => string | undefined,
): [string, T[]][] {
  const lists = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key === undefined) continue;
    const list = lists.get(key);
    if (list) list.push(value);
    else lists.set(key, [value]);
  }
  return [...lists].sort(([a], [b]) => a < b ? -1 : 1);
}

/** The step of a batch, whose baselines and scales may be shared. */
function batchOf({ step, phase }: SequenceSummary): string {
  return JSON.stringify([step ?? null, phase ?? null]);
}

function groupKey(summary: SequenceSummary): string | undefined {
  const { group, promptHash } = summary;
  if (group !== undefined) return `${batchOf(summary)} ${JSON.stringify(group)}`;
  return Number.isNaN(promptHash) ? undefined : `${batchOf(summary)} ${promptHash}`;
}

/** Finds the groups: by name, else by prompt. Sequences of one name and one text are one sample, on whatever rank they stand. */
export function groupsOf(summaries: readonly SequenceSummary[]): Group[] {
  return listsBy(summaries, groupKey).map(([key, members]): Group => {
    const named = listsBy(members, ({ sample }) => sample).map(([, sequences]) => {
      const seen = new Set<number>();
      return sampleOf(sequences.filter(({ hash }) => !seen.has(hash) && seen.add(hash)));
    });
    const nameless = members.filter(({ sample }) => sample === undefined)
      .map((summary) => sampleOf([summary]));
    const samples = [...named, ...nameless].toSorted((a, b) =>
      a.reward - b.reward || a.advantage - b.advantage ||
      compareWitnesses(sampleWitness(a, 0), sampleWitness(b, 0))
    );
    return { key, name: members[0].group, step: members[0].step, samples };
  });
}

/** Groups by the step whose batch they are of. */
export function batchesOf(groups: readonly Group[]): Group[][] {
  return listsBy(groups, ({ samples }) => batchOf(samples[0].first)).map(([, list]) => list);
}

/** A witness for a sample. */
export function sampleWitness({ first }: GroupSample, size: number): Witness {
  return { size, place: first.place, step: first.step, hash: first.hash };
}

/** What a group is called in a sentence. */
export function nameOf({ name, samples }: Group): string {
  return name === undefined
    ? `the group of ${samples[0].first.place.file}, row ${samples[0].first.place.row}`
    : `group ${name}`;
}
