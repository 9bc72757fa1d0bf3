/** Rules about the completions: whether the cap cuts them off, and whether their length runs away or collapses. */
import type { Finding } from "../finding.ts";
import { changeOf, type Curve, lastQuarter, middle, say } from "./curve.ts";
import { about, type Context, outcomeOf, percent, type Rule, stepsText } from "./rule.ts";
import { isAtTop } from "./signal.ts";

/** More than half of the answers cut: most rewards then judge answers that were not finished. */
const MOSTLY_CUT = 0.5;
/** From here on it is worth knowing. */
const OFTEN_CUT = 0.1;

/** Mean and longest completion at the end, where the log has them. */
function lengthsAtEnd(context: Context) {
  const length = context.curve("length"), longest = context.curve("length_max");
  const mean = length && middle(lastQuarter(length).values);
  const max = longest && middle(lastQuarter(longest).values);
  return { mean, max, cap: context.setting("maxLength") ?? max };
}

/**
 * Where answers end without an end token, and too short for all of those to be at the cap, something else ends them: a stop
 * string, a tool call, another end token. That can be as it should.
 */
function stopsShort(context: Context, { series }: Curve, share: number): boolean {
  const { mean, cap } = lengthsAtEnd(context);
  return series.definition.quantity === "no_end_token" && mean !== undefined &&
    cap !== undefined && mean < 0.8 * share * cap;
}

function cutAnswers(context: Context, truncated: Curve): readonly Finding[] {
  const end = lastQuarter(truncated);
  const share = middle(end.values);
  if (!(share >= OFTEN_CUT)) return [];
  const { mean, cap } = lengthsAtEnd(context);
  const short = stopsShort(context, truncated, share);
  // One or two rows may be hard batches.
  const isMost = share >= MOSTLY_CUT && !short && truncated.values.length >= 3;
  const lengths = mean === undefined
    ? ""
    : `; their mean length is ${say(mean)}${
      cap === undefined ? "" : ` of at most ${say(cap)}`
    } tokens`;
  const noEnd = truncated.series.definition.quantity === "no_end_token";
  const what = noEnd ? "end without an end-of-sequence token" : "are cut off at the length limit";
  return [{
    id: "answers_cut",
    class: isMost ? "suspect" : "note",
    ...about(truncated),
    step: end.step,
    value: share,
    bound: isMost ? MOSTLY_CUT : OFTEN_CUT,
    boundFrom: isMost
      ? "above one half, most rewards judge unfinished answers"
      : "a tenth of the answers",
    sentence: `${percent(share)} of the answers ${what} in ${
      stepsText(end.step, end.lastStep)
    }${lengths}.`,
    alternatives: [
      ...(short
        ? ["the model ends its answers with a token that the trainer does not count as an end"]
        : []),
      ...(noEnd ? ["a stop string or a tool call ends the answers"] : []),
      "the policy repeats itself and never stops",
    ],
    next: short
      ? "Print the last token of a few answers and compare it with the tokenizer's eos and pad tokens."
      : `Raise ${
        context.knob("maxLength", "the limit on a completion")
      }, or train for shorter answers; read three of the truncated ones to see which.`,
  }];
}

/** Where the share itself is not logged: a mean that sits just below a longest completion that never changes. */
function cutByLengths(context: Context, length: Curve): readonly Finding[] {
  if (context.curve("truncated")) return [];
  const longest = context.curve("length_max");
  const told = context.setting("maxLength");
  const maxima = longest && lastQuarter(longest).values;
  const cap = told ??
    (maxima && maxima.length >= 5 && maxima.every((value) => value === maxima[0])
      ? maxima[0]
      : undefined);
  const end = lastQuarter(length);
  const mean = middle(end.values);
  if (cap === undefined || length.values.length < 5 || !(mean >= 0.9 * cap)) return [];
  return [{
    id: "answers_cut",
    class: "suspect",
    ...about(length),
    step: end.step,
    value: mean,
    bound: 0.9 * cap,
    boundFrom: told === undefined
      ? `nine tenths of ${cap}, the longest completion of every row`
      : `nine tenths of the limit of ${cap} tokens`,
    sentence: `The mean completion is ${say(mean)} tokens long in ${
      stepsText(end.step, end.lastStep)
    }, and none is longer than ${say(cap)}: most answers must be cut off.`,
    alternatives: ["the task asks for answers of just this length"],
    next: `Raise ${
      context.knob("maxLength", "the limit on a completion")
    } and read three of the longest answers.`,
  }];
}

/** A length that has doubled, or is down to a third, is another kind of answer. */
const RUNAWAY = 2, COLLAPSE = 1 / 3;

function lengthTrend(context: Context, length: Curve): readonly Finding[] {
  const change = changeOf(length);
  const { rewardChange } = context;
  const came = outcomeOf(rewardChange);
  if (!change || change.head <= 0 || !rewardChange) return [];
  const factor = change.tail / change.head;
  const grows = factor >= RUNAWAY && change.isApart;
  const shrinks = factor <= COLLAPSE && change.isApart;
  if (!grows && !shrinks) return [];
  const moved = `from ${say(change.head)} to ${say(change.tail)} tokens`;
  const id = grows ? "length_runaway" : "length_collapse";
  const common = {
    id,
    ...about(length),
    step: change.tailStep,
    value: change.tail,
    bound: change.head * (grows ? RUNAWAY : COLLAPSE),
    boundFrom: grows ? "twice the run's own first fifth" : "a third of the run's own first fifth",
  };
  const rewardMoved = `${say(rewardChange.head)} to ${say(rewardChange.tail)}`;
  if (came === "better" || came === "unclear" || isAtTop(context)) {
    return [{
      ...common,
      class: "note",
      sentence:
        `Completions ${grows ? "grow" : "shrink"} ${moved} with the reward at ${rewardMoved}: ` +
        "a change of style that does no visible harm.",
      next: "Read a few answers of the first and the last steps side by side.",
    }];
  }
  return [{
    ...common,
    class: "suspect",
    sentence: `Completions ${
      grows ? "grow" : "shrink"
    } ${moved}, and the reward does not rise (${rewardMoved}).`,
    alternatives: grows
      ? [
        "the loss is averaged so that long failures cost little",
        "an end token that is never rewarded or never trained",
        "harder prompts in the later part of the data",
      ]
      : [
        "a length penalty that outweighs the task's reward",
        "the policy has found a short answer that earns as much as its long ones did",
        "easier prompts in the later part of the data",
      ],
    next: grows
      ? `Compare the lengths of rewarded and unrewarded answers, and look at ${
        context.knob("lossAggregation", "how the loss is averaged over tokens")
      }.`
      : "Read a few answers of the last steps, and check the weight of any length penalty against the task's reward.",
  }];
}

/** In the order in which they are tried. */
export const ANSWER_RULES: readonly Rule[] = [
  {
    ids: ["answers_cut"],
    needs: [{ metric: "truncated" }],
    judge: cutAnswers,
  },
  {
    ids: ["answers_cut"],
    needs: [{ metric: "length" }],
    judge: cutByLengths,
  },
  {
    ids: ["length_runaway", "length_collapse"],
    needs: [{ metric: "length" }],
    judge: lengthTrend,
  },
];
