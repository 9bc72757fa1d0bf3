/** A model of a Hugging Face folder as the referee asks for it: a function that scores ids. */
import { UserError } from "../core/errors.ts";
import type { ScoreIds } from "../diagnose/referee/own_scores.ts";
import { readJson } from "../files/json.ts";
import { type DecoderFiles, loadDecoder } from "../files/load_decoder.ts";
import { availableBytes } from "../files/memory.ts";
import type { Commands } from "../gpu/commands.ts";
import { destroyDecoderWeights } from "../model/decoder_weights.ts";
import { scoreSequences } from "../model/score_sequences.ts";
import type { TokenSequence } from "../tokens/token_batch.ts";

/** A model on the device. */
export interface RefereeModel extends Disposable {
  readonly score: ScoreIds;
  readonly architecture: string;
  /** True where matrices were rounded to bf16 when they were loaded. */
  readonly isRounded: boolean;
}

/** Ids of padding, or before a text, that are tried. */
const MOST_IDS = 3;

/**
 * Ids that padding may consist of, by config.json: `pad_token_id`, `eos_token_id`, 0.
 *
 * @param files Of `openDecoderFiles`.
 */
export function padIdsOf(files: DecoderFiles): number[] {
  return idsOf(files, ({ pad_token_id, eos_token_id }) => [pad_token_id, eos_token_id, 0]);
}

/** Ids that may begin a text, by config.json: `bos_token_id`, `eos_token_id`, `pad_token_id`. */
export function beginIdsOf(files: DecoderFiles): number[] {
  return idsOf(
    files,
    ({ bos_token_id, eos_token_id, pad_token_id }) => [bos_token_id, eos_token_id, pad_token_id],
  );
}

function idsOf(
  { path, config }: DecoderFiles,
  told: (raw: Readonly<Record<string, unknown>>) => unknown[],
): number[] {
  const raw = readJson(`${path}/config.json`) as Readonly<Record<string, unknown>>;
  const ids = told(raw).flat().filter((id): id is number =>
    typeof id === "number" && Number.isInteger(id) && id >= 0 && id < config.vocabSize
  );
  return [...new Set(ids)].slice(0, MOST_IDS);
}

/** @throws {UserError} When an id is none of the model's. */
export function requireIdsOf(
  { path, config: { vocabSize } }: DecoderFiles,
  sequences: readonly TokenSequence[],
): void {
  for (const { ids, file, row } of sequences) {
    const bad = Array.from(ids).find((id) => id >= vocabSize);
    if (bad === undefined) continue;
    throw new UserError(
      `Cannot score ${file}:${row} under ${path}: it has the token id ${bad}, but the model's ids end at ${
        vocabSize - 1
      }; name the folder of the model that made the dump`,
    );
  }
}

/**
 * Loads a model.
 *
 * @param files Of `openDecoderFiles`.
 * @param options.onWork Told before sequences are scored how many rows that takes; what it returns is told of each piece.
 * @throws {UserError} When it does not fit.
 */
export async function loadRefereeModel(
  commands: Commands,
  files: DecoderFiles,
  options: {
    readonly storage?: "f32" | "bf16" | undefined;
    readonly onWork?: (rowCount: number) => ((rowCount: number) => void) & Partial<Disposable>;
  } = {},
): Promise<RefereeModel> {
  const { storage, onWork } = options;
  const { adapter } = commands.gpu;
  const { weights, isRounded } = await loadDecoder(commands, files, {
    storage,
    availableBytes: adapter.isSoftware ? availableBytes() : undefined,
  });
  return {
    architecture: files.config.architecture,
    isRounded,
    async score(ids_B, temperature) {
      const total = ids_B.reduce((sum, { length }) => sum + Math.max(0, length - 1), 0);
      const onRows = onWork?.(total);
      try {
        const { scores_B } = await scoreSequences(commands, weights, {
          ids_B,
          temperature,
          ...(onRows && { onRows }),
        });
        return scores_B;
      } finally {
        onRows?.[Symbol.dispose]?.();
      }
    },
    [Symbol.dispose]() {
      destroyDecoderWeights(weights);
    },
  };
}
