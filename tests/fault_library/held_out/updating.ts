/** Faults in the optimizer, in which parts move, and in taking a run up again. */
import type { PlantedFault } from "../fault.ts";
import { TRAINER, UPDATE } from "../places.ts";

/** Adam's rate as an expression of the configured `lr` and of the steps done before, `this.adamStep`. */
function rateIs(expression: string) {
  return { file: UPDATE, find: "learningRate: lr,", put: `learningRate: ${expression},` };
}

export const UPDATING: readonly PlantedFault[] = [
  {
    name: "adam_no_bias_correction",
    kind: "optimizer",
    summary: "Adam lacks the correction of its moments' bias.",
    shows: "The first updates are three times too large.",
    named: [],
    near: ["lr_high"],
    begins: 0,
    patches: [
      {
        file: "src/kernels/clip_adam.ts",
        find: "step_size: learningRate / (1 - beta1 ** step),",
        put: "step_size: learningRate,",
      },
      {
        file: "src/kernels/clip_adam.ts",
        find: "correction: 1 / Math.sqrt(1 - beta2 ** step),",
        put: "correction: 1,",
      },
    ],
  },
  {
    name: "adam_step_reset",
    kind: "optimizer",
    summary: "Adam's step counter starts from 0 in every batch, while its moments stay.",
    shows: "Updates grow: the correction of the bias is applied to moments that need none.",
    named: [],
    near: ["lr_high"],
    begins: 1,
    patches: [{
      file: TRAINER,
      find: "new UpdateRun(setup, { ...rest, learner, batch, reference, adamStep });",
      put: "new UpdateRun(setup, { ...rest, learner, batch, reference, adamStep: 0 });",
    }],
  },
  {
    name: "adam_double_step",
    kind: "optimizer",
    summary: "The optimizer steps twice on each gradient: once by hand, once in a hook.",
    shows: "The policy moves twice as far in a step.",
    named: [],
    near: ["lr_high"],
    begins: 0,
    patches: [{
      file: "src/model/learner.ts",
      find: "        this.commands.replay(this.#plans.adam, { adam });",
      put: `        this.commands.replay(this.#plans.adam, { adam });
        this.commands.replay(this.#plans.adam, { adam });`,
    }],
  },
  {
    name: "adam_betas_swapped",
    kind: "optimizer",
    summary: "Adam's two decays are exchanged.",
    shows: "The policy moves in jerks.",
    named: [],
    near: ["lr_high"],
    begins: 0,
    patches: [{
      file: UPDATE,
      find: "betas: [beta1, beta2]",
      put: "betas: [beta2, beta1]",
    }],
  },
  {
    name: "adam_eps_large",
    kind: "optimizer",
    summary: "Adam's epsilon is 0.01 instead of 1e-8.",
    shows: "The policy hardly moves.",
    named: [],
    near: [],
    begins: 0,
    patches: [{ file: UPDATE, find: "epsilon: eps,", put: "epsilon: 0.01," }],
  },
  {
    name: "grad_clip_missing",
    kind: "optimizer",
    summary: "The gradient is never clipped, though its norm is written.",
    shows: "Nothing: Adam divides the size of the gradient away.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "shaders/clip_scale.wgsl",
      find: "min(1.0, params.max_norm / (norm + 1e-6))",
      put: "1.0",
    }],
  },
  {
    name: "lr_decays",
    kind: "learning rate",
    summary:
      "A schedule that nobody configured lets the learning rate fall from the first step on.",
    shows: "The reward rises for a few steps and then stays.",
    named: [],
    near: [],
    begins: 0,
    patches: [rateIs("lr / (1 + this.adamStep / 2)")],
  },
  {
    name: "lr_small",
    kind: "learning rate",
    summary: "The learning rate is a twentieth of the configured one: a warm-up that never ends.",
    shows: "The reward stays where it was.",
    named: [],
    near: [],
    begins: 0,
    patches: [rateIs("0.05 * lr")],
  },
  {
    name: "lr_growing",
    kind: "learning rate",
    summary: "The learning rate grows by a tenth in every optimizer step.",
    shows: "It learns as usual and then falls apart.",
    named: [],
    near: ["lr_high"],
    begins: 0,
    patches: [rateIs("lr * 1.1 ** this.adamStep")],
  },
  {
    name: "lr_spikes",
    kind: "learning rate",
    summary: "A cyclic schedule multiplies the learning rate by thirty in every eighth step.",
    shows: "The reward collapses in the eighth step.",
    named: [],
    near: ["lr_high"],
    begins: 7,
    patches: [rateIs("this.adamStep % 16 >= 14 ? 30 * lr : lr")],
  },
  {
    name: "frozen_block",
    kind: "frozen",
    summary: "The middle block has no gradient: it was frozen for a test and left so.",
    shows: "Training works, somewhat slower.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/model/tiny_agent_backward.ts",
      find: "    ranges: [{ length: chunkStride, partialOffset: 0, gradientOffset: trunkStart }],",
      put: `    ranges: [[0, layout.blocks[1].ln1], [layout.blocks[2].ln1, layout.head]]
      .map(([begin, end]) => [Math.max(begin, trunkStart), end])
      .map(([begin, end]) => ({
        length: end - begin,
        partialOffset: begin - trunkStart,
        gradientOffset: begin,
      })),`,
    }],
  },
  {
    name: "frozen_embedding",
    kind: "frozen",
    summary: "The token table has no gradient.",
    shows: "Training works, somewhat slower.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/model/tiny_agent_backward.ts",
      find: "  addEmbeddingBackward(commands, plan, {",
      put: "  if (config.width === 0) addEmbeddingBackward(commands, plan, {",
    }],
  },
  {
    name: "resume_moments_lost",
    kind: "resume",
    summary: "A run that is resumed begins with empty moments and the old step counter.",
    shows: "The first updates behind the resumption are small.",
    named: [],
    near: [],
    begins: 12,
    resumeAt: 12,
    patches: [{
      file: "src/run/trainer_file.ts",
      find: "  trainer.learner.writeMoments(...moments);",
      put: "",
    }],
  },
  {
    name: "resume_step_reset",
    kind: "resume",
    summary: "A run that is resumed keeps its moments, but its optimizer counts from 0 again.",
    shows: "The first updates behind the resumption are too large.",
    named: [],
    near: ["lr_high"],
    begins: 12,
    resumeAt: 12,
    patches: [{
      file: "src/run/trainer_file.ts",
      find: "    state: parsed.data,",
      put: "    state: { ...parsed.data, adamStep: 0 },",
    }],
  },
  {
    name: "resume_moments_swapped",
    kind: "resume",
    summary: "A run that is resumed exchanges Adam's two moments.",
    shows: "NaN in the step behind the resumption.",
    named: [],
    near: [],
    begins: 12,
    resumeAt: 12,
    patches: [{
      file: "src/run/trainer_file.ts",
      find: "  trainer.learner.writeMoments(...moments);",
      put: "  trainer.learner.writeMoments(moments[1], moments[0]);",
    }],
  },
];
