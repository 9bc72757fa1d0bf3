/** Log-probs, entropies and logits of given episodes under a model, in pieces that fit the device. */
import { at } from "../core/element.ts";
import { largest } from "../core/statistics.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import { createTensor, destroy, type Tensor } from "../gpu/tensor.ts";
import { addLinear } from "../kernels/linear.ts";
import type { Parameters } from "../model/parameters.ts";
import { allRows, writeBatch } from "../model/batch_inputs.ts";
import { forwardPlan, type ForwardSize } from "../model/tiny_agent.ts";
import { createWorkspace, destroyWorkspace, type Workspace } from "../model/workspace.ts";
import { packEpisodes } from "./batch.ts";

/** Rows that are computed at once: enough to fill a GPU, and 10 MB of activations in TinyAgent. */
const MAX_ROWS = 4096;

/** Logits that are read back at once: 64 MiB. */
const MAX_LOGITS = 2 ** 24;

/** Numbers of every token, episode after episode: row n belongs to the token that follows token n of its episode. */
export interface EpisodeScores {
  /** log π(next token), in nats; after an episode's last token, of `<pad>`. */
  readonly logp_N: Float32Array<ArrayBuffer>;
  /** Entropy of the distribution of the next token, in nats. */
  readonly entropy_N: Float32Array<ArrayBuffer>;
  /** Logits of the next token, not divided by the temperature; undefined where they were not asked for. */
  readonly logits_NV: Float32Array<ArrayBuffer> | undefined;
}

/** A run of episodes that is computed at once. */
export interface EpisodeRange {
  /** The first episode. */
  readonly begin: number;
  /** The episode behind the last. */
  readonly end: number;
  /** Tokens in it. */
  readonly rowCount: number;
}

/**
 * Cuts a batch between episodes.
 *
 * @param length_B Tokens of each episode.
 * @param maxRows Tokens of a range; only an episode that is longer exceeds it, alone in its range.
 * @returns Ranges that cover all episodes in order.
 */
export function splitEpisodes(length_B: ArrayLike<number>, maxRows: number): EpisodeRange[] {
  const ranges: EpisodeRange[] = [];
  let begin = 0;
  let rowCount = 0;
  for (let b = 0; b < length_B.length; b++) {
    const length = at(length_B, b);
    if (rowCount > 0 && rowCount + length > maxRows) {
      ranges.push({ begin, end: b, rowCount });
      begin = b;
      rowCount = 0;
    }
    rowCount += length;
  }
  if (rowCount > 0) ranges.push({ begin, end: length_B.length, rowCount });
  return ranges;
}

/** Device memory for the largest range, and the passes over it. */
interface Scorer {
  readonly workspace: Workspace;
  /** f32 [capacity, V]. */
  readonly logits: Tensor | undefined;
  readonly plan: Plan<ForwardSize>;
}

function prepareScorer(
  commands: Commands,
  parameters: Parameters,
  options: {
    readonly capacity: number;
    readonly maxPositions: number;
    readonly withLogits: boolean;
  },
): Scorer {
  const { config, operand: w, layout } = parameters;
  const { capacity, maxPositions, withLogits } = options;
  const workspace = createWorkspace(commands, config, {
    capacity,
    maxPositions,
    isTraining: false,
  });
  const plan = forwardPlan<ForwardSize>(commands, { parameters, workspace });
  try {
    commands.check(plan, { rowCount: capacity, scoredCount: capacity, temperature: 1 });
  } catch (error) {
    destroyWorkspace(workspace);
    throw error;
  }
  if (!withLogits) return { workspace, plan, logits: undefined };
  const logits = createTensor(commands.gpu.device, {
    label: "logits",
    sizeBytes: capacity * config.vocabSize * 4,
  });
  addLinear(commands, plan, {
    product: "forward",
    tensors: { x_NK: workspace.hidden_RD, w, y_NM: logits },
    shape: { width: config.width, columnCount: config.vocabSize, weightOffset: layout.head },
  });
  return { workspace, plan, logits };
}

/**
 * Scores episodes. How they are cut into ranges does not change any bit: a row's results do not depend on its batch.
 *
 * @param ids_B Token ids of each episode, at least one each.
 * @param options.temperature Divides the logits before the softmax; above 0.
 * @param options.withLogits Whether to read the logits back.
 * @param options.maxRows Rows that are computed at once (default 4,096; fewer with logits of a large vocabulary).
 * @returns Scores of the packed rows; not finite where the model's numbers overflow.
 * @throws {RangeError} When there is no episode, or one is empty or holds an id outside the vocabulary.
 * @throws {UserError} When the model or an episode is too large for the adapter; nothing has been computed then.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function scoreEpisodes(
  commands: Commands,
  parameters: Parameters,
  options: {
    readonly ids_B: readonly ArrayLike<number>[];
    readonly temperature: number;
    readonly withLogits: boolean;
    readonly maxRows?: number;
  },
): Promise<EpisodeScores> {
  const { ids_B, temperature, withLogits, maxRows = MAX_ROWS } = options;
  const { vocabSize } = parameters.config;
  const batch = packEpisodes(ids_B, { vocabSize });
  const logitRows = withLogits ? Math.floor(MAX_LOGITS / vocabSize) : Infinity;
  const ranges = splitEpisodes(batch.length_B, Math.min(maxRows, logitRows));
  const { workspace, plan, logits } = prepareScorer(commands, parameters, {
    capacity: largest(ranges.map(({ rowCount }) => rowCount)),
    maxPositions: largest(batch.length_B),
    withLogits,
  });
  const logp_N = new Float32Array(batch.rowCount);
  const entropy_N = new Float32Array(batch.rowCount);
  const logits_NV = withLogits ? new Float32Array(batch.rowCount * vocabSize) : undefined;
  for (const { begin, end, rowCount } of ranges) {
    const first = at(batch.firstRow_B, begin);
    const part = packEpisodes(ids_B.slice(begin, end), { vocabSize });
    writeBatch(commands, workspace.inputs, { batch: part, row_R: allRows(rowCount) });
    commands.replay(plan, { rowCount, scoredCount: rowCount, temperature });
    const [resultBytes = new ArrayBuffer(0), logitBytes] = await commands.read([
      { tensor: workspace.result_R4, sizeBytes: rowCount * 16 },
      ...(logits ? [{ tensor: logits, sizeBytes: rowCount * vocabSize * 4 }] : []),
    ]);
    const result_N4 = new Float32Array(resultBytes);
    for (let n = 0; n < rowCount; n++) {
      logp_N[first + n] = at(result_N4, 4 * n);
      entropy_N[first + n] = at(result_N4, 4 * n + 1);
    }
    if (logitBytes) logits_NV?.set(new Float32Array(logitBytes), first * vocabSize);
  }
  destroyWorkspace(workspace);
  if (logits) destroy(logits);
  return { logp_N, entropy_N, logits_NV };
}
