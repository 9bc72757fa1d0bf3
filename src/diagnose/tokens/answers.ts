/** `duplicate_samples`, `reward_scored_elsewhere`, `errors_paid_as_zero` and `length_by_sign`: answers and what they were paid. */
import { ClusteredMean } from "../../core/streaming_statistics.ts";
import type { Finding } from "../finding.ts";
import type { GroupContext, GroupRule } from "./group_context.ts";
import { listsBy, type SequenceSummary } from "./samples.ts";
import { greatest, notCheckable, shownBy, SURE, type Witness } from "./token_check.ts";
import { countOf, say } from "./words.ts";

const DUPLICATE = "duplicate_samples";
const ELSEWHERE = "reward_scored_elsewhere";
const ERRORS = "errors_paid_as_zero";
const LENGTH = "length_by_sign";

/** Draws of a prompt that are expected to equal an answer, below which a second one is a surprise. */
const RARE = 0.2;
/** Chance below which equal draws are none. */
const COINCIDENCE = 1e-9;
/** Share of a step's sequences that are all of them. */
const NEARLY_ALL = 0.9;
/** Characters of an answer that nobody writes twice by chance, where there are no log-probs. */
const LONG_TEXT = 400;

const shown = ({ place, step, hash }: SequenceSummary): Witness => ({ size: 0, place, step, hash });

/** Equal sequences among the draws from one prompt in one step. */
interface Copies {
  readonly sequences: readonly SequenceSummary[];
  /** Draws of that prompt. */
  readonly draws: number;
}

/** Sequences of one step and prompt, equal ones together. */
function copiesOf(summaries: readonly SequenceSummary[]): Copies[] {
  const prompts = listsBy(
    summaries,
    ({ step, phase, group, promptHash }) =>
      group === undefined && Number.isNaN(promptHash)
        ? undefined
        : JSON.stringify([step ?? null, phase ?? null, group ?? promptHash]),
  );
  return prompts.flatMap(([, members]) =>
    listsBy(members, ({ hash }) => String(hash))
      .map(([, sequences]) => ({ sequences, draws: members.length }))
  );
}

/** Draws that are expected to equal a given one; Infinity where nothing tells. */
function expectedCopies({ sequences: [{ logProb, scoredCount, length }], draws }: Copies): number {
  if (!Number.isNaN(logProb)) return (draws - 1) * Math.exp(Math.min(0, logProb));
  return scoredCount === 0 && length >= LONG_TEXT ? 0 : Infinity;
}

/** Chernoff's bound of the chance that a Poisson variable of this mean is at least so large. */
function poissonChance(count: number, expected: number): number {
  if (count <= expected) return 1;
  if (expected === 0) return 0;
  return Math.exp(count - expected - count * Math.log(count / expected));
}

