/** What every trainer on top of Hugging Face's Trainer logs: TRL, Unsloth, ms-swift, open-r1. */
import { hasKey } from "./log_traits.ts";
import type { Knob, LogTraits, MetricDefinition } from "./definition.ts";

/** Keys of the Trainer itself. Notebook tables call the loss `Training Loss`. */
export const HF_TRAINER_DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "loss",
    key: /loss|Training Loss/,
    quantity: "plain",
    over: "minibatches",
    window: "mean",
    unit: "1",
    signed: true,
    decimals: 4,
    says:
      "Mean of the loss since the last row; with one update per batch its value is the KL term or a weighted mean advantage, not a measure of progress.",
    zero:
      "With one update per batch and no KL term the loss is about 0 by construction, and four decimals hide the rest.",
    nan: "The loss itself was not finite.",
  },
  {
    metric: "grad_norm",
    key: "grad_norm",
    quantity: "plain",
    over: "step",
    window: "last",
    unit: "norm",
    says:
      "Norm of the gradient before clipping, of only the last step before the row, not a mean of the steps between.",
    zero: "Every token of that step had advantage 0 and there is no KL or entropy term.",
    nan: "Under fp16 scaling the step was skipped; otherwise the gradient was not finite.",
  },
  {
    metric: "learning_rate",
    key: "learning_rate",
    quantity: "plain",
    over: "step",
    window: "last",
    unit: "1",
    says: "Learning rate of the scheduler at the last step before the row.",
    zero: "The first row of a warm-up and the last one of a decay may be 0.",
  },
  {
    metric: "epoch",
    key: "epoch",
    quantity: "plain",
    over: "step",
    window: "last",
    unit: "epochs",
    says: "Passes over the data set so far.",
  },
  {
    metric: "tokens",
    key: "num_tokens",
    quantity: "plain",
    over: "step",
    window: "last",
    unit: "tokens",
    says: "Tokens of prompts and completions since the start.",
  },
];

/** Other columns of the Trainer: its last row, and speeds of an evaluation. */
export const HF_TRAINER_ALSO_LOGS: readonly RegExp[] = [
  /total_flos|train_(?:loss|runtime|samples_per_second|steps_per_second)/,
  /(?:eval|test)_(?:.+_)?(?:loss|runtime|samples_per_second|steps_per_second|model_preparation_time)/,
  /Validation Loss|num_input_tokens_seen|memory\(GiB\)|train_speed\(.+\)/,
];

/** Settings of `TrainingArguments`. */
export const HF_TRAINER_KNOBS: Partial<Readonly<Record<Knob, string>>> = {
  learningRate: "learning_rate",
  warmup: "warmup_steps",
  gradientClip: "max_grad_norm",
  plannedSteps: "max_steps",
  checkpoint: "save_steps",
  resume: "trainer.train(resume_from_checkpoint=True)",
};

/** Forms that nothing but a Trainer writes. */
const FORMS = new Set(["trainer_state", "hf_console"]);

/** Whether a log has the columns of the Trainer. */
export function isFromHfTrainer(traits: LogTraits): boolean {
  const marks = ["loss", "grad_norm", "learning_rate", "epoch"];
  return FORMS.has(traits.form) && hasKey(traits, "loss") ||
    marks.every((mark) => hasKey(traits, mark));
}
