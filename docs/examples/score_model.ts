/**
 * Log-probs of token ids under a Hugging Face folder: `deno run -A docs/examples/score_model.ts FOLDER`, in a project whose
 * import map knows `agentrl`.
 */
import {
  Commands,
  destroyDecoderWeights,
  loadDecoder,
  openDecoderFiles,
  openGpu,
  scoreSequences,
} from "agentrl";

/** Scores sequences of ids. @returns Nats a token of each, and the entropy after its first. */
export async function scoreModel(folder: string, ids_B: readonly number[][]): Promise<string[]> {
  const files = openDecoderFiles(folder); // Headers only: a folder that is not read is refused here.
  const commands = new Commands(await openGpu());
  const { weights } = await loadDecoder(commands, files);
  const { scores_B } = await scoreSequences(commands, weights, { ids_B, temperature: 1 });
  destroyDecoderWeights(weights);
  return scores_B.map(({ logp, entropy }) => {
    const mean = logp.reduce((sum, nats) => sum + nats, 0) / logp.length;
    return `${logp.length} tokens, ${mean.toFixed(3)} nats each; entropy ${
      (entropy[0] ?? NaN).toFixed(3)
    }`;
  });
}

if (import.meta.main) {
  const [folder = ""] = Deno.args;
  for (const line of await scoreModel(folder, [[1, 2, 3], [5, 4]])) console.log(line);
}
