/** What one dispatch of each kernel has to do, from its own parameters: operations where they decide, bytes elsewhere. */

/** Parameters of a dispatch, as the kernel's `Params` names them. */
export type DispatchParams = Readonly<Record<string, number>>;

/** What the parameters of a dispatch do not say. */
export interface BatchFacts {
  /** N. */
  readonly rowCount: number;
  /** V. */
  readonly vocabSize: number;
  /** Pairs of a query and a key that it sees: Σ over episodes of length · (length + 1) / 2. */
  readonly pairCount: number;
}

/** The least work of one dispatch: every operand read once, every result written once. */
export interface KernelWork {
  /** For people: rows × inputs → outputs, or the number of entries. */
  readonly shape: string;
  /** Products count as two operations; 0 where memory decides. */
  readonly flops: number;
  /** 0 where operations decide. */
  readonly bytes: number;
}

type Describe = (params: DispatchParams, facts: BatchFacts) => KernelWork;

function product(columnCount: (params: DispatchParams, facts: BatchFacts) => number): Describe {
  return (params, facts) => {
    const inputs = 4 * params.width4;
    const outputs = columnCount(params, facts);
    return {
      shape: `${inputs}→${outputs}`,
      flops: 2 * facts.rowCount * inputs * outputs,
      bytes: 0,
    };
  };
}

/** Kernels over [N, D] that read and write `arrays` of that size. */
function rows(arrays: number): Describe {
  return ({ width4 }, { rowCount }) => ({
    shape: `${rowCount}×${4 * width4}`,
    flops: 0,
    bytes: arrays * rowCount * width4 * 16,
  });
}

/** `flopsPerPair`: operations per query, key and column. */
function attention(flopsPerPair: number): Describe {
  return ({ width4, head_count }, { pairCount }) => ({
    shape: `${head_count}×${4 * width4 / head_count}`,
    flops: flopsPerPair * pairCount * 4 * width4,
    bytes: 0,
  });
}

/** Kernels over a flat list; `bytesEach` are read or written for each entry. */
function entries(count: (params: DispatchParams) => number, bytesEach: number): Describe {
  return (params) => ({
    shape: String(count(params)),
    flops: 0,
    bytes: bytesEach * count(params),
  });
}

const linear = product((params) => params.column_count);
const head = product((params) => params.vocab_size);
const perRow = (bytesEach: number) => entries((params) => params.row_count, bytesEach);
const perVec4 = (bytesEach: number) => entries((params) => params.vec4_count, bytesEach);

/** By kernel. Source of the attention counts: 2 products forward; 3 and 4 in the two halves of the backward. */
const WORK: Readonly<Record<string, Describe>> = {
  embedding_forward: rows(2),
  embedding_backward: rows(1),
  scored_rows_forward: rows(4),
  scored_rows_backward: rows(4),
  layernorm_forward: rows(2),
  layernorm_backward: rows(4),
  layernorm_weight_backward: rows(2),
  qkv_forward: product(({ width4 }) => 12 * width4),
  attention_forward: attention(4),
  attention_backward_query: attention(6),
  attention_backward_key_value: attention(8),
  linear_forward: linear,
  linear_residual_forward: linear,
  linear_gelu_forward: linear,
  linear_backward_input: linear,
  linear_gelu_backward_input: linear,
  linear_backward_weight: linear,
  logprob_forward: head,
  logprob_merge: perRow(32),
  logprob_backward: product(({ tile_width4, first_entry }, { vocabSize }) =>
    Math.min(4 * tile_width4, vocabSize - first_entry)
  ),
  policy_loss: perRow(56),
  // Eight partial sums in, one sum out.
  gradient_reduce: entries(({ range_length }) => range_length, 36),
  gradient_norm: perVec4(16),
  clip_scale: entries(({ block_count }) => block_count, 4),
  // Gradient, both moments and weights in; moments and weights out.
  clip_adam: perVec4(112),
};

/**
 * The work of a dispatch.
 *
 * @param kernel Name of the kernel.
 * @param params Its parameters.
 * @param facts The batch.
 * @returns Shape, operations and bytes.
 * @throws {RangeError} When the kernel is unknown here.
 */
export function kernelWork(
  kernel: string,
  params: DispatchParams,
  facts: BatchFacts,
): KernelWork {
  const describe = WORK[kernel];
  if (describe) return describe(params, facts);
  throw new RangeError(`Cannot count the work of ${kernel}: add it to src/bench/kernel_work.ts`);
}