function duplicates({ summaries }: GroupContext): Finding[] {
  // Answers that are likely enough to come twice say nothing; of the others all pairs together must be a coincidence.
  const rare = copiesOf(summaries).filter((copies) => expectedCopies(copies) < RARE);
  const twice = rare.filter(({ sequences }) => sequences.length > 1);
  const expected = rare.reduce((sum, one) => sum + one.sequences.length * expectedCopies(one), 0) /
    2;
  const pairs = twice.reduce((sum, { sequences }) => sum + sequences.length / 2, 0);
  const unlikely = twice.map(({ sequences }) => sequences)
    .toSorted((a, b) => a[0].logProb - b[0].logProb || a[0].hash - b[0].hash);
  const [first] = unlikely;
  if (!first || !(poissonChance(pairs, expected) < COINCIDENCE)) {
    return [{
      id: DUPLICATE,
      class: rare.length === 0 ? "not-checkable" : "holds",
      sentence: rare.length === 0
        ? "Not checked: whether samples are copies of each other. All answers are likely enough to be drawn twice, or have no log-probs."
        : "No more answers occur twice than independent draws explain.",
    }];
  }
  const extra = unlikely.reduce((sum, copies) => sum + copies.length - 1, 0);
  const copied = unlikely.reduce((sum, copies) => sum + copies.length, 0);
  const acrossRanks = unlikely.find((copies) => new Set(copies.map(({ rank }) => rank)).size > 1);
  const count = `${countOf(extra, "sequence")} of ${summaries.length}`;
  const shows = shownBy(shown((acrossRanks ?? first).toSorted(byPlace).at(-1) ?? first[0]));
  // Several passes over one batch show each sequence as often, and two dumps of one batch are read together.
  const isReadTwice = isNamed(unlikely) &&
    unlikely.every((copies) =>
      new Set(copies.map(({ place }) => place.file)).size === copies.length
    );
  if (!acrossRanks && isReadTwice) {
    return [{
      id: DUPLICATE,
      class: "note",
      value: extra,
      sentence:
        `${count} are in more than one file under the same name, as in two dumps of one batch.`,
      ...shows,
    }];
  }
  if (!acrossRanks && copied >= NEARLY_ALL * summaries.length && isNamed(unlikely)) {
    return [{
      id: DUPLICATE,
      class: "note",
      value: extra,
      sentence: `${count} are copies: nearly every sequence of the step is there ${
        countOf(first.length, "time")
      }, as where a batch is used for several updates.`,
      ...shows,
    }];
  }
  return [{
    id: DUPLICATE,
    class: "suspect",
    value: extra,
    bound: 0,
    boundFrom: "independent draws",
    sentence: `${count} ${
      extra === 1 ? "is the copy" : "are copies"
    } of others of the same group and step, though drawing the same twice is next to impossible${
      acrossRanks ? "; they are on several ranks" : ""
    }.`,
    alternatives: acrossRanks
      ? [
        "ranks that share one replica of the model and write the same",
        "a batch that was filled up with copies to divide by the ranks",
      ]
      : ["a sampler without randomness, or with one seed for all samples of a prompt"],
    next:
      "Draw each sample with a seed of its own, and split a batch over the ranks before it is copied.",
    ...shows,
  }];
}

/** True where copies carry the name of what they are copies of. */
function isNamed(all: readonly (readonly SequenceSummary[])[]): boolean {
  return all.every((copies) =>
    copies.every(({ sample }) => sample !== undefined && sample === copies[0].sample)
  );
}

function byPlace(a: SequenceSummary, b: SequenceSummary): number {
  return (a.rank ?? 0) - (b.rank ?? 0) || a.place.file.localeCompare(b.place.file);
}

function scoredElsewhere({ groups }: GroupContext): Finding[] {
  const known = groups.flatMap(({ samples }) => samples)
    .filter(({ reward }) => Number.isFinite(reward));
  if (known.length === 0) {
    return [notCheckable(ELSEWHERE, "whether equal answers have equal rewards", "reward")];
  }
  // A sample of several turns was paid for all of them.
  const equal = listsBy(
    known,
    ({ sequences, first: { environment } }) =>
      JSON.stringify([sequences.map(({ hash }) => hash), environment ?? null]),
  )
    .map(([, list]) => list).filter(({ length }) => length > 1);
  const found = equal.flatMap((list) => {
    const sorted = list.toSorted((a, b) => a.reward - b.reward);
    const [low, high] = [sorted[0], sorted[sorted.length - 1]];
    return high.reward - low.reward > 1e-6 * Math.max(1, Math.abs(high.reward))
      ? [{ low, high }]
      : [];
  }).toSorted((a, b) =>
    (b.high.reward - b.low.reward) - (a.high.reward - a.low.reward) ||
    a.low.first.hash - b.low.first.hash
  );
  const [first] = found;
  if (!first) {
    return equal.length === 0 ? [] : [{
      id: ELSEWHERE,
      class: "holds",
      sentence: `${countOf(equal.length, "answer")} that came more than once ${
        equal.length === 1 ? "was" : "were"
      } rewarded alike.`,
    }];
  }
  const { low, high } = first;
  return [{
    id: ELSEWHERE,
    class: "suspect",
    metric: "reward",
    value: low.reward,
    bound: high.reward,
    boundFrom: `the same answer in ${high.first.place.file}, row ${high.first.place.row}`,
    sentence: `Equal answers to equal prompts get different rewards: ${say(low.reward)} and ${
      say(high.reward)
    } for the same tokens; this holds for ${found.length} of ${
      countOf(equal.length, "answer")
    } that occur more than once.`,
    alternatives: [
      "a judge that samples its verdict, or a reward that depends on time, step or the other samples",
      "rewards that went to samples other than those that earned them",
    ],
    next: "Score one answer twice, and follow a reward from where it is computed to its sample.",
    ...shownBy(shown(low.first)),
  }];
}

