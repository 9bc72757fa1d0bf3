/** How most metrics are averaged, and noise that is the same wherever two engines meet. */
import type { LogWindow, Over } from "./definition.ts";

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

/** Noise of a bf16 sampler beside a bf16 trainer, for mean |Δ log p|. */
export const BF16_GAP = {
  healthy: 0.018,
  look: 0.1,
  from:
    "bf16 pairs show 0.010 to 0.018 (trl issue 5312), stale weights 0.201; slime's own tests fail above 0.1",
} as const;
