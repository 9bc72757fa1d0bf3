/** The policy loss's gradient for log-probs and entropies: surrogate, KL to a reference, entropy. */
import policyLoss from "#shaders/policy_loss.wgsl" with { type: "text" };
import { KL_KINDS, type PolicyLossOptions, SURROGATE_KINDS } from "../equations/policy_loss.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import type { KernelSpec } from "../gpu/kernel.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { groupsOf, input, output, rowKernel, type RowSize } from "./operands.ts";

export const POLICY_LOSS: KernelSpec = {
  name: "policy_loss",
  wgsl: policyLoss,
  shared: [],
  params: [
    ["row_count", "u32"],
    ["surrogate", "u32"],
    ["clip_low", "f32"],
    ["clip_high", "f32"],
    ["kl_kind", "u32"],
    ["kl_coef", "f32"],
    ["entropy_coef", "f32"],
  ],
  bindings: [
    input("result_N4"),
    input("reference_N4"),
    input("objective_N4"),
    output("dresult_N2"),
  ],
  overrides: ["LANES"],
  iterations: () => 0,
};

/** What the loss is made of. */
export interface LossArguments extends RowSize {
  /** Surrogate, clip, KL and entropy. */
  readonly loss: PolicyLossOptions;
}

/** Adds dresult_N2 = (d loss / d log-prob, d loss / d entropy) per token to a plan. */
export function addPolicyLoss<Size extends LossArguments>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly result_N4: Tensor;
    /** Log-probs of the reference in the first of four floats; any tensor of that size where klCoef is 0. */
    readonly reference_N4: Tensor;
    /** (advantage, weight, mean weight, old log-prob) of each token. */
    readonly objective_N4: Tensor;
    readonly dresult_N2: Tensor;
  },
): void {
  plan.add(rowKernel(commands.gpu, POLICY_LOSS), {
    bindings: options,
    launch: ({ rowCount, loss }) => ({
      params: {
        row_count: rowCount,
        surrogate: SURROGATE_KINDS.indexOf(loss.surrogate),
        clip_low: loss.clipLow,
        clip_high: loss.clipHigh,
        kl_kind: loss.klCoef === 0 ? 0 : 1 + KL_KINDS.indexOf(loss.klKind),
        kl_coef: loss.klCoef,
        entropy_coef: loss.entropyCoef,
      },
      workgroups: [groupsOf(rowCount, commands.gpu.tuning.rowLanes)],
    }),
  });
}
