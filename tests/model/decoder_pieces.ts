/**
 * A long sequence whole and in pieces of 1,024 rows, bit for bit, under random weights of the small shape of `bench score`.
 *
 * deno run -A tests/model/decoder_pieces.ts [TOKENS]
 */
import process from "node:process";
import { createRandomDecoder } from "../../src/bench/random_decoder.ts";
import { benchIds, SCORE_SHAPES } from "../../src/bench/score.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { destroyDecoderWeights } from "../../src/model/decoder_weights.ts";
import { scoreSequences, type SequenceScores } from "../../src/model/score_sequences.ts";

const tokens = Number(Deno.args[0] ?? 32_768);
const config = SCORE_SHAPES.small;
const commands = new Commands(await openGpu());
const weights = await createRandomDecoder(commands, { config, storage: "bf16" });
const ids_B = [benchIds(tokens, config.vocabSize)];
const print = (line: string) => Deno.stdout.write(new TextEncoder().encode(`${line}\n`));

async function scored(name: string, maxRows: number): Promise<SequenceScores | undefined> {
  const before = process.cpuUsage();
  const result = await scoreSequences(commands, weights, { ids_B, temperature: 1, maxRows });
  const { user, system } = process.cpuUsage(before);
  const megabytes = (result.workspaceBytes / 1e6).toFixed(0);
  const seconds = ((user + system) / 1e6).toFixed(1);
  await print(
    `${name}: ${tokens} tokens, ${seconds} s of processors, ${megabytes} MB of activations`,
  );
  return result.scores_B[0];
}

const whole = await scored("whole", tokens);
const pieces = await scored("in pieces", 1024);
destroyDecoderWeights(weights);
const bits = (values: Float32Array<ArrayBuffer> | undefined) =>
  new Uint32Array(values?.buffer ?? new ArrayBuffer(0));
const differing = (["logp", "entropy", "logSumExp"] as const).map((name) => {
  const others = bits(pieces?.[name]);
  return bits(whole?.[name]).filter((word, t) => word !== others[t]).length;
});
await print(`log-probs, entropies and log-sums of differing bits: ${differing.join(", ")}`);
