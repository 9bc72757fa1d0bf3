/** `agentrl score`: log-probs, entropies and logits of a batch file under a checkpoint, or of a batch or texts under a Hugging Face folder. */
import { mean } from "../../src/core/statistics.ts";
import { createParameters } from "../../src/model/parameters.ts";
import type { Tensor } from "../../src/model/safetensors.ts";
import { scoreEpisodes } from "../../src/rollout/score.ts";
import { type BatchFile, readBatchFile } from "../../src/run/batch_file.ts";
import { findCheckpoint } from "../../src/run/agent_file.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { scoreTensors } from "../../src/run/score_file.ts";
import { requireOutput } from "../../src/files/output.ts";
import { writeTensorFile } from "../../src/files/tensor_file.ts";
import { defineCommand, type Machine } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, formatNumber, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS, type GpuFlags } from "../gpu_layout.ts";
import { requireOneModel, type ScoredBatch, scoreModel } from "../score_model.ts";
import { unverifiedRows } from "../verified.ts";

/** The mean over the tokens that the batch trains on; null where it trains on none. */
function maskedMean({ actionMask_BC }: BatchFile, tensor: Tensor | undefined): number | null {
  const values = Array.from(tensor?.data ?? []).filter((_, cell) => actionMask_BC[cell] > 0);
  return values.length === 0 ? null : mean(values);
}

function inNats(value: number | null, tokens: string): string {
  return value === null
    ? "none: the batch trains on no token"
    : `${formatNumber(value)} nats over ${tokens}`;
}

async function scoreCheckpoint(
  flags: GpuFlags & {
    readonly checkpoint: string;
    readonly batch: string;
    readonly out: string;
    readonly temperature: number;
    readonly logits: boolean;
  },
  machine: Machine,
): Promise<ScoredBatch> {
  const { path: checkpoint } = findCheckpoint(flags.checkpoint);
  requireOutput(flags.out, { inputs: [checkpoint, flags.batch] });
  const { config, weights_W, isVerified } = readCheckpoint(checkpoint);
  const batch = readBatchFile(flags.batch, config);
  const commands = await machine.openCommands(flags);
  const scores = await scoreEpisodes(commands, createParameters(commands, config, weights_W), {
    ids_B: batch.ids_B,
    temperature: flags.temperature,
    withLogits: flags.logits,
  });
  return {
    batch,
    tensors: scoreTensors(batch, scores),
    adapter: commands.gpu,
    files: [{ path: checkpoint, isVerified }, batch],
    fields: {},
    rows: [],
  };
}

/** The command `score`. */
export const command = defineCommand({
  flags: {
    checkpoint: {
      kind: "string",
      help: "weights: a safetensors file, or a run's folder, whose latest checkpoint is used",
    },
    model: {
      kind: "string",
      help: "a Hugging Face folder of a Llama, Qwen2 or Qwen3, in place of a checkpoint",
    },
    adapter: { kind: "string", help: "a PEFT folder of a LoRA, merged into the model" },
    weights: {
      kind: "string",
      choices: ["f32", "bf16"],
      help: "how matrices of the model are kept (default: as its files hold them)",
    },
    batch: {
      kind: "string",
      help: "episodes, a safetensors file with ids and owner",
    },
    text: {
      kind: "string",
      help: "texts or chats for --model, in place of a batch: JSONL of text or messages",
    },
    out: { kind: "string", required: true, help: "file to write logp and entropy [B, T-1] to" },
    temperature: { kind: "number", default: 1, min: 1e-3, max: 1e3, help: "divides the logits" },
    logits: { kind: "boolean", help: "write logits [B, T, V] too, as they are at temperature 1" },
    ...GPU_FLAGS,
  },
  async run(flags, _positionals, machine = THIS_MACHINE) {
    const { checkpoint, model, out, temperature } = flags;
    requireOneModel(flags);
    const { batch, tensors, adapter, files, fields, rows, lines = [] } = model === undefined
      ? await scoreCheckpoint(
        { ...flags, checkpoint: checkpoint ?? "", batch: flags.batch ?? "" },
        machine,
      )
      : await scoreModel({ ...flags, model }, machine);
    writeTensorFile(out, { tensors, metadata: { temperature: String(temperature) } });

    const document = {
      episodes: batch.episodeCount,
      tokens: batch.ids_B.reduce((sum, ids) => sum + ids.length - 1, 0),
      temperature,
      meanLogp: maskedMean(batch, tensors.get("logp")),
      meanEntropy: maskedMean(batch, tensors.get("entropy")),
      adapter: adapterName(adapter),
      ...fields,
    };
    const shapes = Array.from(tensors, ([name, { shape }]) => `${name} [${shape.join(", ")}]`);
    const tokens = flags.text === undefined ? "the trained tokens" : "these tokens";
    const text = formatTable([
      [
        "scored",
        `${document.tokens} tokens of ${document.episodes} ${
          flags.text === undefined ? "episodes" : "texts"
        }`,
      ],
      ["temperature", String(temperature)],
      ["mean log-prob", inNats(document.meanLogp, tokens)],
      ["mean entropy", inNats(document.meanEntropy, tokens)],
      ["adapter", document.adapter],
      ...rows,
      ...unverifiedRows(files),
      ["wrote", `${shapes.join(", ")} to ${out}`],
    ]).concat(lines).join("\n");
    return { document, text };
  },
});
