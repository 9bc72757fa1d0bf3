/** TinyAgent, one token per slot, layer by layer: the decoder for models that do not fit the fused kernel. */
import type { Commands, Plan } from "../gpu/commands.ts";
import type { Tensor } from "../gpu/tensor.ts";
import { addAttentionDecode, addQkvForward } from "../kernels/attention.ts";
import { addEmbeddingForward } from "../kernels/embedding.ts";
import { addLayernormForward } from "../kernels/layernorm.ts";
import { addLinear } from "../kernels/linear.ts";
import type { Parameters } from "./parameters.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Adds one token of every slot through all layers to a plan, with the kernels of the training forward: `token_N4` holds
 * each slot's token and position, `hidden_RD` gets its hidden state, keys and values go to one cache a layer.
 */
export function addDecodeLayers<Size extends { readonly rowCount: number }>(
  commands: Commands,
  plan: Plan<Size>,
  options: {
    readonly parameters: Parameters;
    readonly workspace: Workspace;
    readonly caches: readonly Tensor[];
    readonly maxPositions: number;
  },
): void {
  const { parameters: { config, layout, operand: w }, workspace, caches, maxPositions } = options;
  const { width, feedForwardWidth } = config;
  const { token_N4 } = workspace.inputs;
  const a = workspace.blocks[0];
  if (!a) throw new RangeError("Cannot decode with a model without blocks");
  addEmbeddingForward(commands, plan, {
    token_N4,
    w,
    x_ND: a.x_ND,
    width,
    weightOffset: layout.embedding,
  });
  layout.blocks.forEach((at, layer) => {
    const cache = caches[layer];
    if (!cache) throw new RangeError(`Cannot decode layer ${layer}: it has no cache`);
    const isLast = layer === config.layerCount - 1;
    const norm = { w, width, moments_N2: a.moments1_N2 };
    addLayernormForward(commands, plan, {
      ...norm,
      x_ND: a.x_ND,
      y_ND: a.normed1_ND,
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
    addAttentionDecode(commands, plan, {
      qkv_B3D: a.qkv_N3D,
      token_B4: token_N4,
      cache,
      o_BD: a.o_ND,
      shape: config,
      maxPositions,
    });
    addLinear(commands, plan, {
      product: "residual_forward",
      tensors: { x_NK: a.o_ND, w, residual_NM: a.x_ND, y_NM: a.middle_ND },
      shape: { width, columnCount: width, weightOffset: at.proj },
    });
    addLayernormForward(commands, plan, {
      ...norm,
      x_ND: a.middle_ND,
      y_ND: a.normed2_ND,
      gainOffset: at.ln2,
    });
    addLinear(commands, plan, {
      product: "gelu_forward",
      tensors: { x_NK: a.normed2_ND, w, z_NM: a.z_NF, y_NM: a.gelu_NF },
      shape: { width, columnCount: feedForwardWidth, weightOffset: at.fc },
    });
    addLinear(commands, plan, {
      product: "residual_forward",
      tensors: {
        x_NK: a.gelu_NF,
        w,
        residual_NM: a.middle_ND,
        y_NM: isLast ? workspace.final_RD : a.x_ND,
      },
      shape: { width: feedForwardWidth, columnCount: width, weightOffset: at.out },
    });
  });
  addLayernormForward(commands, plan, {
    x_ND: workspace.final_RD,
    w,
    y_ND: workspace.hidden_RD,
    moments_N2: workspace.momentsFinal_R2,
    width,
    gainOffset: layout.finalNorm,
  });
}
