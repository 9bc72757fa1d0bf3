/** The family `cuts`: one batch cut into micro-batches and ranks in several ways, and the gradient of the whole step. */
import { aggregationWeights } from "../../equations/aggregate.ts";
import {
  type Compute,
  type Dialect,
  type Family,
  input,
  lattice,
  type Mistake,
  setting,
  type VectorCase,
} from "../family.ts";
import { type Arrays, matrix, row, rowsOf, type Values } from "../values.ts";
import { maskOf } from "./aggregation_cases.ts";

/** A piece of the batch: the rows that one backward pass sees. */
interface Piece {
  readonly rank: number;
  readonly rows: readonly number[];
}

interface Step {
  readonly mask: readonly (readonly number[])[];
  readonly rows: readonly number[];
  readonly pieces: readonly Piece[];
  readonly rankCount: number;
  readonly maxLength: number;
}

function stepOf(vectorCase: VectorCase): Step {
  const mask = rowsOf(input(vectorCase, "mask"));
  const micro = input(vectorCase, "microBatch").values;
  const rank = input(vectorCase, "rank").values;
  const pieces = new Map<string, { readonly rank: number; readonly rows: number[] }>();
  for (const b of mask.keys()) {
    const own = rank[b] ?? 0;
    const key = `${own} ${micro[b]}`;
    const piece = pieces.get(key) ?? { rank: own, rows: [] };
    piece.rows.push(b);
    pieces.set(key, piece);
  }
  return {
    mask,
    rows: [...mask.keys()],
    pieces: [...pieces.values()],
    rankCount: new Set(rank).size,
    maxLength: setting(vectorCase, "maxLength"),
  };
}

const tokensOf = ({ mask }: Step, rows: readonly number[]) =>
  rows.reduce((sum, b) => sum + (mask[b] ?? []).reduce((all, value) => all + value, 0), 0);

/** The weight of each token of a row: its mask times what the row says. */
function gradient(step: Step, weightOf: (b: number, piece: Piece) => number): Arrays {
  const pieceOf = new Map(step.pieces.flatMap((piece) => piece.rows.map((b) => [b, piece])));
  return {
    dterm: matrix(step.mask.map((row, b) => {
      const piece = pieceOf.get(b) ?? { rank: 0, rows: [] };
      const weight = weightOf(b, piece);
      return row.map((value) => value === 0 ? 0 : value * weight);
    })),
  };
}

const micros = ({ pieces }: Step, rank: number) =>
  pieces.filter((piece) => piece.rank === rank).length;

const inverse = (count: number) => count === 0 ? 0 : 1 / count;

const whole =
  (mode: "token_mean" | "seq_mean_token_mean" | "constant"): Compute => (vectorCase) => {
    const { shape, values } = input(vectorCase, "mask");
    const [B = 0, T = 0] = shape;
    const normConst = B * setting(vectorCase, "maxLength");
    const weight_BT = aggregationWeights(values, {
      mode,
      episodeCount: B,
      columnCount: T,
      normConst,
    });
    return { dterm: { shape, values: Array.from(weight_BT) } };
  };

const cut =
  (weightOf: (step: Step, b: number, piece: Piece) => number): Compute => (vectorCase) => {
    const step = stepOf(vectorCase);
    return gradient(step, (b, piece) => weightOf(step, b, piece));
  };

