/** How most metrics are averaged, and noise that is the same wherever two engines meet. */
import type { Floor, LogWindow, MetricDefinition, Over, Quantity } from "./definition.ts";

const ofStep = (over: Over): { over: Over; quantity: "plain"; window: LogWindow } => ({
  over,
  quantity: "plain",
  window: "step",
});

/** Of the step itself, over its episodes or completions. */
export const OF_SAMPLES = ofStep("samples");
/** Of the step itself, a mean of the groups' own values. */
export const OF_GROUPS = ofStep("groups");
/** Of the step itself, over its trained tokens. */
export const OF_TOKENS = ofStep("tokens");
/** Of the step itself, a mean of the sequences' own means. */
export const OF_SEQUENCES = ofStep("sequences");
/** Of the step itself, a mean over its minibatches. */
export const OF_MINIBATCHES = ofStep("minibatches");
/** Of the step itself, one value. */
export const OF_STEP = ofStep("step");

/** Half a square follows from the difference itself, and k3 is about that. */
const BF16_SQUARE: Floor = {
  healthy: 0.002,
  look: 0.02,
  from: "half the square of 0.02 to 0.2 nats, with room",
};
/** What is signed hides the spread: the mean of it is smaller. */
const BF16_SIGNED: Floor = {
  healthy: 0.01,
  look: 0.05,
  from: "differences of bf16 engines cancel in a signed mean",
};

/** Noise of a bf16 sampler beside a bf16 trainer, by what measures it; a definition may know better of its own key. */
const BF16_GAP: Partial<Readonly<Record<Quantity, Floor>>> = {
  abs_log_prob: {
    healthy: 0.02,
    look: 0.1,
    from:
      "between two bf16 engines 0.01 to 0.02 nats are usual; stale weights were seen at 0.2, and slime's own tests fail above 0.1",
  },
  k3: BF16_SQUARE,
  half_square: BF16_SQUARE,
  signed_log_prob: BF16_SIGNED,
  k1: BF16_SIGNED,
  abs_probability: {
    healthy: 0.005,
    look: 0.01,
    from:
      "verl's FAQ: normally below 0.005, above 0.01 a precision problem of the inference engine",
  },
  exp_abs_log_prob: {
    healthy: 1.02,
    look: 1.05,
    from:
      "NeMo-RL's guide: a steep rise past 1 or 2 % is a bug in the weight update, above 1.05 look",
  },
};

/** What of a metric is noise: by the producer's own word, else, of a gap, by what two bf16 engines differ by. */
export function floorOf({ metric, quantity, floor }: MetricDefinition): Floor | undefined {
  return floor ?? (metric === "gap" ? BF16_GAP[quantity] : undefined);
}
