/** Reads the golden files (PyTorch, float64, stored as float32) and packs their batch of 32 episodes. */
import { parseSafetensors } from "../../src/model/safetensors.ts";

const FOLDER = new URL("../golden/", import.meta.url);

/** A tensor of a golden file, widened to float64. */
export type GoldenTensors = Readonly<Record<string, Float64Array>>;

/** All tensors of tests/golden/NAME.safetensors. */
export function readGolden(name: string): GoldenTensors {
  const fileName = `${name}.safetensors`;
  const { tensors } = parseSafetensors(Deno.readFileSync(new URL(fileName, FOLDER)), fileName);
  return Object.fromEntries(
    [...tensors].map(([key, { data }]) => [key, Float64Array.from(data)]),
  );
}

/** The losses, gradient norms and statistics of golden.json, in full float64. */
export interface GoldenScalars {
  readonly stats: Readonly<Record<string, number>>;
  readonly adam3: readonly { readonly loss: number; readonly grad_norm: number }[];
  readonly [loss: string]: unknown;
}

/** The scalars of tests/golden/golden.json. */
export function readGoldenScalars(): GoldenScalars {
  return JSON.parse(Deno.readTextFileSync(new URL("golden.json", FOLDER))).scalars;
}

/** The golden batch, packed: row n is token t of episode b, and cell_N says where its [B, T−1] entries are. */
export interface GoldenBatch {
  readonly episodeCount: number;
  /** T, the columns of `ids`; the [B, T−1] arrays have one fewer. */
  readonly columnCount: number;
  readonly tokens: {
    readonly ids_N: readonly number[];
    readonly startOfEpisode_N: readonly number[];
    readonly position_N: readonly number[];
  };
  /** The next token of the episode; `<pad>` (0) after its last. */
  readonly target_N: readonly number[];
  readonly episode_N: readonly number[];
  /** b · (T−1) + t, or −1 at the last token of an episode, which predicts nothing. */
  readonly cell_N: readonly number[];
}

/** Packs the rows (b, t) with t below the count of owners above 0. */
export function packGolden(batch: GoldenTensors): GoldenBatch {
  const episodeCount = batch.rewards.length;
  const columnCount = batch.ids.length / episodeCount;
  const ids_N: number[] = [], startOfEpisode_N: number[] = [], position_N: number[] = [];
  const target_N: number[] = [], episode_N: number[] = [], cell_N: number[] = [];
  for (let b = 0; b < episodeCount; b++) {
    const row = b * columnCount;
    const length = batch.owner.subarray(row, row + columnCount).filter((owner) => owner > 0).length;
    const start = ids_N.length;
    for (let t = 0; t < length; t++) {
      const last = t + 1 === length;
      ids_N.push(batch.ids[row + t]);
      startOfEpisode_N.push(start);
      position_N.push(t);
      target_N.push(last ? 0 : batch.ids[row + t + 1]);
      episode_N.push(b);
      cell_N.push(last ? -1 : b * (columnCount - 1) + t);
    }
  }
  const tokens = { ids_N, startOfEpisode_N, position_N };
  return { episodeCount, columnCount, tokens, target_N, episode_N, cell_N };
}
