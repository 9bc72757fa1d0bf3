/**
 * How far scores are off float64, for models in folders that hold, beside the model, batch.safetensors and golden.safetensors
 * (`logp` and `entropy` [B, T−1] in float64, stored as F32). Folders of the same name are seeds of one variant.
 *
 * deno run -A tests/model/decoder_errors.ts SEED/VARIANT …
 */
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { readTensorFile } from "../../src/files/tensor_file.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { destroyDecoderWeights } from "../../src/model/decoder_weights.ts";
import { requireTensor } from "../../src/model/safetensors.ts";
import { scoreSequences } from "../../src/model/score_sequences.ts";
import { readBatchFile } from "../../src/run/batch_file.ts";

interface Row {
  seeds: number;
  tokens: number;
  lowest: number;
  logp: number;
  entropy: number;
}

const commands = new Commands(await openGpu());
const rows = new Map<string, Row>();
for (const folder of Deno.args) {
  const files = openDecoderFiles(folder);
  const { ids_B, columnCount } = readBatchFile(`${folder}/batch.safetensors`, files.config);
  const fileName = `${folder}/golden.safetensors`;
  const golden = readTensorFile(fileName);
  const [logp_BC, entropy_BC] = ["logp", "entropy"].map((name) =>
    requireTensor(golden, name, { dtype: "F32", shape: [null, null], fileName }).data
  );
  const { weights } = await loadDecoder(commands, files);
  const { scores_B } = await scoreSequences(commands, weights, { ids_B, temperature: 1 });
  destroyDecoderWeights(weights);
  const name = folder.split("/").at(-1) ?? folder;
  const row = rows.get(name) ?? { seeds: 0, tokens: 0, lowest: 0, logp: 0, entropy: 0 };
  row.seeds++;
  scores_B.forEach(({ logp, entropy }, b) =>
    logp.forEach((value, t) => {
      const cell = b * (columnCount - 1) + t;
      row.tokens++;
      row.lowest = Math.min(row.lowest, value);
      row.logp = Math.max(row.logp, Math.abs(value - logp_BC![cell]!));
      row.entropy = Math.max(row.entropy, Math.abs(entropy[t]! - entropy_BC![cell]!));
    })
  );
  rows.set(name, row);
}
const lines = ["| variant | seeds | tokens | lowest log-prob | log-prob off by | entropy off by |"];
lines.push("| --- | --- | --- | --- | --- | --- |");
for (const [name, { seeds, tokens, lowest, logp, entropy }] of rows) {
  const cells = [name, seeds, tokens, lowest.toFixed(1), logp.toExponential(1)];
  lines.push(`| ${[...cells, entropy.toExponential(1)].join(" | ")} |`);
}
await Deno.stdout.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
