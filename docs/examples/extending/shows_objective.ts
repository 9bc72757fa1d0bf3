/** Resolves a configuration with the objective, and prints its advantages, its surrogate and the weights of its loss. */
import { HEALTHY_STAGES, resolveConfig } from "agentrl";

const config = resolveConfig({ flags: { algorithm: "rloo_clip" }, sets: ["microbatches=1"] });
// Two episodes of one group, on a grid of four columns: one of 4 tokens, one of 2.
const [microbatch] = HEALTHY_STAGES.accumulate([0, 1], {
  config,
  mask_BC: Float32Array.of(1, 1, 1, 1, 1, 1, 0, 0),
  columnCount: 4,
  maxPolicyTokens: 4,
});
console.log(JSON.stringify({
  surrogate: HEALTHY_STAGES.lossTerms(config).surrogate,
  weights: Array.from(microbatch.weight_BC),
}));
