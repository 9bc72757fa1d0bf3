/** Packing: episodes of different lengths become N rows without padding, and each row knows its cell on a [B, C] grid. */
import { at } from "../core/element.ts";
import { largest } from "../core/statistics.ts";

/** Episodes as kernels want them: one row per real token, episode after episode. */
export interface PackedBatch {
  /** Episodes that are packed. */
  readonly episodeCount: number;
  /** B, rows of the grid: as many, or those of the batch from which these episodes were selected. */
  readonly gridRowCount: number;
  /** The row of the grid that each packed episode stands in. */
  readonly gridRow_B: readonly number[];
  /** C = longest episode − 1 + pad columns: column t of a grid belongs to the token at position t + 1. */
  readonly columnCount: number;
  /** N. */
  readonly rowCount: number;
  /** Tokens of each episode. */
  readonly length_B: Uint32Array;
  /** The first row of each episode. */
  readonly firstRow_B: Uint32Array;
  /** (id, position, first row of the episode, row after its last). */
  readonly token_N4: Uint32Array<ArrayBuffer>;
  /** The token that follows in the episode; `<pad>` (0) after the last. */
  readonly target_N: Uint32Array<ArrayBuffer>;
  /** Rows sorted by token id, ascending inside an id. */
  readonly order_N: Uint32Array<ArrayBuffer>;
  /** Where each id's rows start in `order_N`, V + 1 entries. */
  readonly start_V: Uint32Array<ArrayBuffer>;
}

/** Counting sort of rows by token id, for the embedding's gradient. */
function sortByToken(ids_N: Uint32Array, vocabSize: number) {
  const start_V = new Uint32Array(vocabSize + 1);
  for (const id of ids_N) start_V[id + 1] = (start_V[id + 1] ?? 0) + 1;
  for (let v = 0; v < vocabSize; v++) start_V[v + 1] = (start_V[v + 1] ?? 0) + (start_V[v] ?? 0);
  const next_V = start_V.slice();
  const order_N = new Uint32Array(ids_N.length);
  ids_N.forEach((id, row) => {
    const place = next_V[id] ?? 0;
    order_N[place] = row;
    next_V[id] = place + 1;
  });
  return { order_N, start_V };
}

/**
 * Packs episodes.
 * @param ids_B Token ids of each episode, at least one each.
 * @param options.padColumns Columns of padding after the longest episode's grid (default 0).
 * @throws {RangeError} When there is no episode, an empty one, or an id outside the vocabulary.
 */
export function packEpisodes(
  ids_B: readonly ArrayLike<number>[],
  options: { readonly vocabSize: number; readonly padColumns?: number },
): PackedBatch {
  const { vocabSize, padColumns = 0 } = options;
  if (ids_B.length === 0) throw new RangeError("Cannot pack a batch: it holds no episode");
  const length_B = Uint32Array.from(ids_B, (ids) => ids.length);
  const rowCount = length_B.reduce((sum, length) => sum + length, 0);
  const firstRow_B = new Uint32Array(ids_B.length);
  const token_N4 = new Uint32Array(4 * rowCount);
  const target_N = new Uint32Array(rowCount);
  const ids_N = new Uint32Array(rowCount);
  let row = 0;
  ids_B.forEach((ids, b) => {
    if (ids.length === 0) throw new RangeError(`Cannot pack a batch: episode ${b} is empty`);
    firstRow_B[b] = row;
    const first = row;
    for (let t = 0; t < ids.length; t++, row++) {
      const id = ids[t] ?? 0;
      if (!(Number.isInteger(id) && id >= 0 && id < vocabSize)) {
        throw new RangeError(
          `Cannot pack a batch: token ${t} of episode ${b} is ${id}, but ids run from 0 to ${
            vocabSize - 1
          }`,
        );
      }
      ids_N[row] = id;
      target_N[row] = ids[t + 1] ?? 0;
      token_N4.set([id, t, first, first + ids.length], 4 * row);
    }
  });
  const columnCount = largest(length_B) - 1 + padColumns;
  return {
    episodeCount: ids_B.length,
    gridRowCount: ids_B.length,
    gridRow_B: ids_B.map((_, b) => b),
    columnCount,
    rowCount,
    length_B,
    firstRow_B,
    token_N4,
    target_N,
    ...sortByToken(ids_N, vocabSize),
  };
}

