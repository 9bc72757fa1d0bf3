/** Rules about sampler against trainer: both give the same tokens a probability, and these may differ by rounding alone. */
import { type Sentence, sentence, setting } from "../../core/mention.ts";
import type { Finding } from "../finding.ts";
import type { Floor, Quantity } from "../../producers/definition.ts";
import { floorOf } from "../../producers/shapes.ts";
import { changeOf, type Curve, lastQuarter, middle, say, shiftOf } from "./curve.ts";
import { about, type Context, type Rule, stepsText } from "./rule.ts";

/** Rounding of f32 engines is about 1e-6 nats per token; this leaves room for other orders of sums. */
const F32_NATS = 1e-4;

function noiseOf(context: Context, { series: { definition } }: Curve): Floor | undefined {
  const sampler = context.setting("sampler");
  const { quantity } = definition;
  // What fp8 may differ by depends on what is quantized and how.
  if (sampler === "fp8") return undefined;
  const floor = floorOf(definition);
  if (sampler !== "f32" || !floor) return floor;
  const from = "two f32 engines differ by rounding alone";
  if (quantity === "exp_abs_log_prob") {
    return { healthy: 1 + F32_NATS, look: 1 + 10 * F32_NATS, from };
  }
  return { healthy: F32_NATS, look: 10 * F32_NATS, from };
}

/** How far a value is from perfect agreement. */
function distance({ series: { definition } }: Curve, value: number): number {
  return definition.quantity === "exp_abs_log_prob" ? value - 1 : Math.abs(value);
}

function nextStep(context: Context): string {
  const { weightSync: sync, samplerCorrection: correction } = context.view.producer?.knobs ?? {};
  return "Before any update, score one sampled batch with the trainer: same tokens, same temperature and top-p, same weights?" +
    `${sync ? ` Weights reach the sampler by ${sync}.` : ""}${
      correction ? ` Until it is found, ${correction} limits the damage.` : ""
    }`;
}

const ALTERNATIVES = [
  "a temperature, top-p or top-k that differs between sampler and trainer",
  "the sampler holds older weights than the trainer (on purpose, where rollouts are asynchronous)",
  "re-tokenized text, or a shifted mask, so that different tokens are compared",
  "a quantized or otherwise less exact sampler",
];

/** Where nobody has told the sampler's precision. */
const FP8_UNTOLD: Sentence = sentence`a sampler in fp8 (say so with ${setting("sampler", "fp8")})`;

function gapLevel(context: Context, gap: Curve): readonly Finding[] {
  const floor = noiseOf(context, gap);
  if (!floor || gap.values.length < 3) return [];
  const end = lastQuarter(gap);
  const level = middle(end.values);
  const size = distance(gap, level), look = distance(gap, floor.look);
  const first = distance(gap, middle(gap.values.subarray(0, 3)));
  const range = stepsText(end.step, end.lastStep);
  const common = { ...about(gap), step: first >= look ? gap.steps[0] : end.step, value: level };
  if (size >= look) {
    return [{
      ...common,
      id: "sampler_trainer_gap",
      class: "suspect",
      bound: floor.look,
      boundFrom: floor.from,
      sentence: `Sampler and trainer disagree about the same tokens: ${gap.key} is ${
        say(level)
      } in ${range}${first >= look ? ", and so from the first rows on" : ""}.`,
      alternatives: context.setting("sampler") === undefined
        ? [...ALTERNATIVES.slice(0, 3), FP8_UNTOLD]
        : ALTERNATIVES,
      next: nextStep(context),
    }];
  }
  if (size > distance(gap, floor.healthy)) {
    return [{
      ...common,
      id: "sampler_trainer_gap",
      class: "note",
      bound: floor.healthy,
      boundFrom: floor.from,
      sentence: `Sampler and trainer agree less than usual: ${gap.key} is ${
        say(level)
      } in ${range}; below ${say(floor.look)} this alone is not a fault.`,
    }];
  }
  return [{
    ...common,
    id: "sampler_trainer_gap",
    class: "holds",
    bound: floor.healthy,
    boundFrom: floor.from,
    sentence: `Sampler and trainer agree: ${gap.key} is ${say(level)} in ${range}.`,
  }];
}

/** A gap three times what it was has another cause than the rounding that was there before. */
const TIMES = 3;

function gapMoves(context: Context, gap: Curve): readonly Finding[] {
  const { quantity } = gap.series.definition;
  if (quantity === "signed_log_prob" || quantity === "k1") return [];
  const distances: Curve = { ...gap, values: gap.values.map((value) => distance(gap, value)) };
  const floor = noiseOf(context, gap);
  // Below what rounding explains, growth has no consequence.
  const least = floor ? distance(gap, floor.healthy) : 0;
  const common = { ...about(gap), alternatives: ALTERNATIVES.slice(0, 3), next: nextStep(context) };
  const shift = shiftOf(distances);
  const change = changeOf(distances);
  if (
    shift?.isSharp && shift.after >= TIMES * shift.before && shift.after > least &&
    change !== undefined && change.isApart
  ) {
    return [{
      ...common,
      id: "gap_jump",
      class: "suspect",
      step: shift.step,
      value: shift.after,
      bound: TIMES * shift.before,
      boundFrom: "three times its median before that step",
      sentence: `${gap.key} jumps at step ${say(shift.step)} and stays up: ${
        say(shift.before)
      } before, ${say(shift.after)} after (distance from agreement).`,
      next: `Find what changed at step ${
        say(shift.step)
      }: a restart, a reload of the sampler, a failed weight update. ${nextStep(context)}`,
    }];
  }
  if (change && change.tail >= TIMES * change.head && change.isApart && change.tail > 2 * least) {
    return [{
      ...common,
      id: "gap_growth",
      class: "suspect",
      step: change.tailStep,
      value: change.tail,
      bound: TIMES * change.head,
      boundFrom: "three times the run's own first fifth",
      sentence: `${gap.key} grows from ${say(change.head)} to ${
        say(change.tail)
      } (distance from agreement): sampler and trainer drift apart.`,
    }];
  }
  return [];
}

/** Definitions in the order in which they tell most. */
const BEST_FIRST: readonly Quantity[] = [
  "abs_log_prob",
  "half_square",
  "k3",
  "exp_abs_log_prob",
  "abs_probability",
  "chosen_at_runtime",
  "signed_log_prob",
  "k1",
];

/** Judges all gaps of a log, and says the gravest of each kind once. */
function judgeGaps(context: Context): readonly Finding[] {
  const gaps = BEST_FIRST.flatMap((quantity) => context.curves("gap", { quantity: [quantity] }));
  const found = gaps.flatMap((gap) => [...gapLevel(context, gap), ...gapMoves(context, gap)]);
  const grave = ["suspect", "note", "holds"] as const;
  return ["sampler_trainer_gap", "gap_jump", "gap_growth"].flatMap((id) => {
    const own = found.filter((finding) => finding.id === id);
    const kind = grave.find((one) => own.some((finding) => finding.class === one));
    const first = own.find((finding) => finding.class === kind);
    return first ? [first] : [];
  });
}

/** In the order in which they are tried. */
export const SAMPLER_RULES: readonly Rule[] = [
  {
    ids: ["sampler_trainer_gap", "gap_jump", "gap_growth"],
    needs: [{ metric: "gap" }],
    without: {
      need: "gap",
      sentence: "whether sampler and trainer agree about the tokens' probabilities",
    },
    judge: judgeGaps,
  },
];
