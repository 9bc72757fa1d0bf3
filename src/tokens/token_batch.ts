/**
 * Tokens of a run as a dump holds them, whatever trainer wrote it: one sequence after the other, so that a dump of any size
 * can pass through. Conventions of the writers (fillers, shifts, padding, packing, lists of one) are resolved by the readers;
 * here value i of every array is about token i, and a sequence has neither padding nor neighbours.
 */

/** Who wrote a token. */
export const TOKEN_ROLES = ["system", "user", "assistant", "tool", "other"] as const;

/** Role of a token. */
export type TokenRole = typeof TOKEN_ROLES[number];

/** Whose log-probabilities a dump may hold, in the order in which a step makes them. */
export const LOG_PROB_SIDES = ["sampler", "old", "trainer", "reference"] as const;

/**
 * - `sampler`: the engine that drew the tokens, as it reported them;
 * - `old`: the trainer's recomputation before the first update on the batch, what the ratio divides by;
 * - `trainer`: the policy under training at the time of the dump;
 * - `reference`: the frozen model of the KL term.
 */
export type LogProbSide = typeof LOG_PROB_SIDES[number];

/** Why an episode or answer ended. `error`: the environment or the infrastructure failed, not the policy. */
export const STOP_REASONS = ["end", "length", "tool", "error", "other"] as const;

/** Reason of an end. */
export type StopReason = typeof STOP_REASONS[number];

/** A value for each token: NaN where the dump has none (null, a filler), and where it holds a NaN that `nonFinite` lists. */
export interface TokenValues {
  readonly values: Float64Array;
  /** Indices of tokens whose value the dump gives as NaN or ±Infinity; the value itself is kept. */
  readonly nonFinite: readonly number[];
}

/** How the losses of a batch's tokens become one number, where the dump states it. */
export interface StatedLoss {
  /** The trainer's own name of the aggregation, for example `token-mean`. */
  readonly aggregation?: string;
  /** What the sum over tokens was divided by. */
  readonly denominator?: number;
}

/** One training sample. What a dump does not tell is left out. Arrays have one value per token. */
export interface TokenSequence {
  /** Where it stands: the file as it was given, and its line or row, from 1. */
  readonly file: string;
  readonly row: number;
  /** Token of the row at which it begins, where a row packs several sequences; 0 otherwise. */
  readonly offset: number;

  /** Number of the packed row of its micro-batch that it stood in, where the dump tells it apart from its own rows. */
  readonly packingRow?: number;

  /** Name of the run, of a dump that holds several. */
  readonly run?: string;
  readonly step?: number;
  /** Process that wrote it, of a trainer that runs on several. */
  readonly rank?: number;
  /** Whether the trainer's log-probs are of before or after the update on this batch. */
  readonly phase?: "pre" | "post";
  /** Micro-batch within the step. */
  readonly microBatch?: number;
  /** Name of the environment or task set. */
  readonly environment?: string;
  /** Samples with the same name share a prompt and a baseline. */
  readonly group?: string;
  /** Name of the sample; a sample of several turns may be several sequences. */
  readonly sample?: string;

  /** Token ids, below 2³²; empty of a dump of texts. */
  readonly ids: Uint32Array;
  /** Position that the model was told for each token. */
  readonly positions?: Uint32Array;
  /** Padding that stood beside it in its row. */
  readonly padding?: { readonly left: number; readonly right: number };
  /** 1 where the loss trains the token. */
  readonly mask?: Uint8Array;
  /** 1 where the policy drew the token, as the dump says and not as the mask implies. */
  readonly sampled?: Uint8Array;
  /** Index into {@linkcode TOKEN_ROLES} of each token. */
  readonly roles?: Uint8Array;
  /** log p of each token given those before it, in nats. */
  readonly logProbs: { readonly [side in LogProbSide]?: TokenValues };
  /** Entropy of the trainer's distribution at each token, in nats. */
  readonly entropy?: TokenValues;
  readonly advantages?: TokenValues;
  /** The advantage of the whole sample, where the dump gives one number; `advantages` then repeats it for each token. */
  readonly advantage?: number;
  /** Version of the weights that drew each token. */
  readonly weightVersions?: Int32Array;

  /** What the whole sample was paid. */
  readonly reward?: number;
  /** The parts of the reward by name. */
  readonly rewardParts?: ReadonlyMap<string, number>;
  readonly stop?: StopReason;
  /** The stop reason in the words of the dump. */
  readonly stopText?: string;
  /** What the sampler was asked for. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly loss?: StatedLoss;

  /** Texts of a dump that holds no ids, or holds both. */
  readonly prompt?: string;
  readonly answer?: string;
  /** Tokens that the policy wrote, as the dump states their number. */
  readonly answerLength?: number;
}

/** Where a dump comes from, and what of it was understood. */
export interface TokenSource {
  /** The path as it was given; `-` for standard input. */
  readonly path: string;
  /** The name of the form, for example `token_exports`. */
  readonly form: string;
  /** The producer where the form tells it. */
  readonly producer: string | undefined;
  /** True where a run of ours was computed by an adapter that may round sampler and trainer differently. */
  readonly roundsApart?: boolean;
  readonly files: readonly string[];
  /** What was skipped or left out of a join, each kind with its count and one example. */
  readonly ignored: readonly {
    readonly what: string;
    readonly count: number;
    readonly example: string;
  }[];
}

/** A dump, read once from its beginning to its end. */
export interface TokenBatch {
  /** What is known before reading; `ignored` is whole once the sequences have been read. */
  readonly source: TokenSource;
  sequences(): AsyncIterable<TokenSequence>;
}

/** The number of tokens of a sequence. */
export function tokenCount(sequence: TokenSequence): number {
  return sequence.ids.length;
}