function errorsPaid({ summaries }: GroupContext): Finding[] {
  const told = summaries.filter(({ stop }) => stop !== undefined);
  if (told.length === 0) {
    return [
      notCheckable(
        ERRORS,
        "whether failures of the environment count as failures of the policy",
        "stop reason",
      ),
    ];
  }
  const errors = told.filter(({ stop, reward, advantage, scoredCount }) =>
    stop === "error" && reward === 0 && scoredCount > 0 && advantage !== 0
  );
  const [first] = errors;
  if (!first) {
    return [{
      id: ERRORS,
      class: "holds",
      sentence: "No sample that ended in an error was given a reward of 0 and trained on.",
    }];
  }
  return [{
    id: ERRORS,
    class: "suspect",
    metric: "reward",
    value: errors.length,
    bound: 0,
    boundFrom: "an error of the environment is not the policy's",
    sentence: `${errors.length} of ${countOf(told.length, "sample")} ended in an error (${
      [...new Set(errors.map(({ stopText }) => stopText ?? "error"))].sort().slice(0, 3).join(", ")
    }), got a reward of 0 and were trained on: the policy is blamed for what the infrastructure did.`,
    alternatives: ["errors that the policy itself brings about, such as a timeout of its own code"],
    next:
      "Leave samples with errors out of the batch and of their group's baseline, or sample them again.",
    ...shownBy(greatest(errors.map(shown))),
  }];
}

function lengthBySign({ summaries }: GroupContext): Finding[] {
  const known = summaries.filter(({ advantage, scoredCount }) =>
    Number.isFinite(advantage) && scoredCount > 0
  );
  const above = new ClusteredMean(), below = new ClusteredMean();
  for (
    const { advantage, scoredCount } of known.toSorted((a, b) => a.scoredCount - b.scoredCount)
  ) {
    if (advantage === 0) continue;
    const mean = advantage > 0 ? above : below;
    mean.add(scoredCount);
    mean.close();
  }
  const [good, bad] = [above.estimate, below.estimate];
  if (!(good.count >= 20 && bad.count >= 20)) {
    return known.length === 0 ? [] : [{
      id: LENGTH,
      class: "not-checkable",
      sentence:
        `Not checked: whether length depends on the advantage's sign. ${good.count} samples above and ${bad.count} below 0are too few to tell.`,
    }];
  }
  const sure = Math.abs(bad.mean - good.mean) > SURE * Math.hypot(good.error, bad.error);
  const factor = bad.mean / good.mean;
  if (!sure || (factor < 1.2 && factor > 1 / 1.2)) {
    return [{
      id: LENGTH,
      class: "holds",
      value: factor,
      sentence: `Samples with advantages above and below 0 are equally long, ${
        say(good.mean)
      } and ${say(bad.mean)} trained tokens.`,
    }];
  }
  return [{
    id: LENGTH,
    class: "note",
    metric: "length",
    value: factor,
    bound: 1,
    sentence: `Samples with an advantage below 0 have ${
      say(bad.mean)
    } trained tokens on average, those above 0 ${
      say(good.mean)
    }: a loss that is a mean over each sequence first pushes each token of the former ${
      say(factor)
    } times less${factor > 1 ? ", and long failures are unlearned slowest" : ""}.`,
    next: "Average over tokens, or divide by a constant, where length must not matter.",
  }];
}

/** Answers and rewards. */
export const ANSWERS: GroupRule = {
  ids: [DUPLICATE, ELSEWHERE, ERRORS, LENGTH],
  judge: (context) => [
    ...duplicates(context),
    ...scoredElsewhere(context),
    ...errorsPaid(context),
    ...lengthBySign(context),
  ],
};
