/** Log-probs and entropies of sequences of token ids under a decoder, in pieces that fit the device. */
import { at } from "../core/element.ts";
import { largest } from "../core/statistics.ts";
import type { Commands } from "../gpu/commands.ts";
import {
  createDecoderWorkspace,
  decoderPlan,
  destroyDecoderWorkspace,
  widestRow,
} from "./decoder.ts";
import type { DecoderWeights } from "./decoder_weights.ts";

/** Rows that are computed at once: products fill a GPU, and activations stay small. */
const MAX_ROWS = 1024;

/** Numbers of one sequence of T tokens; entry t is about token t + 1. */
export interface SequenceScores {
  /** log π(next token), in nats; T − 1 of them. */
  readonly logp: Float32Array<ArrayBuffer>;
  /** Entropy of the distribution of the next token, in nats. */
  readonly entropy: Float32Array<ArrayBuffer>;
  /** ln Σ exp of the logits that the temperature has divided: with `logp` the logit itself. */
  readonly logSumExp: Float32Array<ArrayBuffer>;
}

/** A run of rows of one sequence in a piece. */
interface Run {
  readonly sequence: number;
  /** Its first position, and how many there are. */
  readonly begin: number;
  readonly count: number;
}

/** Rows that are computed at once: whole sequences, or a part of one alone. */
type Piece = readonly Run[];

function cutIntoPieces(rows_B: readonly number[], capacity: number): Piece[] {
  const pieces: Run[][] = [];
  let open: Run[] = [], used = 0;
  const close = () => {
    if (open.length > 0) pieces.push(open);
    open = [];
    used = 0;
  };
  rows_B.forEach((rows, sequence) => {
    if (rows === 0) return;
    if (used + rows > capacity) close();
    if (rows <= capacity) {
      open.push({ sequence, begin: 0, count: rows });
      used += rows;
      return;
    }
    for (let begin = 0; begin < rows; begin += capacity) {
      pieces.push([{ sequence, begin, count: Math.min(capacity, rows - begin) }]);
    }
  });
  close();
  return pieces;
}

/** Tokens and targets of a piece. A cut sequence keeps its keys at their positions, whole ones lie one behind the other. */
function pieceInputs(piece: Piece, ids_B: readonly ArrayLike<number>[]) {
  const rowCount = piece.reduce((sum, { count }) => sum + count, 0);
  const token_N4 = new Uint32Array(4 * rowCount), target_N = new Uint32Array(rowCount);
  let n = 0;
  for (const { sequence, begin, count } of piece) {
    const first = begin > 0 ? 0 : n;
    const ids = at(ids_B, sequence);
    for (let i = 0; i < count; i++, n++) {
      const position = begin + i;
      token_N4.set([at(ids, position), position, first, first + position], 4 * n);
      target_N[n] = at(ids, position + 1);
    }
  }
  return {
    rowCount,
    token_N4,
    target_N,
    positionCount: largest(piece.map(({ begin, count }) => begin + count)),
  };
}

function requireIds(ids_B: readonly ArrayLike<number>[], vocabSize: number): void {
  ids_B.forEach((ids, b) => {
    for (let t = 0; t < ids.length; t++) {
      const id = ids[t] ?? NaN;
      if (Number.isInteger(id) && id >= 0 && id < vocabSize) continue;
      throw new RangeError(
        `Cannot score sequence ${b}: its id at position ${t} is ${
          ids[t]
        }, but the vocabulary has ids from 0 to ${vocabSize - 1}`,
      );
    }
  });
}

/** Rows at once that keep every tensor of activations below the limit of a binding. */
function rowCapacity(commands: Commands, weights: DecoderWeights, maxRows: number): number {
  const { maxStorageBufferBindingSize: limit } = commands.gpu.device.limits;
  return Math.max(1, Math.min(maxRows, Math.floor(limit / (4 * widestRow(weights.config)))));
}

/** What was computed, and what it took. */
export interface ScoredSequences {
  /** One a sequence, in their order. */
  readonly scores_B: readonly SequenceScores[];
  /** Bytes on the device beyond the weights. */
  readonly workspaceBytes: number;
}

/**
 * Scores sequences. Neither their order, nor which are computed together, nor how a long one is cut changes any bit: a row's
 * results depend on the tokens of its own sequence alone. Logits are never stored.
 *
 * @param options.ids_B Token ids of each sequence; of one without a second token there is nothing to score.
 * @param options.temperature Divides the logits before the softmax; above 0.
 * @param options.maxRows Rows that are computed at once (default 1,024).
 * @param options.onRows Called with the rows of each piece that is done.
 * @returns Scores in the order of the sequences; not finite where the model's numbers overflow.
 * @throws {RangeError} When an id is outside the vocabulary.
 * @throws {UserError} When a sequence is too long for the adapter; nothing has been computed then.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function scoreSequences(
  commands: Commands,
  weights: DecoderWeights,
  options: {
    readonly ids_B: readonly ArrayLike<number>[];
    readonly temperature: number;
    readonly maxRows?: number;
    readonly onRows?: (rowCount: number) => void;
  },
): Promise<ScoredSequences> {
  const { ids_B, temperature, maxRows = MAX_ROWS, onRows } = options;
  requireIds(ids_B, weights.config.vocabSize);
  const rows_B = ids_B.map(({ length }) => Math.max(0, length - 1));
  const scores_B = rows_B.map((rows) => ({
    logp: new Float32Array(rows),
    entropy: new Float32Array(rows),
    logSumExp: new Float32Array(rows),
  }));
  const pieces = cutIntoPieces(rows_B, rowCapacity(commands, weights, maxRows));
  if (pieces.length === 0) return { scores_B, workspaceBytes: 0 };
  const capacity = largest(pieces.map((piece) => piece.reduce((sum, run) => sum + run.count, 0)));
  const maxPositions = largest(rows_B);
  const isCut = maxPositions > capacity;
  const workspace = createDecoderWorkspace(commands, weights.config, {
    capacity,
    maxPositions,
    cacheRows: Math.max(capacity, maxPositions),
    isCut,
  });
  try {
    const plan = decoderPlan(commands, { weights, workspace });
    for (const piece of pieces) {
      const { rowCount, positionCount, token_N4, target_N } = pieceInputs(piece, ids_B);
      commands.write(workspace.token_N4, token_N4);
      commands.write(workspace.target_N, target_N);
      commands.replay(plan, { rowCount, positionCount, temperature });
      const [bytes] = await commands.read([
        { tensor: workspace.result_N4, sizeBytes: 16 * rowCount },
      ]);
      const result_N4 = new Float32Array(bytes ?? new ArrayBuffer(0));
      let n = 0;
      for (const { sequence, begin, count } of piece) {
        const { logp, entropy, logSumExp } = at(scores_B, sequence);
        for (let i = 0; i < count; i++, n++) {
          logp[begin + i] = result_N4[4 * n] ?? NaN;
          entropy[begin + i] = result_N4[4 * n + 1] ?? NaN;
          logSumExp[begin + i] = result_N4[4 * n + 2] ?? NaN;
        }
      }
      onRows?.(rowCount);
    }
    return { scores_B, workspaceBytes: workspace.sizeBytes };
  } finally {
    destroyDecoderWorkspace(workspace);
  }
}
