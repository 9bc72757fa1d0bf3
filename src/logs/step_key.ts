/** Finds the key that counts the steps of a file whose rows are objects. */
import type { LogField } from "./literal.ts";
import { numberOf } from "./literal.ts";

/**
 * What trainers and trackers call the step, the surest first: a trainer's own count outranks the count of calls that W&B keeps
 * in `_step`, and a name with a tracker's prefix outranks a short one.
 */
export const STEP_KEYS: readonly string[] = [
  "train/global_step",
  "trainer/global_step",
  "training/global_step",
  "global_step",
  "step",
  "iteration",
  "train/step",
  "training_step",
  "train_step",
  "trainer/step",
  "rollout/step",
  "progress/batch",
  "iter",
  "update",
  "steps",
  "Step",
  "_step",
];

/** The number of a field, also where it is a text. */
export function fieldNumber(value: LogField["value"]): number | undefined {
  const number = typeof value === "string" ? numberOf(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/**
 * The step key of a file.
 *
 * @param rows Its first rows.
 * @returns The first of {@linkcode STEP_KEYS} that at least half of the rows have with a number; undefined where there is none.
 */
export function findStepKey(rows: readonly (readonly LogField[])[]): string | undefined {
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const { key, value } of row) {
      if (fieldNumber(value) !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return STEP_KEYS.find((key) => (counts.get(key) ?? 0) * 2 >= rows.length && counts.has(key));
}

/** One of the two counts of a log that has two. */
interface CountedAxis {
  /** Its step keys. */
  readonly stepKeys: readonly string[];
  /** True of the keys that are on it. */
  readonly isOn: (key: string) => boolean;
}

/** slime counts optimizer steps in `train/step`, and rollouts in `rollout/step`; several of the former are made in one of the latter. */
export const TWO_AXES: { readonly rollout: CountedAxis; readonly step: CountedAxis } = {
  rollout: { stepKeys: ["rollout/step", "eval/step"], isOn: (key) => !key.startsWith("train/") },
  step: { stepKeys: ["train/step"], isOn: (key) => key.startsWith("train/") },
};

/** True where rows count in both ways. */
export function hasTwoAxes(rows: readonly (readonly LogField[])[]): boolean {
  const has = (wanted: string) =>
    rows.some((row) =>
      row.some(({ key, value }) => key === wanted && fieldNumber(value) !== undefined)
    );
  return has("rollout/step") && has("train/step");
}
