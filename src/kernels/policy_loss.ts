/** The policy loss's gradient for log-probs and entropies: surrogate, KL to a reference, entropy. */
import policyLoss from "#shaders/policy_loss.wgsl" with { type: "text" };
import type { Commands, Plan } from "../gpu/commands.ts";
import type { KernelSpec } from "../gpu/kernel.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { groupsOf, input, kernelOf, output, ROW_LANES, type RowSize } from "./operands.ts";

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

/** What the loss is made of; the same record as the reference's `PolicyLossOptions`. */
export interface LossSize extends RowSize {
  /** Surrogate, clip, KL and entropy. */
  readonly loss: {
    readonly surrogate: "reinforce" | "clipped";
    readonly clipLow: number;
    readonly clipHigh: number;
    readonly klKind: "k1" | "k2" | "k3";
    readonly klCoef: number;
    readonly entropyCoef: number;
  };
}

const SURROGATE_CODE = { reinforce: 0, clipped: 1 } as const;
const KL_CODE = { k1: 1, k2: 2, k3: 3 } as const;

/** Adds dresult_N2 = (d loss / d log-prob, d loss / d entropy) per token to a plan. */
export function addPolicyLoss<Size extends LossSize>(
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
  plan.add(kernelOf(commands.gpu, POLICY_LOSS), {
    bindings: options,
    launch: ({ rowCount, loss }) => ({
      params: {
        row_count: rowCount,
        surrogate: SURROGATE_CODE[loss.surrogate],
        clip_low: loss.clipLow,
        clip_high: loss.clipHigh,
        kl_kind: loss.klCoef === 0 ? 0 : KL_CODE[loss.klKind],
        kl_coef: loss.klCoef,
        entropy_coef: loss.entropyCoef,
      },
      workgroups: [groupsOf(rowCount, ROW_LANES)],
    }),
  });
}