/**
 * Packs some episodes of a batch; their grid is the whole batch's.
 * @param batch The packed batch and the token ids of its episodes.
 * @param options.episodes Places in the batch, at least one, in the order of the rows.
 * @throws {RangeError} When there is no episode, or an id outside the vocabulary.
 */
export function selectEpisodes(
  batch: {
    readonly packed: PackedBatch;
    readonly trajectories: readonly { readonly ids: ArrayLike<number> }[];
  },
  options: { readonly episodes: readonly number[]; readonly vocabSize: number },
): PackedBatch {
  const { packed, trajectories } = batch;
  const { episodes, vocabSize } = options;
  return {
    ...packEpisodes(episodes.map((b) => at(trajectories, b).ids), { vocabSize }),
    columnCount: packed.columnCount,
    gridRowCount: packed.gridRowCount,
    gridRow_B: episodes,
  };
}

/** The first cell that a loss mask may not hold. */
export interface MaskFault {
  /** Its place in the [B, C] grid. */
  readonly cell: number;
  /** `value`: neither 0 nor 1. `pad`: 1 where the episode has no token to train on. */
  readonly kind: "value" | "pad";
}

/**
 * Looks for a cell that a loss mask may not hold. A weight between 0 and 1 would count as 1 in some sums and not in others,
 * and after an episode the "next token" is one that nobody wrote.
 *
 * @param mask_BC The mask, [B, C].
 * @param shape.length_B Tokens of each episode, without pads.
 * @param shape.columnCount C; column t belongs to the token at position t + 1.
 * @returns The first such cell; undefined where there is none.
 */
export function findMaskFault(
  mask_BC: ArrayLike<number>,
  shape: { readonly length_B: ArrayLike<number>; readonly columnCount: number },
): MaskFault | undefined {
  const { length_B, columnCount: C } = shape;
  for (let cell = 0; cell < mask_BC.length; cell++) {
    if (mask_BC[cell] === 0) continue;
    if (mask_BC[cell] !== 1) return { cell, kind: "value" };
    if (cell % C + 1 >= at(length_B, Math.floor(cell / C))) return { cell, kind: "pad" };
  }
  return undefined;
}

/** Values of a [B, C] grid on the packed rows; the last row of an episode of full width lies outside the grid and gets 0. */
export function gridToRows(
  batch: PackedBatch,
  grid_BC: ArrayLike<number>,
): Float32Array<ArrayBuffer> {
  const rows_N = new Float32Array(batch.rowCount);
  forEachRow(batch, (row, cell) => rows_N[row] = grid_BC[cell] ?? 0);
  return rows_N;
}

/** Values on packed rows as a [B, C] grid, 0 where there is no row. */
export function rowsToGrid(
  batch: PackedBatch,
  rows_N: ArrayLike<number>,
): Float32Array<ArrayBuffer> {
  const grid_BC = new Float32Array(batch.gridRowCount * batch.columnCount);
  forEachRow(batch, (row, cell) => grid_BC[cell] = rows_N[row] ?? 0);
  return grid_BC;
}

/** Calls `visit` with every row that lies on the grid and its cell there. */
export function forEachRow(batch: PackedBatch, visit: (row: number, cell: number) => void): void {
  const { columnCount, length_B, firstRow_B, gridRow_B } = batch;
  length_B.forEach((length, b) => {
    const first = at(firstRow_B, b);
    const firstCell = at(gridRow_B, b) * columnCount;
    const end = Math.min(length, columnCount);
    for (let t = 0; t < end; t++) visit(first + t, firstCell + t);
  });
}
