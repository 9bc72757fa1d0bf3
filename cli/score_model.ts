/** `agentrl score --model`: a batch or texts under a Hugging Face folder, in place of a checkpoint of the small agent. */
import { UserError } from "../src/core/errors.ts";
import { requireOutput } from "../src/files/output.ts";
import { openChatTemplate } from "../src/files/chat_template.ts";
import { loadDecoder, openDecoderFiles } from "../src/files/load_decoder.ts";
import { availableBytes } from "../src/files/memory.ts";
import { formatBytes } from "../src/files/read_file.ts";
import { openTokenizer, type Tokenizer } from "../src/files/tokenizer.ts";
import { destroyDecoderWeights } from "../src/model/decoder_weights.ts";
import type { Tensor } from "../src/model/safetensors.ts";
import { scoreSequences } from "../src/model/score_sequences.ts";
import { type BatchFile, readBatchFile } from "../src/run/batch_file.ts";
import { packScores, scoreTensors } from "../src/run/score_file.ts";
import { readTextBatch, type TextBatch } from "../src/run/text_batch.ts";
import type { Gpu } from "../src/gpu/device.ts";
import type { ReadFile } from "./verified.ts";
import type { Machine } from "./command.ts";
import type { GpuFlags } from "./gpu_layout.ts";
import { leastLikely, leastLikelyTable } from "./text_scores.ts";

/** A batch that was scored, by whatever model. */
export interface ScoredBatch {
  readonly batch: BatchFile;
  /** `logp` and `entropy`, and `logits` where they were asked for. */
  readonly tensors: Map<string, Tensor>;
  readonly adapter: Gpu;
  /** Files that may carry a SHA-256. */
  readonly files: readonly ReadFile[];
  /** What of the model goes into the document and the table. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly rows: readonly (readonly [string, string])[];
  /** Lines below the table. */
  readonly lines?: readonly string[];
}

/** What `--model` and the flags beside it say. */
export interface ModelFlags extends GpuFlags {
  readonly model: string;
  readonly adapter: string | undefined;
  readonly weights: "f32" | "bf16" | undefined;
  readonly batch: string | undefined;
  readonly text: string | undefined;
  readonly out: string;
  readonly temperature: number;
}

/** What is to be scored: a batch, with the tokenizer where it was made of texts. */
type Input =
  | { readonly batch: BatchFile; readonly tokenizer?: undefined }
  | { readonly batch: TextBatch; readonly tokenizer: Tokenizer };

async function readInput(
  { model, batch, text }: ModelFlags,
  vocabSize: number,
): Promise<Input> {
  if (text === undefined) return { batch: readBatchFile(batch ?? "", { vocabSize }) };
  const tokenizer = await openTokenizer(model);
  const renderChat = await openChatTemplate(model);
  return { batch: readTextBatch(text, { tokenizer, renderChat, vocabSize }), tokenizer };
}

/** Ids and owners go into the file with the scores of texts, so that it is a batch to score again. */
function batchTensors({ episodeCount, columnCount, ids_BT, owner_BT }: BatchFile) {
  const shape = [episodeCount, columnCount];
  return [["ids", { dtype: "I32", shape, data: ids_BT }], [
    "owner",
    { dtype: "I32", shape, data: owner_BT },
  ]] as const;
}

/** A rounding that changes numbers must not pass unsaid. */
function describeWeights(
  stored: ReadonlySet<string>,
  { isRounded, sizeBytes }: { readonly isRounded: boolean; readonly sizeBytes: number },
): string {
  const rounded = isRounded ? ", rounded from more" : "";
  return `${[...stored].sort().join(" and ")}${rounded}, ${formatBytes(sizeBytes)}`;
}

/**
 * Scores a batch under a model.
 *
 * @throws {UserError} When folder, adapter or batch cannot be used, or the model does not fit.
 */
export async function scoreModel(flags: ModelFlags, machine: Machine): Promise<ScoredBatch> {
  const { model, adapter, out, temperature } = flags;
  const inputs = [model, flags.batch, flags.text, adapter].filter((path) => path !== undefined);
  requireOutput(out, { inputs });
  const files = openDecoderFiles(model, { adapter });
  const input = await readInput(flags, files.config.vocabSize);
  const { batch } = input;
  const commands = await machine.openCommands(flags);
  const { gpu } = commands;
  const { weights, isRounded } = await loadDecoder(commands, files, {
    storage: flags.weights,
    availableBytes: gpu.adapter.isSoftware ? availableBytes() : undefined,
  });
  const startMs = performance.now();
  const { scores_B, workspaceBytes } = await scoreSequences(commands, weights, {
    ids_B: batch.ids_B,
    temperature,
  });
  const seconds = (performance.now() - startMs) / 1000;
  destroyDecoderWeights(weights);
  const scores = scoreTensors(batch, packScores(scores_B));
  const isText = input.tokenizer !== undefined;
  const unlikely = isText ? leastLikely(input.batch, { scores_B, tokenizer: input.tokenizer }) : [];
  const storages = new Set(weights.matrices.map(({ storage }) => storage));
  const { sizeBytes, config } = weights;
  return {
    batch,
    tensors: isText ? new Map<string, Tensor>([...batchTensors(batch), ...scores]) : scores,
    adapter: gpu,
    files: isText ? [] : [batch],
    fields: {
      architecture: config.architecture,
      weightBytes: sizeBytes,
      workspaceBytes,
      scoringSeconds: Number(seconds.toPrecision(3)),
      ...(isText && { leastLikely: unlikely }),
    },
    lines: isText ? leastLikelyTable(unlikely) : [],
    rows: [
      ["model", `${config.architecture}${adapter === undefined ? "" : ", adapter merged"}`],
      ["weights", describeWeights(storages, { isRounded, sizeBytes })],
      [
        "time",
        `${seconds.toPrecision(3)} s, beside ${formatBytes(workspaceBytes)} for activations`,
      ],
    ],
  };
}

/** Exactly one model, and one thing to score. @throws {UserError} When none or both are given, or a flag that only one takes. */
export function requireOneModel(
  flags: {
    readonly checkpoint: string | undefined;
    readonly model: string | undefined;
    readonly adapter: string | undefined;
    readonly weights: string | undefined;
    readonly batch: string | undefined;
    readonly text: string | undefined;
    readonly logits: boolean;
  },
): void {
  const { checkpoint, model, adapter, weights, batch, text, logits } = flags;
  if ((batch === undefined) === (text === undefined)) {
    throw new UserError(
      batch === undefined
        ? "--batch or --text is required: episodes as ids, or a file of texts for --model"
        : "--batch and --text exclude each other: give one of them",
    );
  }
  if (checkpoint === undefined && model === undefined) {
    throw new UserError(
      "--checkpoint or --model is required: weights of the small agent, or a Hugging Face folder",
    );
  }
  if (checkpoint !== undefined && model !== undefined) {
    throw new UserError("--checkpoint and --model exclude each other: give one of them");
  }
  if (model === undefined && (adapter ?? weights) !== undefined) {
    throw new UserError("--adapter and --weights are for --model; leave them out, or give it");
  }
  if (model === undefined && text !== undefined) {
    throw new UserError("--text is for --model, whose folder has the tokenizer; give --batch here");
  }
  if (model !== undefined && logits) {
    throw new UserError("--logits is for --checkpoint: of a model of --model no logits are stored");
  }
}
