/** `agentrl score`: log-probs, entropies and logits of a batch file under a checkpoint. */
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
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, formatNumber, openCommands } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { unverifiedRows } from "../verified.ts";

/** The mean over the tokens that the batch trains on; null where it trains on none. */
function maskedMean({ actionMask_BC }: BatchFile, tensor: Tensor | undefined): number | null {
  const values = Array.from(tensor?.data ?? []).filter((_, cell) => actionMask_BC[cell] > 0);
  return values.length === 0 ? null : mean(values);
}

function inNats(value: number | null): string {
  return value === null
    ? "none: the batch trains on no token"
    : `${formatNumber(value)} nats over the trained tokens`;
}

/** The command `score`. */
export const command = defineCommand({
  flags: {
    checkpoint: {
      kind: "string",
      required: true,
      help: "weights: a safetensors file, or a run's folder, whose latest checkpoint is used",
    },
    batch: {
      kind: "string",
      required: true,
      help: "episodes, a safetensors file with ids and owner",
    },
    out: { kind: "string", required: true, help: "file to write logp and entropy [B, T-1] to" },
    temperature: { kind: "number", default: 1, min: 1e-3, max: 1e3, help: "divides the logits" },
    logits: { kind: "boolean", help: "write logits [B, T, V] too, as they are at temperature 1" },
    ...GPU_FLAGS,
  },
  async run({ checkpoint: named, batch: batchPath, out, temperature, logits, requireGpu }) {
    const { path: checkpoint } = findCheckpoint(named);
    requireOutput(out, { inputs: [checkpoint, batchPath] });
    const { config, weights_W, isVerified } = readCheckpoint(checkpoint);
    const batch = readBatchFile(batchPath, config);
    const commands = await openCommands({ requireGpu });
    const scores = await scoreEpisodes(commands, createParameters(commands, config, weights_W), {
      ids_B: batch.ids_B,
      temperature,
      withLogits: logits,
    });
    const tensors = scoreTensors(batch, scores);
    writeTensorFile(out, { tensors, metadata: { temperature: String(temperature) } });

    const document = {
      episodes: batch.episodeCount,
      tokens: batch.ids_B.reduce((sum, ids) => sum + ids.length - 1, 0),
      temperature,
      meanLogp: maskedMean(batch, tensors.get("logp")),
      meanEntropy: maskedMean(batch, tensors.get("entropy")),
      adapter: adapterName(commands.gpu),
    };
    const shapes = Array.from(tensors, ([name, { shape }]) => `${name} [${shape.join(", ")}]`);
    const text = formatTable([
      ["scored", `${document.tokens} tokens of ${document.episodes} episodes`],
      ["temperature", String(temperature)],
      ["mean log-prob", inNats(document.meanLogp)],
      ["mean entropy", inNats(document.meanEntropy)],
      ["adapter", document.adapter],
      ...unverifiedRows([{ path: checkpoint, isVerified }, batch]),
      ["wrote", `${shapes.join(", ")} to ${out}`],
    ]).join("\n");
    return { document, text };
  },
});
