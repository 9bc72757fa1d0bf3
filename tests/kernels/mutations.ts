/** Mistakes to plant in the shaders, each with the comparison of the op's own tests that has to find it. */
import type { KernelSpec } from "../../src/gpu/kernel.ts";
import * as clipAdam from "../../src/kernels/clip_adam.ts";
import * as embedding from "../../src/kernels/embedding.ts";
import * as layernorm from "../../src/kernels/layernorm.ts";
import * as linear from "../../src/kernels/linear.ts";
import * as logprob from "../../src/kernels/logprob.ts";
import * as policyLoss from "../../src/kernels/policy_loss.ts";
import * as scoredRows from "../../src/kernels/scored_rows.ts";
import { compareClipAdam } from "./clip_adam.ts";
import { compareEmbeddingBackward, compareEmbeddingForward } from "./embedding.ts";
import type { Compare } from "./harness.ts";
import { compareLayernormBackward, compareLayernormForward } from "./layernorm.ts";
import {
  compareLinearBackwardInput,
  compareLinearBackwardWeight,
  compareLinearForward,
  compareLinearGeluBackwardInput,
  compareLinearGeluForward,
  compareLinearResidualForward,
} from "./linear.ts";
import { compareLogprobBackward, compareLogprobForward } from "./logprob.ts";
import { comparePolicyLoss } from "./policy_loss.ts";
import { compareScoredRowsBackward, compareScoredRowsForward } from "./scored_rows.ts";

/** A mistake: in the kernel's own text or in one that it shares, `from` becomes `to`. */
export interface Mutation {
  readonly mistake: string;
  readonly spec: KernelSpec;
  readonly from: string;
  readonly to: string;
  readonly compare: Compare;
}

const LINEAR = { rowCount: 9, width: 64, columnCount: 48 };
const LAYERNORM = { rowCount: 9, width: 64, offset: 100 };
const LOGPROB = { rowCount: 9, width: 32, vocabSize: 60, temperature: 0.7 };
const SCORED_ROWS = { rowCount: 9, width: 32, row_R: [1, 2, 7] };
const EMBEDDING = { rowCount: 9, width: 32, vocabSize: 7, accumulate: true };
const ADAM = { parameterCount: 4097, maxNorm: 0.05, step: 3 };
const CLIPPED = {
  surrogate: "clipped",
  clipLow: 0.1,
  clipHigh: 0.3,
  klKind: "k3",
  klCoef: 0.3,
  entropyCoef: 0.03,
} as const;