const DIALECTS: readonly Dialect[] = [
  {
    name: "global_token_mean",
    sentence: "every token of the step counts the same, however it is cut",
    usedBy: [
      "verl token-mean with batch_num_tokens (2026)",
      "TRL dapo",
      "NeMo-RL with global_valid_toks",
      "prime-rl",
      "agentrl token_mean",
    ],
    compute: whole("token_mean"),
  },
  {
    name: "global_seq_mean_token_mean",
    sentence: "every row of the step counts the same, however it is cut",
    usedBy: ["TRL grpo", "verl seq-mean-token-mean with global_batch_size", "slime", "agentrl"],
    compute: whole("seq_mean_token_mean"),
  },
  {
    name: "global_constant",
    sentence: "the sum over tokens divided by rows of the step times the longest length allowed",
    usedBy: ["TRL dr_grpo", "agentrl constant"],
    compute: whole("constant"),
  },
  {
    name: "mean_of_micro_token_means",
    sentence: "each micro-batch's mean over its tokens, then the mean over micro-batches and " +
      "ranks: a token counts more among few",
    usedBy: [
      "TRL bnpo",
      "OpenRLHF token_level_loss",
      "verl token-mean before 2026 with equal micro-batches",
    ],
    compute: cut((step, _b, piece) =>
      inverse(tokensOf(step, piece.rows)) / micros(step, piece.rank) / step.rankCount
    ),
  },
  {
    name: "mean_of_rank_token_means",
    sentence: "each rank's mean over its tokens, then the mean over ranks",
    usedBy: ["token counts that are summed over micro-batches but not over ranks"],
    compute: cut((step, _b, piece) => {
      const rows = step.pieces.filter(({ rank }) => rank === piece.rank).flatMap(({ rows }) =>
        rows
      );
      return inverse(tokensOf(step, rows)) / step.rankCount;
    }),
  },
  {
    name: "micro_token_means_by_rows",
    sentence: "each micro-batch's mean over its tokens, weighted by its share of the rows",
    usedBy: ["verl token-mean with use_dynamic_bsz before 2026"],
    compute: cut((step, _b, piece) =>
      inverse(tokensOf(step, piece.rows)) * piece.rows.length / step.rows.length
    ),
  },
];

const scaled = (
  name: string,
  sentence: string,
  factor: (step: Step, piece: Piece) => number,
): Mistake => ({
  name,
  sentence,
  compute: (vectorCase, right) => {
    const step = stepOf(vectorCase);
    const { dterm } = right(vectorCase);
    if (dterm === undefined) return undefined;
    const pieceOf = new Map(step.pieces.flatMap((piece) => piece.rows.map((b) => [b, piece])));
    const rows = rowsOf(dterm).map((row, b) => {
      const piece = pieceOf.get(b);
      return piece === undefined ? row : row.map((value) => value * factor(step, piece));
    });
    return { dterm: matrix(rows) };
  },
});

const only = (
  name: string,
  sentence: string,
  of: string,
  weightOf: (step: Step, b: number, piece: Piece) => number,
): Mistake => ({
  name,
  sentence,
  compute: (vectorCase, _right, dialect) => dialect === of ? cut(weightOf)(vectorCase) : undefined,
});

const rankPieces = ({ pieces }: Step, rank: number) => pieces.filter((one) => one.rank === rank);

const MISTAKES: readonly Mistake[] = [
  scaled(
    "divided_by_micro_batches",
    "divides by the number of micro-batches once more: accumulation scales the gradient down",
    (step, piece) => 1 / micros(step, piece.rank),
  ),
  scaled(
    "times_micro_batches",
    "sums over micro-batches where their mean was meant: accumulation scales the gradient up",
    (step, piece) => micros(step, piece.rank),
  ),
  scaled(
    "divided_by_ranks",
    "divides by the number of ranks once more",
    (step) => 1 / step.rankCount,
  ),
  scaled(
    "times_ranks",
    "sums over ranks where their mean was meant",
    (step) => step.rankCount,
  ),
  scaled(
    "last_micro_batch",
    "clears the gradient between micro-batches: the last one of each rank is left",
    (step, piece) => rankPieces(step, piece.rank).at(-1)?.rows === piece.rows ? 1 : 0,
  ),
  scaled(
    "first_micro_batch",
    "steps after the first micro-batch of each rank",
    (step, piece) => rankPieces(step, piece.rank)[0]?.rows === piece.rows ? 1 : 0,
  ),
  scaled(
    "first_rank",
    "does not reduce over ranks: those of the first are left",
    (step, piece) => piece.rank === step.pieces[0]?.rank ? 1 : 0,
  ),
  scaled(
    "times_rows_of_micro_batch",
    "multiplies each micro-batch by its rows",
    (_step, piece) => piece.rows.length,
  ),
  scaled(
    "divided_by_rows_of_micro_batch",
    "divides each micro-batch by its rows once more",
    (_step, piece) => 1 / piece.rows.length,
  ),
  scaled(
    "divided_by_tokens_of_micro_batch",
    "divides each micro-batch by its tokens once more",
    (step, piece) => inverse(tokensOf(step, piece.rows)),
  ),
  scaled("halved", "is half as large", () => 0.5),
  scaled("negated", "has the wrong sign", () => -1),
  only(
    "sum_of_micro_token_means",
    "adds up each micro-batch's own token mean",
    "global_token_mean",
    (step, _b, piece) => inverse(tokensOf(step, piece.rows)),
  ),
  only(
    "mean_of_micro_row_means",
    "takes each micro-batch's mean over rows, then the mean over micro-batches: a row counts more " +
      "among few",
    "global_seq_mean_token_mean",
    (step, b, piece) =>
      inverse(tokensOf(step, [b])) / piece.rows.length / micros(step, piece.rank) / step.rankCount,
  ),
  only(
    "constant_of_micro_batch",
    "divides each micro-batch by its own rows times the longest length, and adds up",
    "global_constant",
    (step, _b, piece) => 1 / (piece.rows.length * step.maxLength),
  ),
];

