/** TinyAgent's forward on the GPU, top to bottom: the plan of its pass over packed tokens. */
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Operand, Tensor } from "../gpu/tensor.ts";
import { addAttentionForward, addQkvForward } from "../kernels/attention.ts";
import { addEmbeddingForward } from "../kernels/embedding.ts";
import { addLayernormForward } from "../kernels/layernorm.ts";
import { addLinear } from "../kernels/linear.ts";
import { addLogprobForward, type LogprobSize } from "../kernels/logprob.ts";
import type { RowSize } from "../kernels/operands.ts";
import { addScoredRowsForward, scoredPart, type ScoredSize } from "../kernels/scored_rows.ts";
import type { ModelConfig } from "./config.ts";
import type { Parameters } from "./parameters.ts";
import type { Workspace } from "./workspace.ts";

/** What a replay of the forward needs. */
export type ForwardSize = LogprobSize & ScoredSize;

/** The products of a block. */
export function linearShapes(config: ModelConfig) {
  const { width, feedForwardWidth } = config;
  return {
    proj: { width, columnCount: width },
    fc: { width, columnCount: feedForwardWidth },
    out: { width: feedForwardWidth, columnCount: width },
    qkv: { width, columnCount: 3 * width },
  };
}

/** Which block of which model, and its memory. */
export interface BlockForward {
  readonly parameters: Parameters;
  readonly workspace: Workspace;
  readonly layer: number;
}

/**
 * What a block's forward leaves, and where its parameters lie.
 * @throws {RangeError} When the model has no such block.
 */
export function blockOf({ parameters, workspace, layer }: BlockForward) {
  const a = workspace.blocks[layer];
  const at = parameters.layout.blocks[layer];
  if (!a || !at) {
    throw new RangeError(
      `Cannot plan block ${layer}: the model has ${parameters.config.layerCount}`,
    );
  }
  return { a, at };
}

/** Adds a block's attention over its normalized input: `o_ND` from `x_ND`. */
function addAttentionPart<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: BlockForward,
): void {
  const { parameters: { config, operand: w }, workspace } = options;
  const { a, at } = blockOf(options);
  const { token_N4 } = workspace.inputs;
  addLayernormForward(commands, plan, {
    x_ND: a.x_ND,
    w,
    y_ND: a.normed1_ND,
    moments_N2: a.moments1_N2,
    width: config.width,
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
    maxPositions: workspace.maxPositions,
  });
}

/** Adds the rest of a block, row by row: h = x + W o and y = h + W gelu(W LN(h)). */
function addRowPart<Size extends RowSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: BlockForward & {
    readonly x_ND: Tensor;
    readonly o_ND: Operand;
    readonly y_ND: Tensor;
  },
): void {
  const { parameters: { config, operand: w }, x_ND, o_ND, y_ND } = options;
  const { a, at } = blockOf(options);
  const shapes = linearShapes(config);
  addLinear(commands, plan, {
    product: "residual_forward",
    tensors: { x_NK: o_ND, w, residual_NM: x_ND, y_NM: a.middle_ND },
    shape: { ...shapes.proj, weightOffset: at.proj },
  });
  addLayernormForward(commands, plan, {
    x_ND: a.middle_ND,
    w,
    y_ND: a.normed2_ND,
    moments_N2: a.moments2_N2,
    width: config.width,
    gainOffset: at.ln2,
  });
  addLinear(commands, plan, {
    product: "gelu_forward",
    tensors: { x_NK: a.normed2_ND, w, z_NM: a.z_NF, y_NM: a.gelu_NF },
    shape: { ...shapes.fc, weightOffset: at.fc },
  });
  addLinear(commands, plan, {
    product: "residual_forward",
    tensors: { x_NK: a.gelu_NF, w, residual_NM: a.middle_ND, y_NM: y_ND },
    shape: { ...shapes.out, weightOffset: at.out },
  });
}

/**
 * Adds token table, blocks and the last LayerNorm to a plan: `hidden_RD` of the workspace from its inputs. Behind the last
 * attention no row reads another one, so that only scored rows go on.
 */
function addHiddenForward<Size extends ScoredSize>(
  commands: Commands,
  plan: Plan<Size>,
  options: { readonly parameters: Parameters; readonly workspace: Workspace },
): void {
  const { parameters, workspace } = options;
  const { config, layout, operand: w } = parameters;
  const { inputs, blocks, scoredX_RD, scoredO_RD, final_RD } = workspace;
  const last = config.layerCount - 1;
  const { a: { x_ND: first_ND } } = blockOf({ ...options, layer: 0 });
  const { a: { x_ND, o_ND } } = blockOf({ ...options, layer: last });
  addEmbeddingForward(commands, plan, {
    token_N4: inputs.token_N4,
    w,
    x_ND: first_ND,
    width: config.width,
    weightOffset: layout.embedding,
  });
  blocks.slice(0, last).forEach((block, layer) => {
    addAttentionPart(commands, plan, { ...options, layer });
    const y_ND = blocks[layer + 1]?.x_ND ?? final_RD;
    addRowPart(commands, plan, { ...options, layer, x_ND: block.x_ND, o_ND: block.o_ND, y_ND });
  });
  addAttentionPart(commands, plan, { ...options, layer: last });
  addScoredRowsForward(commands, plan, {
    row_R: inputs.row_R,
    x_ND,
    o_ND,
    x_RD: scoredX_RD,
    o_RD: scoredO_RD,
    width: config.width,
  });
  const scored = commands.plan<Size>();
  addRowPart(commands, scored, {
    ...options,
    layer: last,
    x_ND: scoredX_RD,
    o_ND: scoredO_RD,
    y_ND: final_RD,
  });
  addLayernormForward(commands, scored, {
    x_ND: final_RD,
    w,
    y_ND: workspace.hidden_RD,
    moments_N2: workspace.momentsFinal_R2,
    width: config.width,
    gainOffset: layout.finalNorm,
  });
  plan.append(scored, scoredPart);
}

/** The plan of the whole forward: log-prob, entropy and log-sum-exp of every scored row's target to `result_R4`. */
export function forwardPlan<Size extends ForwardSize>(
  commands: Commands,
  options: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    /** Where the results go (default `workspace.result_R4`). */
    readonly result_R4?: Workspace["result_R4"];
  },
): Plan<Size> {
  const { parameters, workspace, result_R4 = workspace.result_R4 } = options;
  const plan = commands.plan<Size>();
  addHiddenForward(commands, plan, { parameters, workspace });
  const scored = commands.plan<Size>();
  addLogprobForward(commands, scored, {
    h_ND: workspace.hidden_RD,
    w: parameters.operand,
    target_N: workspace.inputs.target_R,
    segments: workspace.segments,
    result_N4: result_R4,
    shape: { ...parameters.config, weightOffset: parameters.layout.head },
  });
  return plan.append(scored, scoredPart);
}
