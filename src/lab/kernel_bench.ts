/** The benchmark of kernels: every dispatch of a TinyAgent update, checked against the float64 reference, then timed alone. */
import { randomSequence, STREAM } from "../core/rng.ts";
import { median } from "../core/statistics.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import { createTensor, type Tensor } from "../gpu/tensor.ts";
import { type Timer, timeOnDevice } from "../gpu/timing.ts";
import { type AdamSize, addClipAdam, addGradientNorm } from "../kernels/clip_adam.ts";
import { addLinearForward } from "../kernels/linear.ts";
import { addPolicyLoss, type LossSize } from "../kernels/policy_loss.ts";
import { TINY_AGENT } from "../model/config.ts";
import {
  createFlat,
  createParameters,
  initialValues,
  type Parameters,
  toTensors,
} from "../model/parameters.ts";
import { backwardPlan, type BackwardSize, forwardPlan } from "../model/tiny_agent.ts";
import {
  createGradientWorkspace,
  createWorkspace,
  type GradientWorkspace,
  type Workspace,
} from "../model/workspace.ts";
import { packEpisodes, type PackedBatch } from "../rollout/batch.ts";
import { type KernelWork, kernelWork } from "./kernel_work.ts";