const MASK = maskOf("11111100", "11000000", "11110000", "10000000", "11101110", "01111110");
const EMPTY = maskOf("1111", "0000", "1100", "0110");

function cutCase(
  id: string,
  about: string,
  rest: {
    readonly mask: Values;
    readonly microBatch: readonly number[];
    readonly rank: readonly number[];
    readonly sameAs?: string;
  },
): VectorCase {
  const { mask, microBatch, rank, ...others } = rest;
  return {
    id,
    about,
    inputs: {
      term: {
        shape: mask.shape,
        values: lattice(mask.values.length, { seed: 161, low: -2, high: 2 }),
      },
      mask,
      microBatch: row(microBatch),
      rank: row(rank),
    },
    config: { maxLength: 16 },
    ...others,
  };
}

const ONE = [0, 0, 0, 0, 0, 0];

/** The family. */
export const CUTS: Family = {
  name: "cuts",
  sentence: "the gradient of a whole step whose batch is cut into micro-batches and ranks",
  inputs: {
    term: "term of every token [B, T]",
    mask: "1 where the loss trains on the token, else 0 [B, T]",
    microBatch: "which micro-batch of its rank a row is in [B]",
    rank: "which rank a row is on [B]",
  },
  config: { maxLength: "longest answer that the sampler allows, in tokens; not T" },
  outputs: {
    dterm: "gradient of the step for each term, as the optimizer gets it [B, T]",
  },
  tolerance: { relative: 1e-5, absolute: 1e-7, reason: "a few float32 divisions" },
  cases: [
    cutCase("whole", "one micro-batch on one rank", { mask: MASK, microBatch: ONE, rank: ONE }),
    cutCase("two_micro_batches", "two of three rows", {
      mask: MASK,
      microBatch: [0, 0, 0, 1, 1, 1],
      rank: ONE,
      sameAs: "whole",
    }),
    cutCase("single_rows", "six of one row", {
      mask: MASK,
      microBatch: [0, 1, 2, 3, 4, 5],
      rank: ONE,
      sameAs: "whole",
    }),
    cutCase("uneven_micro_batches", "one, two and three rows", {
      mask: MASK,
      microBatch: [0, 1, 1, 2, 2, 2],
      rank: ONE,
      sameAs: "whole",
    }),
    cutCase("two_ranks", "two ranks of three rows", {
      mask: MASK,
      microBatch: ONE,
      rank: [0, 0, 0, 1, 1, 1],
      sameAs: "whole",
    }),
    cutCase("uneven_ranks", "two ranks, of two and four rows", {
      mask: MASK,
      microBatch: ONE,
      rank: [0, 0, 1, 1, 1, 1],
      sameAs: "whole",
    }),
    cutCase("ranks_and_micro_batches", "two ranks of two and of one micro-batches", {
      mask: MASK,
      microBatch: [0, 1, 1, 0, 0, 0],
      rank: [0, 0, 0, 1, 1, 1],
      sameAs: "whole",
    }),
    cutCase("three_by_two", "three ranks of two micro-batches of one row", {
      mask: MASK,
      microBatch: [0, 1, 0, 1, 0, 1],
      rank: [0, 0, 1, 1, 2, 2],
      sameAs: "whole",
    }),
    cutCase("empty_row", "a row without a trained token, in a micro-batch with another", {
      mask: EMPTY,
      microBatch: [0, 0, 1, 1],
      rank: [0, 0, 0, 0],
    }),
  ],
  dialects: DIALECTS,
  mistakes: MISTAKES,
};
