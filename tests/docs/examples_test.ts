/** Runs the programs of docs/examples, in this process, and holds them to what they are to show. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { scoreModel } from "../../docs/examples/score_model.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { sequencesOf, VARIANTS, writeDecoder } from "../model/random_decoder.ts";

/** What a program prints. */
async function printed(name: string): Promise<string> {
  const lines: string[] = [];
  const log = console.log;
  console.log = (...values: unknown[]) => lines.push(values.join(" "));
  try {
    await import(new URL(`../../docs/examples/${name}`, import.meta.url).href);
  } finally {
    console.log = log;
  }
  return lines.join("\n");
}

Deno.test("docs/examples: a program reads a log and prints what speaks against the run", async () => {
  const text = await printed("read_log.ts");
  assertStringIncludes(text, "suspect: sampler_trainer_gap: Sampler and trainer disagree");
  assertStringIncludes(text, "\n  next: Before any update, score one sampled batch");
});

Deno.test("docs/examples: a program judges a dump whose mask is one column late", async () => {
  const text = await printed("judge_dump.ts");
  assertMatch(
    text,
    /^mask_on_unsampled: .* the mask is one column late\. See row \d+, token 10\.$/m,
  );
});

Deno.test("docs/examples: a program judges a trainer whose baseline is the batch's", async () => {
  const text = await printed("judge_trainer.ts");
  assertStringIncludes(text, "check 4, group advantage mean = 0: 0.25 (bound 0.00001)");
  assertMatch(text, /check 13, advantage = rule of the episode's rewards/);
  assertEquals(text.split("\n").length, 3);
});

Deno.test("docs/examples: a program scores sequences on the device", async () => {
  const [first = "", second = ""] = (await printed("score_sequences.ts")).split("\n");
  // An untrained model of 60 words is near −log 60 = −4.09 nats per token.
  for (const [line, count] of [[first, 6], [second, 5]] as const) {
    const [, tokens, nats] = /^(\d+) tokens, (-[\d.]+) nats$/.exec(line) ?? [];
    assertEquals(Number(tokens), count);
    assertEquals(Math.abs(Number(nats) / (count - 1) + Math.log(60)) < 1, true, line);
  }
});

gpuTest(
  "docs/examples: a program scores sequences under a Hugging Face folder",
  () =>
    withFolder(async (folder) => {
      writeDecoder(folder, VARIANTS.qwen3);
      const [ids] = sequencesOf(VARIANTS.qwen3);
      const { qwen3: [{ logp, entropy }] } = JSON.parse(
        Deno.readTextFileSync(new URL("../golden/decoders.json", import.meta.url)),
      );
      const mean = logp.reduce((sum: number, nats: number) => sum + nats, 0) / logp.length;
      const [line = ""] = await scoreModel(folder, [ids!]);
      const [, count, nats, first] =
        /^(\d+) tokens, (-[\d.]+) nats each; entropy ([\d.]+)$/.exec(line) ?? [];
      assertEquals(Number(count), ids!.length - 1);
      assertEquals(Math.abs(Number(nats) - mean) < 1e-3, true, line);
      assertEquals(Math.abs(Number(first) - entropy[0]) < 1e-3, true, line);
    }),
);
