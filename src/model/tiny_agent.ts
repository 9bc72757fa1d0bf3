/** TinyAgent on the GPU, top to bottom: the plans of its forward and backward passes over packed tokens. */
import type { Commands, Plan } from "../gpu/commands.ts";
import { addAttentionBackward, addAttentionForward, addQkvForward } from "../kernels/attention.ts";
import { addGradientReduce } from "../kernels/clip_adam.ts";
import { addEmbeddingBackward, addEmbeddingForward } from "../kernels/embedding.ts";
import { addLayernormBackward, addLayernormForward } from "../kernels/layernorm.ts";
import {
  addLinearBackwardInput,
  addLinearBackwardWeight,
  addLinearGeluBackwardInput,
  addLinearGeluForward,
  addLinearResidualForward,
} from "../kernels/linear.ts";
import { addLogprobBackward, addLogprobForward, type LogprobSize } from "../kernels/logprob.ts";
import type { ModelConfig } from "./config.ts";
import type { Parameters } from "./parameters.ts";
import type { GradientWorkspace, Workspace } from "./workspace.ts";

/** What a replay of the backward needs besides the forward's size. */
export interface BackwardSize extends LogprobSize {
  /** True adds to the gradient, false replaces it. */
  readonly accumulate: boolean;
}

function linearShapes(config: ModelConfig) {
  const { width, feedForwardWidth } = config;
  return {
    proj: { width, columnCount: width },
    fc: { width, columnCount: feedForwardWidth },
    out: { width: feedForwardWidth, columnCount: width },
    qkv: { width, columnCount: 3 * width },
  };
}

/** Adds one block, h = x + attention(LN(x)) and y = h + W gelu(W LN(h)), to a plan. */
function addBlockForward<Size extends LogprobSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    readonly layer: number;
  },
): void {
  const { parameters: { config, layout, operand: w }, workspace, layer } = options;
  const a = workspace.blocks[layer];
  const at = layout.blocks[layer];
  if (!a || !at) {
    throw new RangeError(`Cannot plan block ${layer}: the model has ${config.layerCount}`);
  }
  const { width } = config;
  const { token_N4 } = workspace.inputs;
  const shapes = linearShapes(config);
  const y_ND = workspace.blocks[layer + 1]?.x_ND ?? workspace.final_ND;
  addLayernormForward(commands, plan, {
    x_ND: a.x_ND,
    w,
    y_ND: a.normed1_ND,
    moments_N2: a.moments1_N2,
    width,
    gainOffset: at.ln1,
  });
  addQkvForward(commands, plan, {
    x_ND: a.normed1_ND,
    w,
    token_N4,
    angles_TK: workspace.angles_TK,
    qkv_N3D: a.qkv_N3D,
    shape: config,
    weightOffset: at.qkv,
  });
  addAttentionForward(commands, plan, {
    qkv_N3D: a.qkv_N3D,
    token_N4,
    o_ND: a.o_ND,
    lse_NH: a.lse_NH,
    shape: config,
  });
  addLinearResidualForward(commands, plan, {
    x_NK: a.o_ND,
    w,
    residual_NM: a.x_ND,
    y_NM: a.middle_ND,
    shape: { ...shapes.proj, weightOffset: at.proj },
  });
  addLayernormForward(commands, plan, {
    x_ND: a.middle_ND,
    w,
    y_ND: a.normed2_ND,
    moments_N2: a.moments2_N2,
    width,
    gainOffset: at.ln2,
  });
  addLinearGeluForward(commands, plan, {
    x_NK: a.normed2_ND,
    w,
    z_NM: a.z_NF,
    y_NM: a.gelu_NF,
    shape: { ...shapes.fc, weightOffset: at.fc },
  });
  addLinearResidualForward(commands, plan, {
    x_NK: a.gelu_NF,
    w,
    residual_NM: a.middle_ND,
    y_NM: y_ND,
    shape: { ...shapes.out, weightOffset: at.out },
  });
}

/** Adds token table, blocks and the last LayerNorm to a plan: `workspace.hidden_ND` from `workspace.inputs`. */
export function addHiddenForward<Size extends LogprobSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: { readonly parameters: Parameters; readonly workspace: Workspace },
): void {
  const { parameters, workspace } = options;
  const { config, layout, operand: w } = parameters;
  const first = workspace.blocks[0];
  if (!first) throw new RangeError("Cannot plan a model without blocks");
  addEmbeddingForward(commands, plan, {
    token_N4: workspace.inputs.token_N4,
    w,
    x_ND: first.x_ND,
    width: config.width,
    weightOffset: layout.embedding,
  });
  for (let layer = 0; layer < config.layerCount; layer++) {
    addBlockForward(commands, plan, { parameters, workspace, layer });
  }
  addLayernormForward(commands, plan, {
    x_ND: workspace.final_ND,
    w,
    y_ND: workspace.hidden_ND,
    moments_N2: workspace.momentsFinal_N2,
    width: config.width,
    gainOffset: layout.finalNorm,
  });
}

/** The plan of the whole forward: log-prob, entropy and log-sum-exp of every token's target to `result_N4`. */
export function forwardPlan<Size extends LogprobSize>(
  commands: Commands,
  options: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    /** Where the results go (default `workspace.result_N4`). */
    readonly result_N4?: Workspace["result_N4"];
  },
): Plan<Size> {
  const { parameters, workspace, result_N4 = workspace.result_N4 } = options;
  const plan = commands.plan<Size>();
  addHiddenForward(commands, plan, { parameters, workspace });
  addLogprobForward(commands, plan, {
    h_ND: workspace.hidden_ND,
    w: parameters.operand,
    target_N: workspace.inputs.target_N,
    segments: workspace.segments,
    result_N4,
    shape: { ...parameters.config, weightOffset: parameters.layout.head },
  });
  return plan;
}

