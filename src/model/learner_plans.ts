/** The prepared passes of a learner: forward, loss, backward, gradient norm and Adam over its memory. */
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { type AdamArguments, addClipAdam, addGradientNorm } from "../kernels/clip_adam.ts";
import { addPolicyLoss, type LossArguments } from "../kernels/policy_loss.ts";
import { scoredPart, type ScoredSize } from "../kernels/scored_rows.ts";
import type { Parameters } from "./parameters.ts";
import { forwardPlan, type ForwardSize } from "./tiny_agent.ts";
import { backwardPlan, type BackwardSize } from "./tiny_agent_backward.ts";
import type { GradientWorkspace, Workspace } from "./workspace.ts";

/** One plan a pass. */
export interface LearnerPlans {
  readonly forward: Plan<ForwardSize>;
  readonly loss: Plan<ScoredSize & LossArguments>;
  readonly backward: Plan<BackwardSize>;
  readonly norm: Plan<{ readonly maxNorm: number }>;
  readonly adam: Plan<AdamArguments>;
}

/**
 * Prepares the passes and refuses a capacity whose largest batch could not be computed to its end, before anything is.
 * @throws {UserError} When a loop would exceed what the adapter runs.
 */
export function learnerPlans(
  commands: Commands,
  memory: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    readonly gradients: GradientWorkspace;
    readonly moments: readonly [Tensor, Tensor];
  },
): LearnerPlans {
  const { parameters, workspace, gradients, moments: [first, second] } = memory;
  const { flat: weights, layout: { parameterCount } } = parameters;
  const { gradient, clip_2, refused, block_squares, dresult_R2 } = gradients;
  const scoredLoss = commands.plan<ScoredSize & LossArguments>();
  addPolicyLoss(commands, scoredLoss, {
    result_N4: workspace.result_R4,
    reference_N4: workspace.reference_R4,
    objective_N4: workspace.inputs.objective_R4,
    dresult_N2: dresult_R2,
  });
  const norm = commands.plan<{ readonly maxNorm: number }>();
  addGradientNorm(commands, norm, { gradient, block_squares, clip_2, parameterCount });
  const adam = commands.plan<AdamArguments>();
  const state = { first, second, weights, parameterCount };
  addClipAdam(commands, adam, { gradient, clip_2, refused, ...state });
  const plans = {
    forward: forwardPlan<ForwardSize>(commands, { parameters, workspace }),
    loss: commands.plan<ScoredSize & LossArguments>().append(scoredLoss, scoredPart),
    backward: backwardPlan<BackwardSize>(commands, { parameters, workspace, gradients }),
    norm,
    adam,
  };
  const { capacity } = workspace;
  const size = { rowCount: capacity, scoredCount: capacity, temperature: 1, accumulate: false };
  commands.check(plans.forward, size);
  commands.check(plans.backward, size);
  return plans;
}
