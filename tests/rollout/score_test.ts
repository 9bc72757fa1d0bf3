/** Tests of src/rollout/score.ts. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { logprobFromLogits } from "../../src/reference/logprob.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { scoreEpisodes, splitEpisodes } from "../../src/rollout/score.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

Deno.test("splitEpisodes() cuts between episodes and leaves one that is too long alone", () => {
  const shape = (lengths: number[], maxRows: number) =>
    splitEpisodes(lengths, maxRows).map(({ begin, end, rowCount }) => [begin, end, rowCount]);
  assertEquals(shape([3, 4, 2], 100), [[0, 3, 9]]);
  assertEquals(shape([3, 4, 2, 1], 7), [[0, 2, 7], [2, 4, 3]]);
  assertEquals(shape([2, 9, 1, 2], 3), [[0, 1, 2], [1, 2, 9], [2, 4, 3]]);
  assertEquals(shape([5], 1), [[0, 1, 5]]);
});

/** Episodes of different lengths, with every token of the vocabulary somewhere. */
const EPISODES = [1, 7, 40, 13, 2, 64].map((length, b) =>
  Array.from({ length }, (_, t) => (17 * b + 11 * t) % TINY_AGENT.vocabSize)
);

gpuTest(
  "scoreEpisodes() gives the same bits however it cuts, and log-probs that fit its logits",
  async () => {
    const commands = new Commands(await testGpu());
    const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 1));
    const options = { ids_B: EPISODES, temperature: 0.5, withLogits: true };
    const whole = await scoreEpisodes(commands, parameters, options);
    const cut = await scoreEpisodes(commands, parameters, { ...options, maxRows: 9 });
    assertEquals(cut, whole);

    const targets = EPISODES.flatMap((ids) => ids.map((_, t) => ids[t + 1] ?? 0));
    const expected = logprobFromLogits(whole.logits_NV ?? [], {
      rowCount: targets.length,
      vocabularySize: TINY_AGENT.vocabSize,
      target_N: targets,
      temperature: 0.5,
    });
    expected.logp_N.forEach((logp, n) => {
      // Logits of an untrained model are below 10; halving the temperature doubles them and their rounding.
      assert(Math.abs(logp - whole.logp_N[n]) <= 20 * 2 ** -22, `row ${n}`);
      assert(Math.abs(expected.entropy_N[n] - whole.entropy_N[n]) <= 20 * 2 ** -22, `row ${n}`);
    });
    assert(new Set(whole.logp_N).size > 100, "the rows differ");
    destroyParameters(parameters);
  },
);

gpuTest("scoreEpisodes() refuses ids outside the vocabulary", async () => {
  const commands = new Commands(await testGpu());
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 1));
  const options = { ids_B: [[1], [60]], temperature: 1, withLogits: false };
  await assertRejects(
    () => scoreEpisodes(commands, parameters, options),
    RangeError,
    "token 0 of episode 1 is 60",
  );
  destroyParameters(parameters);
});

Deno.test("packEpisodes() takes more episodes than a call has arguments", () => {
  const ids_B = Array.from({ length: 130_000 }, (_, b) => b === 99_999 ? [1, 2, 3] : [1, 2]);
  const batch = packEpisodes(ids_B, { vocabSize: 60 });
  assertEquals([batch.rowCount, batch.columnCount], [260_001, 2]);
  assertEquals(splitEpisodes(batch.length_B, 4096).at(-1)?.end, 130_000);
});

gpuTest("scoreEpisodes() refuses an episode that is too long before it computes any", async () => {
  const commands = new Commands(await testGpu());
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 1));
  const { submits } = commands.gpu.counters;
  await assertRejects(
    () =>
      scoreEpisodes(commands, parameters, {
        ids_B: [[1, 2, 3], new Uint32Array(60_000)],
        temperature: 1,
        withLogits: false,
      }),
    UserError,
    "attention_forward: one invocation would run 60001 loop iterations",
  );
  assertEquals(commands.gpu.counters.submits, submits);
  destroyParameters(parameters);
});
