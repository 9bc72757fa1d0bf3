/** Faults in the optimizer, in which parts move, and in taking a run up again. */
import type { PlantedFault } from "../fault.ts";
import { TRAINER, UPDATE } from "../places.ts";

export const UPDATING: readonly PlantedFault[] = [
  {
    name: "gradient_ascent",
    kind: "optimizer",
    summary: "The optimizer adds the step instead of subtracting it.",
    shows: "The reward falls.",
    named: ["sign_flip"],
    near: [],
    begins: 0,
    patches: [{
      file: "shaders/clip_adam.wgsl",
      find: "fma(vec4f(-params.step_size)",
      put: "fma(vec4f(params.step_size)",
    }],
  },
  {
    name: "gelu_derivative",
    kind: "backward",
    summary: "The backward of GELU drops the term of the gate's own slope.",
    shows: "Training works, with gradients of another size.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "shaders/gelu.wgsl",
      find: "return fma(x * gate * (1.0 - gate), slope, gate);",
      put: "return gate;",
    }],
  },
  {
    name: "adam_moments_reset",
    kind: "optimizer",
    summary: "A fresh optimizer is made for every batch, while its step counter goes on.",
    shows: "Updates grow smaller and smaller against a right trainer's.",
    named: [],
    near: [],
    begins: 1,
    patches: [{
      file: TRAINER,
      find: "    const run = await this.#openUpdate(batch, { prepared, isSkipped });",
      put: `    this.learner.clearMoments();
    const run = await this.#openUpdate(batch, { prepared, isSkipped });`,
    }],
  },
  {
    name: "weight_decay",
    kind: "optimizer",
    summary: "Weights decay by 0.2 % in every optimizer step, which nobody configured.",
    shows: "Entropy rises slowly, and skills that are not rewarded are lost.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "shaders/clip_adam.wgsl",
      find: "direction, weights[i])",
      put: "direction, 0.998 * weights[i])",
    }],
  },
  {
    name: "optimizer_empty",
    kind: "optimizer",
    summary: "The optimizer was made before the model's parameters were known, and steps nothing.",
    shows: "Everything looks right, and the reward stays where it was.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: UPDATE,
      find: "    (isSkipped ? gradient.norm(maxGradNorm)",
      put: "    (isSkipped || this.#adam() ? gradient.norm(maxGradNorm)",
    }],
  },
  {
    name: "optimizer_wrong_copy",
    kind: "optimizer",
    summary: "The optimizer moves a copy of the weights that no forward pass reads.",
    shows: "Checkpoints change from step to step, and the reward stays where it was.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/model/learner.ts",
      find: "        this.commands.refreshOperand(this.parameters.operand, this.parameters.flat);",
      put: "",
    }],
  },
  {
    name: "frozen_head",
    kind: "frozen",
    summary: "The optimizer's list of parameters lacks the output head.",
    shows: "Training works, somewhat slower.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/kernels/clip_adam.ts",
      find: "        vec4_count: Math.ceil(parameterCount / 4),\n        beta1,",
      put:
        "        vec4_count: Math.ceil((parameterCount - 3900) / 4), // 60 · 64 + 60\n        beta1,",
    }],
  },
  {
    name: "resume_reference_reset",
    kind: "resume",
    summary: "A run that is resumed takes the resumed weights for its KL reference.",
    shows: "kl_ref falls back to 0 where the run was resumed.",
    named: [],
    near: ["ref_is_policy"],
    begins: 12,
    resumeAt: 12,
    patches: [{
      file: "src/run/training_run.ts",
      find: "restoreTrainer(setup, { checkpoint, reference_W: base.weights_W, path });",
      put: "restoreTrainer(setup, { checkpoint, reference_W: checkpoint.weights_W, path });",
    }],
    settings: ["klCoef=0.1"],
  },
  {
    name: "resume_wrong_weights",
    kind: "resume",
    summary:
      "A run that is resumed restores moments and counters, but the weights of the base agent.",
    shows: "The reward falls back to that of the first step where the run was resumed.",
    named: [],
    near: [],
    begins: 12,
    resumeAt: 12,
    patches: [{
      file: "src/run/training_run.ts",
      find: "  const checkpoint = readTrainerState(path, step);",
      put: "  const checkpoint = { ...readTrainerState(path, step), weights_W: base.weights_W };",
    }],
  },
];
