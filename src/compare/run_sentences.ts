/** What a comparison of two runs says, in sentences. */
import { withDigits } from "../core/digits.ts";
import type { MetricComparison, RunComparison, RunSettingDifference } from "./compare_runs.ts";
import { settingText } from "./group_names.ts";
import { number } from "./group_sentences.ts";
import { PARTING_NOISE, PARTING_STEPS } from "./parting.ts";

/** Keys that a sentence lists. */
const MAX_KEYS = 4;

/** Two values that differ, with as few digits as show it. */
function against([first, second]: readonly [number | null, number | null]): string {
  const text = (value: number | null, digits: number) =>
    value === null ? "none" : withDigits(value, digits);
  const digits = [3, 6, 9, 17].find((few) => text(first, few) !== text(second, few)) ?? 17;
  return `${text(first, digits)} against ${text(second, digits)}`;
}

/** How far two logs are equal, number by number. */
export function equalSentence(
  { equal, isSameSetup, isAligned, whyNotAligned, trainers }: RunComparison,
): string {
  if (!isAligned) return `Steps cannot be aligned: ${whyNotAligned}.`;
  if (equal === null) {
    return trainers[0] === trainers[1]
      ? "The logs share no key at a step that both have."
      : "Of two frameworks no numbers are compared by their keys, only what is defined alike.";
  }
  const { equalSteps, commonSteps, firstDifferent, keys } = equal;
  const setup = isSameSetup ? "Same settings and seed: " : "";
  const begin = (text: string) => setup + (setup ? text : text[0].toUpperCase() + text.slice(1));
  if (firstDifferent === null) {
    return begin(`equal bit for bit in all ${commonSteps} common steps.`);
  }
  const shown = keys.slice(0, MAX_KEYS)
    .map(({ key, values }) => `${key} ${against(values)}`);
  const more = keys.length > MAX_KEYS ? `, and ${keys.length - MAX_KEYS} more keys` : "";
  const there = `${shown.join(", ")}${more}`;
  if (equalSteps === 0) {
    return begin(`different from the first common step on (${firstDifferent}): ${there}.`);
  }
  return begin(`equal bit for bit until step ${firstDifferent}, then ${there}.`);
}

/** The values of a setting that differs. What a log does not tell is not called `none`, which a run of ours can have. */
export function settingTexts({ values, isTold }: RunSettingDifference): string[] {
  return values.map((value, i) => isTold[i] ? settingText(value) : "not told");
}

/** How much a parting is. */
function sizeOf({ parting }: MetricComparison): string {
  if (!parting) return "";
  const { first, second, inNoise } = parting;
  const noise = inNoise === null ? "neither has noise" : `${number(inNoise)} times the noise`;
  return `${number(first)} against ${number(second)}, ${noise}`;
}

/** Which metric parts first, and how that is meant. */
export function partingSentence({ metrics, trainers, settings }: RunComparison): string {
  const [first] = metrics;
  const isSeedOnly = settings.length === 1 && settings[0].name === "seed";
  if (first?.verdict !== "parts" || !first.parting) {
    const compared = metrics.filter(({ verdict }) => verdict === "together").length;
    return compared === 0
      ? "No metric could be compared."
      : `None of ${compared} metrics parts by more than its noise.`;
  }
  return `First to part is ${first.metric}${first.part === "" ? "" : ` ${first.part}`}, from step ${
    number(first.parting.step)
  } on: ${sizeOf(first)}. ${PARTING_MEANING}${isSeedOnly ? ONLY_SEED : ""}${
    trainers[0] === trainers[1] ? "" : ACROSS
  }`;
}

/** What runs of one method add to that. */
const ONLY_SEED = " These two differ in nothing else that is known.";

/** What two frameworks add to that. */
const ACROSS =
  " Of two frameworks only what both define alike is compared; their code may still differ in what it leaves out.";

/** What parting means, and what one run each cannot say. */
export const PARTING_MEANING =
  `Parting: ${PARTING_STEPS} common steps in a row differ in one direction, by a median of at least ` +
  `${PARTING_NOISE} times the noise from step to step. It is one run each: seeds alone can do that.`;
