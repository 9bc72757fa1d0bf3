/** TinyAgent's backward on the GPU, bottom to top: the plan of its pass over packed tokens. */
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { addAttentionBackward } from "../kernels/attention.ts";
import { addGradientReduce } from "../kernels/clip_adam.ts";
import { addEmbeddingBackward } from "../kernels/embedding.ts";
import { addLayernormBackward } from "../kernels/layernorm.ts";
import { addLinear, addLinearBackwardInput, addLinearBackwardWeight } from "../kernels/linear.ts";
import { addLogprobBackward } from "../kernels/logprob.ts";
import { addScoredRowsBackward, scoredPart } from "../kernels/scored_rows.ts";
import type { Parameters } from "./parameters.ts";
import { type BlockForward, blockOf, type ForwardSize, linearShapes } from "./tiny_agent.ts";
import type { GradientWorkspace, Workspace } from "./workspace.ts";

/** What a replay of the backward needs besides the forward's size. */
export interface BackwardSize extends ForwardSize {
  /** True adds to the gradient, false replaces it. */
  readonly accumulate: boolean;
}

interface BlockBackward extends BlockForward {
  readonly gradients: GradientWorkspace;
  /** Gradient of the part's output, and where that of its input goes. */
  readonly dy_ND: Operand;
  readonly dx_ND: Operand;
  readonly chunkStart_9: Tensor;
  /** Where block partials start in the flat layout: they are stored from 0. */
  readonly trunkStart: number;
  readonly chunkStride: number;
}

/** Adds the backward of `addRowPart`: to the gradient of its x in dx_ND and of attention's output in `do_ND`. */
function addRowPartBackward<Size extends BackwardSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: BlockBackward & { readonly o_ND: Operand; readonly do_ND: Tensor },
): void {
  const { parameters: { config, operand: w }, gradients, dy_ND, dx_ND, trunkStart } = options;
  const { a, at } = blockOf(options);
  const { dnormed_ND, dz_NF, partials } = gradients;
  const shapes = linearShapes(config);
  const { chunkStart_9, chunkStride } = options;
  const weights = { chunkStart_9, partials, chunkStride };
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dy_ND,
    x_NK: a.gelu_NF,
    shape: { ...shapes.out, weightOffset: at.out },
    hasBias: true,
    partialOffset: at.out - trunkStart,
  });
  addLinear(commands, plan, {
    product: "gelu_backward_input",
    tensors: { dy_NM: dy_ND, w, z_NK: a.z_NF, dz_NK: dz_NF },
    shape: { ...shapes.out, weightOffset: at.out },
  });
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dz_NF,
    x_NK: a.normed2_ND,
    shape: { ...shapes.fc, weightOffset: at.fc },
    hasBias: true,
    partialOffset: at.fc - trunkStart,
  });
  addLinearBackwardInput(commands, plan, {
    dy_NM: dz_NF,
    w,
    dx_NK: dnormed_ND,
    shape: { ...shapes.fc, weightOffset: at.fc },
  });
  addLayernormBackward(commands, plan, {
    ...weights,
    dy_ND: dnormed_ND,
    x_ND: a.middle_ND,
    moments_N2: a.moments2_N2,
    w,
    dresidual_ND: dy_ND,
    spare_ND: dy_ND,
    dx_ND,
    width: config.width,
    gainOffset: at.ln2,
    partialOffset: at.ln2 - trunkStart,
  });
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dx_ND,
    x_NK: options.o_ND,
    shape: { ...shapes.proj, weightOffset: at.proj },
    hasBias: true,
    partialOffset: at.proj - trunkStart,
  });
  addLinearBackwardInput(commands, plan, {
    dy_NM: dx_ND,
    w,
    dx_NK: options.do_ND,
    shape: { ...shapes.proj, weightOffset: at.proj },
  });
}

/** Adds the backward of `addAttentionPart` and of what flows past it: from `gradients.do_ND` and dy_ND to dx_ND. */
function addAttentionPartBackward<Size extends BackwardSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: BlockBackward,
): void {
  const { parameters: { config, operand: w }, workspace, gradients, dy_ND, trunkStart } = options;
  const { a, at } = blockOf(options);
  const { dnormed_ND, dqkv_N3D, partials } = gradients;
  const qkv = { ...linearShapes(config).qkv, weightOffset: at.qkv };
  const { chunkStart_9, chunkStride } = options;
  const weights = { chunkStart_9, partials, chunkStride };
  addAttentionBackward(commands, plan, {
    qkv_N3D: a.qkv_N3D,
    do_ND: gradients.do_ND,
    o_ND: a.o_ND,
    lse_NH: a.lse_NH,
    delta_NH: gradients.delta_NH,
    token_N4: workspace.inputs.token_N4,
    angles_TK: workspace.angles_TK,
    dqkv_N3D,
    shape: config,
    maxPositions: workspace.maxPositions,
  });
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dqkv_N3D,
    x_NK: a.normed1_ND,
    shape: qkv,
    hasBias: false,
    partialOffset: at.qkv - trunkStart,
  });
  addLinearBackwardInput(commands, plan, { dy_NM: dqkv_N3D, w, dx_NK: dnormed_ND, shape: qkv });
  addLayernormBackward(commands, plan, {
    ...weights,
    dy_ND: dnormed_ND,
    x_ND: a.x_ND,
    moments_N2: a.moments1_N2,
    w,
    dresidual_ND: dy_ND,
    spare_ND: dy_ND,
    dx_ND: options.dx_ND,
    width: config.width,
    gainOffset: at.ln1,
    partialOffset: at.ln1 - trunkStart,
  });
}

