/**
 * A dump of a random decoder with a sampler at another temperature, for whoever wants to see the command at work.
 *
 * deno run -A tests/diagnose/referee/decoder_dump.ts FOLDER: writes FOLDER/model, FOLDER/other and FOLDER/tokens_*.jsonl.
 */
import { Commands } from "../../../src/gpu/commands.ts";
import { loadDecoder, openDecoderFiles } from "../../../src/files/load_decoder.ts";
import { destroyDecoderWeights } from "../../../src/model/decoder_weights.ts";
import { scoreSequences } from "../../../src/model/score_sequences.ts";
import { commonDumpLine } from "../../../src/tokens/common_dump_line.ts";
import type { LogProbSide } from "../../../src/tokens/token_batch.ts";
import {
  type FileTensor,
  type RandomConfig,
  randomValues,
  VARIANTS,
  weightsOf,
  writeDecoder,
  writeWeights,
} from "../../model/random_decoder.ts";
import { makeNoise } from "./noise.ts";

/** Log-probs by token of each sequence; the first has none. */
export type Columns = readonly (readonly number[])[];

/** Writes the model after updates of a size relative to its weights' spread. */
export function writePerturbed(folder: string, config: RandomConfig, size: number): void {
  writeDecoder(folder, config);
  const noise = makeNoise(1);
  const tensors = Array.from(weightsOf(config), ([name, weight]): [string, FileTensor] => [name, {
    shape: weight.shape,
    dtype: "F32",
    values: () => randomValues(name, weight).map((value) => value + size * weight.scale * noise()),
  }]);
  writeWeights(`${folder}/model.safetensors`, new Map(tensors));
}

/** Ids by seed: prompt and answer alike are uniform. */
export function uniformIds(count: number, length: number, seed = 0): number[][] {
  const { uniform } = makeNoise(seed);
  return Array.from(
    { length: count },
    () => Array.from({ length }, () => Math.floor(uniform() * VARIANTS.qwen3.vocab_size)),
  );
}

/** What a folder's model says of ids. */
export async function columnsOf(
  commands: Commands,
  folder: string,
  { ids_B, temperature = 1 }: { ids_B: readonly number[][]; temperature?: number },
): Promise<Columns> {
  const { weights } = await loadDecoder(commands, openDecoderFiles(folder));
  const { scores_B } = await scoreSequences(commands, weights, { ids_B, temperature });
  destroyDecoderWeights(weights);
  return scores_B.map(({ logp }) => [NaN, ...logp]);
}

/** Writes a dump. */
export function writeDump(
  path: string,
  { ids_B, prompt = 0, prompts, lefts, sides, step, temperature }: {
    readonly ids_B: readonly number[][];
    /** Tokens of every prompt, or of each. */
    readonly prompt?: number;
    readonly prompts?: readonly number[];
    /** Padding that stood on the left of each. */
    readonly lefts?: readonly number[];
    readonly sides: Partial<Record<LogProbSide, Columns>>;
    readonly step?: number;
    readonly temperature?: number;
  },
): void {
  const lines = ids_B.map((ids, b) =>
    commonDumpLine({
      file: path,
      row: b + 1,
      offset: 0,
      ...(step !== undefined && { step }),
      ...(temperature !== undefined && { temperature }),
      ...(lefts && { padding: { left: lefts[b]!, right: 0 } }),
      ids: Uint32Array.from(ids),
      mask: Uint8Array.from(ids, (_, i) => Number(i >= (prompts?.[b] ?? prompt))),
      logProbs: Object.fromEntries(
        Object.entries(sides).map(([side, columns]) => [side, {
          values: Float64Array.from(columns[b]!),
          nonFinite: [],
        }]),
      ),
    })
  );
  Deno.writeTextFileSync(path, `${lines.join("\n")}\n`);
}

if (import.meta.main) {
  const { testGpu } = await import("../../gpu/gpu_test_device.ts");
  const [folder = "runs/referee"] = Deno.args;
  const config = VARIANTS.qwen3;
  writeDecoder(`${folder}/model`, config);
  writePerturbed(`${folder}/other`, config, 0.05);
  const commands = new Commands(await testGpu());
  const ids_B = uniformIds(8, 40);
  const own = await columnsOf(commands, `${folder}/model`, { ids_B });
  const hot = await columnsOf(commands, `${folder}/model`, { ids_B, temperature: 0.6 });
  const stale = await columnsOf(commands, `${folder}/other`, { ids_B });
  const write = (name: string, sides: Partial<Record<LogProbSide, Columns>>) =>
    writeDump(`${folder}/tokens_${name}.jsonl`, { ids_B, prompt: 8, sides });
  write("temperature", { sampler: hot, old: own, reference: stale });
  write("stale", { sampler: stale, old: own, reference: own });
  write("healthy", { sampler: own, old: own });
  Deno.exit(0);
}