/** At least one mistake for every kernel of an op. */
export const MUTATIONS: readonly Mutation[] = [
  {
    mistake: "the table's offset is forgotten",
    spec: embedding.EMBEDDING_FORWARD,
    from: "params.weight_offset4 + ",
    to: "",
    compare: compareEmbeddingForward(EMBEDDING),
  },
  {
    mistake: "only the last row of a token counts",
    spec: embedding.EMBEDDING_BACKWARD,
    from: "sum += ",
    to: "sum = ",
    compare: compareEmbeddingBackward(EMBEDDING),
  },
  {
    mistake: "rows are taken as they come",
    spec: scoredRows.SCORED_ROWS_FORWARD,
    from: "let n = row_R[r];",
    to: "let n = min(r, row_R[r]);",
    compare: compareScoredRowsForward(SCORED_ROWS),
  },
  {
    mistake: "rows without a loss get the gradient of the first one with a loss",
    spec: scoredRows.SCORED_ROWS_BACKWARD,
    from: "select(vec4f(0.0), dx, is_scored)",
    to: "dx",
    compare: compareScoredRowsBackward(SCORED_ROWS),
  },
  {
    mistake: "the mean is not subtracted from the variance",
    spec: layernorm.LAYERNORM_FORWARD,
    from: "layernorm_centred(layernorm_input(c), sum)",
    to: "layernorm_input(c)",
    compare: compareLayernormForward(LAYERNORM),
  },
  {
    mistake: "the variance is the mean of squares minus the square of the mean, which cancels",
    spec: layernorm.LAYERNORM_FORWARD,
    from:
      "let centred = layernorm_centred(layernorm_input(c), sum);\n    square = fma(centred, centred, square);",
    to:
      "let raw = layernorm_input(c); let mean = sum * params.inverse_width;\n    square += fma(raw, raw, vec4f(-mean * mean));",
    compare: compareLayernormForward(LAYERNORM),
  },
  {
    mistake: "the bias is forgotten",
    spec: layernorm.LAYERNORM_FORWARD,
    from: "moments.y, gain, bias)",
    to: "moments.y, gain, vec4f(0.0) * bias)",
    compare: compareLayernormForward(LAYERNORM),
  },
  {
    mistake: "the term of the variance is missing in the backward",
    spec: layernorm.LAYERNORM_BACKWARD,
    from: "fma(-normalized, vec4f(gx_mean), centred)",
    to: "centred",
    compare: compareLayernormBackward({ ...LAYERNORM, offset: 0 }),
  },
  {
    mistake: "the residual's gradient is forgotten",
    spec: layernorm.LAYERNORM_BACKWARD,
    from: "inner, textureLoad(dresidual_ND, at))",
    to: "inner, vec4f(0.0))",
    compare: compareLayernormBackward({ ...LAYERNORM, hasResidual: true }),
  },
  {
    mistake: "the gradient of the bias is forgotten",
    spec: layernorm.LAYERNORM_WEIGHT_BACKWARD,
    from: "bias_sum += dy;",
    to: "",
    compare: compareLayernormBackward(LAYERNORM),
  },
  {
    mistake: "the bias is forgotten",
    spec: linear.LINEAR_FORWARD,
    from: " + textureLoad(w, operand_flat(bias_offset4 + column / 4u))",
    to: "",
    compare: compareLinearForward(LINEAR),
  },
  {
    mistake: "the weight is transposed",
    spec: linear.LINEAR_FORWARD,
    from: "transpose(mat4x4f(",
    to: "mat4x4f(mat4x4f(",
    compare: compareLinearForward(LINEAR),
  },
  {
    mistake: "the last vec4 of the inner dimension is skipped",
    spec: linear.LINEAR_FORWARD,
    from: "k < width4;",
    to: "k + 1u < width4;",
    compare: compareLinearForward(LINEAR),
  },
  {
    mistake: "the residual is forgotten",
    spec: linear.LINEAR_RESIDUAL_FORWARD,
    from: "residual_NM[y_at] + ",
    to: "",
    compare: compareLinearResidualForward(LINEAR),
  },
  {
    mistake: "the cubic term of GELU is forgotten",
    spec: linear.LINEAR_GELU_FORWARD,
    from: "fma(x * x * x, vec4f(GELU_CUBIC), x)",
    to: "x",
    compare: compareLinearGeluForward(LINEAR),
  },
  {
    mistake: "a weight's row is used twice",
    spec: linear.LINEAR_BACKWARD_INPUT,
    from: "min(4u * o4 + 3u, last)",
    to: "min(4u * o4 + 2u, last)",
    compare: compareLinearBackwardInput(LINEAR),
  },
  {
    mistake: "a product in pieces forgets the pieces before",
    spec: linear.LINEAR_BACKWARD_INPUT,
    from: "if (params.accumulate == 1u)",
    to: "if (params.accumulate == 2u)",
    compare: compareLinearBackwardInput({ ...LINEAR, accumulate: true }),
  },
  {
    mistake: "the derivative of GELU is its gate",
    spec: linear.LINEAR_GELU_BACKWARD_INPUT,
    from: "fma(x * gate * (1.0 - gate), slope, gate)",
    to: "gate + 0.0 * slope",
    compare: compareLinearGeluBackwardInput(LINEAR),
  },
  {
    mistake: "the gradient of the bias is forgotten",
    spec: linear.LINEAR_BACKWARD_WEIGHT,
    from: "bias += dy[i];",
    to: "bias = dy[i];",
    compare: compareLinearBackwardWeight(LINEAR),
  },
  {
    mistake: "the last row of each chunk is skipped",
    spec: linear.LINEAR_BACKWARD_WEIGHT,
    from: "n < end_row;",
    to: "n + 1u < end_row;",
    compare: compareLinearBackwardWeight(LINEAR),
  },
  {
    mistake: "a chunk is skipped",
    spec: clipAdam.GRADIENT_REDUCE,
    from: "const CHUNKS = 8u;",
    to: "const CHUNKS = 4u;",
    compare: compareLinearBackwardWeight(LINEAR),
  },
  {
    mistake: "the maximum is not subtracted, so that exp overflows",
    spec: logprob.LOGPROB_FORWARD,
    from: "let maximum = max(a.maximum, logit * factor);",
    to: "let maximum = 0.0;",
    compare: compareLogprobForward({ ...LOGPROB, offset: 100 }),
  },
  {
    mistake: "the bias is forgotten",
    spec: logprob.LOGPROB_FORWARD,
    from: "let logit = product + bias",
    to: "let logit = product + 0.0 * bias",
    compare: compareLogprobForward(LOGPROB),
  },
  {
    mistake: "the temperature is forgotten",
    spec: logprob.LOGPROB_FORWARD,
    from: "logit, params.inverse_temperature",
    to: "logit, 1.0",
    compare: compareLogprobForward(LOGPROB),
  },
  {
    mistake: "the last segment is forgotten",
    spec: logprob.LOGPROB_MERGE,
    from: "s < params.segment_count;",
    to: "s + 1u < params.segment_count;",
    compare: compareLogprobForward({ ...LOGPROB, rowCount: 3, vocabSize: 4100 }),
  },
  {
    mistake: "the entropy's moment has the wrong sign",
    spec: logprob.LOGPROB_MERGE,
    from: "-(a.moment / a.sum)",
    to: "a.moment / a.sum",
    compare: compareLogprobForward(LOGPROB),
  },
  {
    mistake: "the entropy itself is missing in its derivative",
    spec: logprob.LOGPROB_BACKWARD,
    from: "(log_p + vec4f(result.y))",
    to: "log_p",
    compare: compareLogprobBackward(LOGPROB),
  },
  {
    mistake: "the temperature is forgotten in the chain rule",
    spec: logprob.LOGPROB_BACKWARD,
    from: "dz * params.inverse_temperature",
    to: "dz",
    compare: compareLogprobBackward(LOGPROB),
  },
  {
    mistake: "the later tiles repeat the first one's rows of the head",
    spec: logprob.LOGPROB_BACKWARD,
    from: "set_columns(params.first_entry + ",
    to: "set_columns(",
    compare: compareLogprobBackward({ ...LOGPROB, vocabSize: 520 }),
  },
  {
    mistake: "the clip is ignored",
    spec: policyLoss.POLICY_LOSS,
    from: "clamp(ratio, 1.0 - params.clip_low, 1.0 + params.clip_high)",
    to: "ratio",
    compare: comparePolicyLoss(CLIPPED),
  },
  {
    mistake: "the clip has one width on both sides",
    spec: policyLoss.POLICY_LOSS,
    from: "1.0 - params.clip_low",
    to: "1.0 - params.clip_high",
    compare: comparePolicyLoss({ ...CLIPPED, clipLow: 0.5 }),
  },
  {
    mistake: "the divergence from the reference has the wrong sign",
    spec: policyLoss.POLICY_LOSS,
    from: "1.0 - exp(-d)",
    to: "1.0 - exp(d)",
    compare: comparePolicyLoss(CLIPPED),
  },
  {
    mistake: "the entropy is minimized",
    spec: policyLoss.POLICY_LOSS,
    from: "-params.entropy_coef",
    to: "params.entropy_coef",
    compare: comparePolicyLoss(CLIPPED),
  },
  {
    mistake: "the last vec4 of each block is left out of the norm",
    spec: clipAdam.GRADIENT_NORM,
    from: "i < end;",
    to: "i + 1u < end;",
    compare: compareClipAdam({ ...ADAM, parameterCount: 101 }),
  },
  {
    mistake: "the norm's root is forgotten",
    spec: clipAdam.CLIP_SCALE,
    from: "sqrt(sum)",
    to: "sum",
    compare: compareClipAdam(ADAM),
  },
  {
    mistake: "the clip factor is ignored",
    spec: clipAdam.CLIP_ADAM,
    from: "gradient[i] * scale",
    to: "gradient[i]",
    compare: compareClipAdam(ADAM),
  },
  {
    mistake: "the bias of the second moment is not corrected",
    spec: clipAdam.CLIP_ADAM,
    from: "vec4f(params.correction)",
    to: "vec4f(1.0)",
    compare: compareClipAdam(ADAM),
  },
];