interface ModelBackward {
  readonly parameters: Parameters;
  readonly workspace: Workspace;
  readonly gradients: GradientWorkspace;
}

/** The scored rows' part of the backward: head, last LayerNorm and the last block after its attention. */
function scoredBackwardPlan<Size extends BackwardSize>(
  commands: Commands,
  options: ModelBackward & { readonly trunkStart: number; readonly chunkStride: number },
): Plan<Size> {
  const { parameters, workspace, gradients, trunkStart, chunkStride } = options;
  const { config, layout, operand: w } = parameters;
  const { dx_ND: [even, odd], dnormed_ND, partials } = gradients;
  const chunkStart_9 = workspace.inputs.scoredChunkStart_9;
  const plan = commands.plan<Size>();
  addLogprobBackward(commands, plan, {
    h_ND: workspace.hidden_RD,
    w,
    target_N: workspace.inputs.target_R,
    result_N4: workspace.result_R4,
    dresult_N2: gradients.dresult_R2,
    dz_NC: gradients.dz_RC,
    chunkStart_9,
    partials: gradients.headPartials,
    dh_ND: dnormed_ND,
    gradient: gradients.gradient,
    shape: { ...config, weightOffset: layout.head },
  });
  addLayernormBackward(commands, plan, {
    dy_ND: dnormed_ND,
    x_ND: workspace.final_RD,
    moments_N2: workspace.momentsFinal_R2,
    w,
    dresidual_ND: undefined,
    spare_ND: even,
    dx_ND: odd,
    chunkStart_9,
    partials,
    width: config.width,
    gainOffset: layout.finalNorm,
    partialOffset: layout.finalNorm - trunkStart,
    chunkStride,
  });
  addRowPartBackward(commands, plan, {
    ...options,
    layer: config.layerCount - 1,
    o_ND: workspace.scoredO_RD,
    dy_ND: odd,
    dx_ND: even,
    do_ND: dnormed_ND,
    chunkStart_9,
  });
  return plan;
}

/**
 * The plan of the backward: from (d loss / d log-prob, d loss / d entropy) in `dresult_R2` to the flat gradient. It needs
 * the activations of a forward over the same inputs and weights. The gradient of the embedded tokens stays in the first of
 * `gradients.dx_ND`.
 */
export function backwardPlan<Size extends BackwardSize>(
  commands: Commands,
  options: ModelBackward,
): Plan<Size> {
  const { parameters: { config, layout }, workspace, gradients } = options;
  const { chunkStart_9, place_N } = workspace.inputs;
  const { dx_ND: [even, odd], dnormed_ND, do_ND, gradient, partials } = gradients;
  const trunkStart = layout.blocks[0]?.ln1 ?? 0;
  const chunkStride = layout.head - trunkStart;
  const block = { ...options, chunkStart_9, trunkStart, chunkStride };
  const plan = commands.plan<Size>();
  plan.append(scoredBackwardPlan<Size>(commands, block), scoredPart);
  addScoredRowsBackward(commands, plan, {
    place_N,
    dx_RD: even,
    do_RD: dnormed_ND,
    dx_ND: odd,
    do_ND,
    width: config.width,
  });
  for (let layer = config.layerCount - 1; layer >= 0; layer--) {
    addAttentionPartBackward(commands, plan, { ...block, layer, dy_ND: odd, dx_ND: even });
    const below = workspace.blocks[layer - 1];
    if (!below) break;
    addRowPartBackward(commands, plan, {
      ...block,
      layer: layer - 1,
      o_ND: below.o_ND,
      dy_ND: even,
      dx_ND: odd,
      do_ND,
    });
  }
  addGradientReduce(commands, plan, {
    partials,
    gradient,
    chunkStride,
    ranges: [{ length: chunkStride, partialOffset: 0, gradientOffset: trunkStart }],
  });
  addEmbeddingBackward(commands, plan, {
    order: workspace.inputs.order_N,
    start_V: workspace.inputs.start_V,
    dx_ND: even,
    gradient,
    width: config.width,
    vocabSize: config.vocabSize,
    weightOffset: layout.embedding,
  });
  return plan;
}