interface BlockBackward {
  readonly parameters: Parameters;
  readonly workspace: Workspace;
  readonly gradients: GradientWorkspace;
  readonly layer: number;
  /** Where block partials start in the flat layout: they are stored from 0. */
  readonly trunkStart: number;
  readonly chunkStride: number;
}

/** Adds one block's backward: from the gradient of its output in dx_ND[0] to that of its input in dx_ND[0]. */
function addBlockBackward<Size extends BackwardSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: BlockBackward,
): void {
  const { parameters: { config, layout, operand: w }, workspace, gradients } = options;
  const { layer, trunkStart, chunkStride } = options;
  const a = workspace.blocks[layer];
  const at = layout.blocks[layer];
  if (!a || !at) {
    throw new RangeError(`Cannot plan block ${layer}: the model has ${config.layerCount}`);
  }
  const { partials, dnormed_ND, dz_NF, dqkv_N3D, dx_ND: [dy, dmiddle] } = gradients;
  const shapes = linearShapes(config);
  const weights = { partials, chunkStride };
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dy,
    x_NK: a.gelu_NF,
    shape: { ...shapes.out, weightOffset: at.out },
    hasBias: true,
    partialOffset: at.out - trunkStart,
  });
  addLinearGeluBackwardInput(commands, plan, {
    dy_NM: dy,
    w,
    z_NK: a.z_NF,
    dz_NK: dz_NF,
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
    dresidual_ND: dy,
    spare_ND: dy,
    dx_ND: dmiddle,
    width: config.width,
    gainOffset: at.ln2,
    partialOffset: at.ln2 - trunkStart,
  });
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dmiddle,
    x_NK: a.o_ND,
    shape: { ...shapes.proj, weightOffset: at.proj },
    hasBias: true,
    partialOffset: at.proj - trunkStart,
  });
  addLinearBackwardInput(commands, plan, {
    dy_NM: dmiddle,
    w,
    dx_NK: gradients.do_ND,
    shape: { ...shapes.proj, weightOffset: at.proj },
  });
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
  });
  addLinearBackwardWeight(commands, plan, {
    ...weights,
    dy_NM: dqkv_N3D,
    x_NK: a.normed1_ND,
    shape: { ...shapes.qkv, weightOffset: at.qkv },
    hasBias: false,
    partialOffset: at.qkv - trunkStart,
  });
  addLinearBackwardInput(commands, plan, {
    dy_NM: dqkv_N3D,
    w,
    dx_NK: dnormed_ND,
    shape: { ...shapes.qkv, weightOffset: at.qkv },
  });
  addLayernormBackward(commands, plan, {
    ...weights,
    dy_ND: dnormed_ND,
    x_ND: a.x_ND,
    moments_N2: a.moments1_N2,
    w,
    dresidual_ND: dmiddle,
    spare_ND: dmiddle,
    dx_ND: dy,
    width: config.width,
    gainOffset: at.ln1,
    partialOffset: at.ln1 - trunkStart,
  });
}

/**
 * The plan of the backward: from (d loss / d log-prob, d loss / d entropy) in `dresult_N2` to the flat gradient. It needs
 * the activations of a forward over the same inputs and weights.
 */
export function backwardPlan<Size extends BackwardSize>(
  commands: Commands,
  options: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    readonly gradients: GradientWorkspace;
  },
): Plan<Size> {
  const { parameters, workspace, gradients } = options;
  const { config, layout, operand: w } = parameters;
  const plan = commands.plan<Size>();
  const trunkStart = layout.blocks[0]?.ln1 ?? 0;
  const chunkStride = layout.head - trunkStart;
  const [dx, spare] = gradients.dx_ND;
  addLogprobBackward(commands, plan, {
    h_ND: workspace.hidden_ND,
    w,
    target_N: workspace.inputs.target_N,
    result_N4: workspace.result_N4,
    dresult_N2: gradients.dresult_N2,
    dz_NC: gradients.dz_NC,
    partials: gradients.headPartials,
    dh_ND: gradients.dnormed_ND,
    gradient: gradients.gradient,
    shape: { ...config, weightOffset: layout.head },
  });
  addLayernormBackward(commands, plan, {
    dy_ND: gradients.dnormed_ND,
    x_ND: workspace.final_ND,
    moments_N2: workspace.momentsFinal_N2,
    w,
    dresidual_ND: undefined,
    spare_ND: spare,
    dx_ND: dx,
    partials: gradients.partials,
    width: config.width,
    gainOffset: layout.finalNorm,
    partialOffset: layout.finalNorm - trunkStart,
    chunkStride,
  });
  for (let layer = config.layerCount - 1; layer >= 0; layer--) {
    addBlockBackward(commands, plan, {
      parameters,
      workspace,
      gradients,
      layer,
      trunkStart,
      chunkStride,
    });
  }
  addGradientReduce(commands, plan, {
    partials: gradients.partials,
    gradient: gradients.gradient,
    chunkStride,
    ranges: [{ length: chunkStride, partialOffset: 0, gradientOffset: trunkStart }],
  });
  addEmbeddingBackward(commands, plan, {
    order: workspace.inputs.order_N,
    start_V: workspace.inputs.start_V,
    dx_ND: dx,
    gradient: gradients.gradient,
    width: config.width,
    vocabSize: config.vocabSize,
    weightOffset: layout.embedding,
  });
  return plan;
}
