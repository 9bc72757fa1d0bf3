/** `agentrl score --model`: a batch under a Hugging Face folder, in place of a checkpoint of the small agent. */
import { UserError } from "../src/core/errors.ts";
import { requireOutput } from "../src/files/output.ts";
import { loadDecoder, openDecoderFiles } from "../src/files/load_decoder.ts";
import { availableBytes } from "../src/files/memory.ts";
import { formatBytes } from "../src/files/read_file.ts";
import { destroyDecoderWeights } from "../src/model/decoder_weights.ts";
import type { Tensor } from "../src/model/safetensors.ts";
import { scoreSequences } from "../src/model/score_sequences.ts";
import { type BatchFile, readBatchFile } from "../src/run/batch_file.ts";
import { packScores, scoreTensors } from "../src/run/score_file.ts";
import type { Gpu } from "../src/gpu/device.ts";
import type { ReadFile } from "./verified.ts";
import { openCommands } from "./gpu.ts";
import type { GpuFlags } from "./gpu_layout.ts";

/** A batch that was scored, by whatever model. */
export interface ScoredBatch {
  readonly batch: BatchFile;
  /** `logp` and `entropy`, and `logits` where they were asked for. */
  readonly tensors: Map<string, Tensor>;
  readonly adapter: Gpu;
  /** Files that may carry a SHA-256. */
  readonly files: readonly ReadFile[];
  /** What of the model goes into the document and the table. */
  readonly fields: Readonly<Record<string, string | number>>;
  readonly rows: readonly (readonly [string, string])[];
}

/** What `--model` and the flags beside it say. */
export interface ModelFlags extends GpuFlags {
  readonly model: string;
  readonly adapter: string | undefined;
  readonly weights: "f32" | "bf16" | undefined;
  readonly batch: string;
  readonly out: string;
  readonly temperature: number;
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
export async function scoreModel(flags: ModelFlags): Promise<ScoredBatch> {
  const { model, adapter, batch: batchPath, out, temperature } = flags;
  requireOutput(out, { inputs: [model, batchPath, ...(adapter === undefined ? [] : [adapter])] });
  const files = openDecoderFiles(model, { adapter });
  const batch = readBatchFile(batchPath, files.config);
  const commands = await openCommands(flags);
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
  const tensors: Map<string, Tensor> = scoreTensors(batch, packScores(scores_B));
  const storages = new Set(weights.matrices.map(({ storage }) => storage));
  const { sizeBytes, config } = weights;
  return {
    batch,
    tensors,
    adapter: gpu,
    files: [batch],
    fields: {
      architecture: config.architecture,
      weightBytes: sizeBytes,
      workspaceBytes,
      scoringSeconds: Number(seconds.toPrecision(3)),
    },
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

/** Exactly one of a checkpoint and a model. @throws {UserError} When none or both are given, or a flag that only one takes. */
export function requireOneModel(
  flags: {
    readonly checkpoint: string | undefined;
    readonly model: string | undefined;
    readonly adapter: string | undefined;
    readonly weights: string | undefined;
    readonly logits: boolean;
  },
): void {
  const { checkpoint, model, adapter, weights, logits } = flags;
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
  if (model !== undefined && logits) {
    throw new UserError("--logits is for --checkpoint: of a model of --model no logits are stored");
  }
}
