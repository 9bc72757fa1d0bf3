/** Rows of Hugging Face's Trainer, whatever file they stand in. */
import { numbersOf } from "./fields.ts";
import type { LogField } from "./literal.ts";
import type { LogEntry, LogSink } from "./run_log_builder.ts";
import { fieldNumber } from "./step_key.ts";

/** Keys of which every row of the Trainer has one, apart from those of evaluations; an excerpt may have any of them. */
const TRAINER_KEYS: ReadonlySet<string> = new Set([
  "loss",
  "grad_norm",
  "learning_rate",
  "reward",
  "reward_std",
  "train_runtime",
]);

/** Folders of keys that only trainers of TRL's kind have; PPO and the old RLOO have no others but these and the epoch. */
const TRL_KEY = /^(?:completions|objective|policy|clip_ratio)\/|^rewards\/(?!\d)/;

/** ms-swift's step with the planned ones: "12/2400". */
export const SWIFT_STEP = "global_step/max_steps";

/** True where keys can be a row of the Trainer: with the epoch that it adds to each, or enough of its own. */
export function isTrainerRow(fields: readonly LogField[]): boolean {
  const keys = new Set(fields.map(({ key }) => key));
  const own =
    [...keys].filter((key) => TRAINER_KEYS.has(key) || /^eval_/.test(key) || TRL_KEY.test(key))
      .length;
  return own > 0 && (keys.has("epoch") || keys.has("step") || keys.has(SWIFT_STEP)) || own > 1;
}

/** True of a row with an evaluation, or the summary at the end: no step of training is made with it. */
export function isExtraRow(fields: readonly LogField[]): boolean {
  return fields.every(({ key }) => key !== "loss") &&
    fields.some(({ key }) => /^eval_|^test_|^train_runtime$/.test(key));
}

/** A step, and the planned ones where they are told with it. */
export interface TrainerStep {
  readonly step: number;
  readonly plannedSteps?: number;
}

/** What ms-swift's "12/2400" says. */
export function swiftStep(text: string): Required<TrainerStep> | undefined {
  const parts = /^(\d+)\/(\d+)$/.exec(text);
  return parts ? { step: Number(parts[1]), plannedSteps: Number(parts[2]) } : undefined;
}

/** The step that a row names; undefined where it names none. */
export function stepOf(fields: readonly LogField[]): TrainerStep | undefined {
  for (const { key, value } of fields) {
    const step = key === "step" ? fieldNumber(value) : undefined;
    if (step !== undefined) return { step };
    if (key === SWIFT_STEP && typeof value === "string") return swiftStep(value);
  }
  return undefined;
}

/** What a row of an evaluation has under the names of training, because it is not a measure of the model. */
const OF_BOTH =
  /^(?:(?:eval|test)_.+|train_.+|total_flos|epoch|num_tokens|memory\(.+\)|.+speed\(.+\))$/;

/**
 * The numbers of a row, without its step. Some versions of TRL and Unsloth name what an evaluation measures as in training
 * (`reward` beside `eval_loss`): that is `eval_reward`, or it would stand for the training's value of that step.
 */
export function trainerEntries(fields: readonly LogField[], sink: LogSink): LogEntry[] {
  const own = fields.filter(({ key }) => key !== "step" && key !== SWIFT_STEP);
  const isEvaluation = isExtraRow(fields) && own.some(({ key }) => /^eval_/.test(key));
  return numbersOf(
    isEvaluation
      ? own.map((field) => OF_BOTH.test(field.key) ? field : { ...field, key: `eval_${field.key}` })
      : own,
    sink,
  );
}
