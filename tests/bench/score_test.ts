/** Tests of the benchmark of scoring: its work by hand, its sizes, and one small model beside PyTorch's numbers. */
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { benchScore } from "../../cli/bench/score.ts";
import { scoreSchema } from "../../src/bench/documents.ts";
import { UserError } from "../../src/core/errors.ts";
import { benchSchema } from "../../src/report/speed_page.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { randomWords } from "../../src/bench/random_decoder.ts";
import {
  farthestApart,
  prepareScoreBench,
  SCORE_SHAPES,
  scoreWork,
  summarizeScores,
} from "../../src/bench/score.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { bf16Value } from "../../src/reference/stored_weights.ts";
import { decoderLayout } from "../../src/model/architectures.ts";

Deno.test("randomWords() gives numpy's numbers, whichever of them are asked for", () => {
  const range = { begin: 0, count: 6, spread: 0.7, offset: 0 };
  const words = randomWords("model.embed_tokens.weight", range);
  assertEquals([...words].map(bf16Value), [
    -0.60546875,
    -0.5859375,
    -0.45703125,
    0.16796875,
    0.61328125,
    0.283203125,
  ]);
  assertEquals(
    randomWords("model.embed_tokens.weight", { ...range, begin: 4, count: 2 }),
    words.slice(4),
  );
});

Deno.test("scoreWork() counts products and attention once, of a table only the head", () => {
  const config = { ...SCORE_SHAPES.small, layerCount: 1 };
  // qkv, output, gates, what is gated, and the head; 3 tokens see 6 pairs.
  const weights = 128 * 64 + 64 * 64 + 2 * 128 * 64 + 64 * 128 + 4096 * 64;
  const { flops, bytes } = scoreWork(config, { tokens: 3, weightBytes: 7 });
  assertEquals([flops, bytes], [2 * 3 * weights + 4 * 6 * 64, 7]);
  assertEquals(scoreWork({ ...config, isTied: false }, { tokens: 3, weightBytes: 7 }).flops, flops);
});

Deno.test("summarizeScores() has the share of the roofline", () => {
  const work = { flops: 4e6, bytes: 1e6 }; // 2 ms of operations, 1 ms of bytes.
  const row = summarizeScores([30, 4, 8], {
    tokens: 16,
    work,
    peak: { gflops: 2, gbPerSecond: 1 },
  });
  assertEquals(row, { ms: 8, tokensPerSecond: 2000, gflops: 0.5, rooflineShare: 0.25 });
});

Deno.test("farthestApart() refuses other numbers of tokens", () => {
  assertEquals(farthestApart([1, 2], [1.5, 2]), 0.5);
  assertThrows(() => farthestApart([1], [1, 2]), UserError, "scored 2 tokens, not 1");
});

gpuTest("benchScore() prints its document, and lines that fit", async () => {
  const { document, text = "" } = await benchScore(new Commands(await testGpu()), {
    rounds: 1,
    peer: "",
    shape: "small",
    tokens: 5,
    weights: "f32",
  });
  const data = benchSchema.parse(document);
  assertEquals(data.suite, "score");
  const { ours, peers, ratio, workspaceBytes } = scoreSchema.parse(document);
  assert(ours.tokensPerSecond > 0 && workspaceBytes > 0);
  assertEquals([peers, ratio], [[], null]);
  assert(text.split("\n").every((line) => line.length <= 120), text);
  // Which of the two depends on the other tests in this process, whose memory counts as well.
  assertMatch(text.replaceAll(/\s+/g, " "), /600 MB (?:holds|does not hold)/);
  assertStringIncludes(data.show("speed").markup, "ours, f32");
});

gpuTest("prepareScoreBench() scores the model that it says", async () => {
  const bench = await prepareScoreBench(new Commands(await testGpu()), {
    shape: "small",
    tokens: 5,
    storage: "bf16",
  });
  const config = SCORE_SHAPES.small;
  const { matrices, vectors } = decoderLayout(config);
  assertEquals(
    bench.weightBytes,
    2 * matrices.reduce((sum, { rowCount, width }) => sum + rowCount * width, 0) +
      4 * vectors.reduce((sum, { length }) => sum + length, 0),
  );
  assert(await bench.measure() > 0);
  assert(bench.processBytes === null || bench.processBytes > bench.workspaceBytes);
  bench.free();
  // What tests/bench/score_torch.py says of the same tokens.
  [-13.85219, -7.53291, -8.91898, -12.84518, -14.0029].forEach((logp, t) =>
    assertAlmostEquals(bench.logp[t]!, logp, 1e-4)
  );
});
