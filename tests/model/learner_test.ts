/** Tests of src/model/learner.ts: the determinism contract, accumulation, weights that are not finite, refusals. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { MAX_ITERATIONS, type OperandMemory } from "../../src/gpu/kernel.ts";
import { allRows } from "../../src/model/batch_inputs.ts";
import { type ModelConfig, TINY_AGENT } from "../../src/model/config.ts";
import { Learner, type LearnerOptions } from "../../src/model/learner.ts";
import {
  createParameters,
  destroyParameters,
  hashWeights,
  initialValues,
  readParameters,
  writeParameters,
} from "../../src/model/parameters.ts";
import { maxBatchRows } from "../../src/model/workspace.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import type { GradientTask } from "../../src/rl/gradient.ts";
import { type PackedBatch, packEpisodes } from "../../src/rollout/batch.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { assertSameBits, roundoffs } from "../kernels/harness.ts";
import {
  flatGolden,
  GOLDEN_ADAM,
  GOLDEN_SIZES,
  goldenEpisodes,
  goldenTask,
  recordGradient,
  withLearner,
} from "./golden_learner.ts";

const { vocabSize } = TINY_AGENT;

async function resultRows(learner: Learner, batch: PackedBatch, temperature: number) {
  learner.load(batch).forward(temperature).keepRows();
  const { rows: [kept] } = await learner.collect();
  return kept!.result_N4;
}

gpuTest(
  "an episode has the same bits alone, first, last and in the middle of any batch",
  async () => {
    const episodes = goldenEpisodes();
    const episode = episodes[5]!;
    const others = Array.from({ length: 300 }, (_, b) => {
      const ids = episodes[b % episodes.length]!;
      return ids.slice(0, 1 + (7 * b) % ids.length);
    });
    const capacity = others.flat().length + episode.length;
    const sizes = { capacity, maxPositions: GOLDEN_SIZES.maxPositions };
    await withLearner(await testGpu(), sizes, async (learner) => {
      for (const temperature of [1, 0.7]) {
        const alone = await resultRows(
          learner,
          packEpisodes([episode], { vocabSize }),
          temperature,
        );
        assert(new Set(alone).size > episode.length, "the rows differ");
        for (const episodeCount of [1, 7, 64, 300]) {
          for (const place of new Set([0, episodeCount >> 1, episodeCount - 1])) {
            const batch = packEpisodes(
              [...others.slice(0, place), episode, ...others.slice(place, episodeCount - 1)],
              { vocabSize },
            );
            assertEquals(batch.episodeCount, episodeCount);
            const first = batch.firstRow_B[place]!;
            const found = (await resultRows(learner, batch, temperature))
              .subarray(4 * first, 4 * (first + episode.length));
            assertSameBits(`episode ${place} of ${episodeCount}`, found, alone);
          }
        }
      }
    });
  },
);

/** The hash of the golden weights after ten steps. */
async function hashAfterTenSteps(memory: OperandMemory): Promise<string> {
  return await withLearner(await testGpu(memory), GOLDEN_SIZES, async (learner, parameters) => {
    learner.clearMoments();
    for (let step = 1; step <= 10; step++) {
      recordGradient(learner, goldenTask("ppo_k3_entropy")).step(1, { ...GOLDEN_ADAM, step });
      await learner.collect();
    }
    return await hashWeights(await readParameters(learner.commands, parameters));
  });
}

gpuTest("ten Adam steps give the same weights in two runs and in both memories", async () => {
  const hash = await hashAfterTenSteps("texture");
  assert(hash !== await hashWeights(flatGolden("model")), "the weights have moved");
  assertEquals(await hashAfterTenSteps("texture"), hash);
  assertEquals(await hashAfterTenSteps("buffer"), hash);
});

/** The part of a task that lies in the episodes from `begin` to before `end`; weights stay those of the whole batch. */
function part(task: GradientTask, begin: number, end: number): GradientTask {
  const batch = packEpisodes(goldenEpisodes().slice(begin, end), { vocabSize });
  const first = task.batch.firstRow_B[begin]!;
  return {
    ...task,
    batch,
    objective_N4: task.objective_N4.slice(4 * first, 4 * (first + batch.rowCount)),
    refLogp_N: task.refLogp_N?.slice(first, first + batch.rowCount),
  };
}

gpuTest("ScoredBatch.backward() accumulates two halves to the gradient of the whole", async () => {
  const task = goldenTask("ppo_k3_entropy");
  await withLearner(await testGpu(), GOLDEN_SIZES, async (learner) => {
    recordGradient(learner, task);
    const whole = await learner.readGradient();
    await learner.collect();
    // What is added up: the gradients of the episodes, whose sizes the rounding follows.
    let sizes = 0;
    for (let b = 0; b < task.batch.episodeCount; b++) {
      recordGradient(learner, part(task, b, b + 1));
      sizes += globalNorm(await learner.readGradient());
      await learner.collect();
    }
    const first = recordGradient(learner, part(task, 0, 16));
    recordGradient(learner, part(task, 16, 32), first);
    const halves = await learner.readGradient();
    const error = globalNorm(halves.map((g, w) => g - whole[w]!));
    // Each entry adds one term a row; another order of N additions moves it by at most N roundoffs of the terms' sizes.
    const bound = roundoffs(task.batch.rowCount) * sizes;
    assert(bound < 0.001 * globalNorm(whole), `a bound of ${bound} says nothing`);
    assert(error <= bound, `the halves are off by ${error}, allowed are ${bound}`);
    assert(error > 0, "the order of additions did change");
  });
});

gpuTest("Learner.load() scores rows with a weight; the others change no bit", async () => {
  const { batch, objective_N4, refLogp_N, terms } = goldenTask("ppo_k3_entropy");
  await withLearner(await testGpu(), GOLDEN_SIZES, async (learner) => {
    const run = async (row_R?: Uint32Array<ArrayBuffer>) => {
      const loaded = learner.load(batch, { objective_N4, ...(row_R ? { row_R } : {}) });
      loaded.loadReference(refLogp_N!);
      const scored = loaded.forward();
      scored.keepRows();
      scored.backward({ loss: terms });
      const { rows: [kept] } = await learner.collect();
      return { results_N4: kept!.result_N4, gradient_W: await learner.readGradient() };
    };
    const scored = await run();
    const all = await run(allRows(batch.rowCount));
    assertSameBits("the gradient", scored.gradient_W, all.gradient_W);
    let unscored = 0;
    for (let n = 0; n < batch.rowCount; n++) {
      const isScored = objective_N4[4 * n + 1] !== 0;
      if (!isScored) unscored++;
      const [found, whole] = [scored, all].map(({ results_N4 }) => results_N4[4 * n]);
      assertEquals(found, isScored ? whole : 0);
    }
    assert(unscored > batch.rowCount / 4, "too few rows are left out");
  });
});

gpuTest(
  "a weight that is NaN gives a norm that is not finite, and a step that changes nothing",
  async () => {
    await withLearner(await testGpu(), GOLDEN_SIZES, async (learner, parameters) => {
      learner.clearMoments();
      const task = goldenTask("ppo_k3_entropy");
      recordGradient(learner, task).step(1, { ...GOLDEN_ADAM, step: 1 });
      await learner.collect();
      const weights = await readParameters(learner.commands, parameters);
      const moments = await learner.readMoments();
      assert(globalNorm(moments[0]) > 0);
      weights[parameters.layout.blocks[1]!.fc + 3] = NaN;
      writeParameters(learner.commands, parameters, weights);
      recordGradient(learner, task).step(1, { ...GOLDEN_ADAM, step: 2 }).keep();
      const { steps: [step] } = await learner.collect();
      assert(!Number.isFinite(step!.gradNorm), `the norm is ${step!.gradNorm}`);
      assertEquals(step!.clipFactor, 0);
      const after = await learner.readMoments();
      assertSameBits("weights", await readParameters(learner.commands, parameters), weights);
      assertSameBits("first moment", after[0], moments[0]);
      assertSameBits("second moment", after[1], moments[1]);
    });
  },
);

gpuTest("Learner refuses sizes at which a software adapter would cut loops off", async () => {
  const gpu = await testGpu();
  const narrow = { ...TINY_AGENT, width: 16, headCount: 1, feedForwardWidth: 16, layerCount: 1 };
  const wide = { ...narrow, width: 128, headCount: 1 };
  const create = (isSoftware: boolean, config: ModelConfig, sizes: LearnerOptions) => {
    const commands = new Commands({ ...gpu, adapter: { ...gpu.adapter, isSoftware } });
    const parameters = createParameters(commands, config, initialValues(config, 1));
    try {
      new Learner(commands, parameters, sizes).destroy();
    } finally {
      destroyParameters(parameters);
    }
  };
  const cases = [
    [
      wide,
      { capacity: 2000, maxPositions: 1200 },
      "attention_forward: one invocation would run 80",
    ],
    [narrow, { capacity: 70_000, maxPositions: 60_000 }, "attention_forward: one invocation"],
    [narrow, { capacity: 60_000, maxPositions: 8 }, "would run 60001 loop iterations"],
  ] as const;
  for (const [config, sizes, sentence] of cases) {
    assertThrows(() => create(true, config, sizes), UserError, sentence);
    create(false, config, sizes);
  }
  create(true, wide, { capacity: 2000, maxPositions: 800 });
  const commands = new Commands(gpu);
  assertEquals(maxBatchRows(commands, TINY_AGENT), MAX_ITERATIONS - 1);
  create(true, narrow, { capacity: maxBatchRows(commands, narrow), maxPositions: 8 });
  const large = { ...TINY_AGENT, vocabSize: 151_936, feedForwardWidth: 8192 };
  assertEquals(maxBatchRows(commands, large), 128 * 2 ** 20 / (4 * 8192));
});

gpuTest("Learner refuses batches that it was not made for", async () => {
  const sizes = { capacity: 8, maxPositions: 8 };
  await withLearner(await testGpu(), sizes, async (learner) => {
    const load = (length: number) =>
      learner.load(packEpisodes([new Array(length).fill(1)], { vocabSize }));
    assertThrows(() => load(9), RangeError, "a batch of 9 tokens: the learner holds 8");
    const long = { ...packEpisodes([new Array(8).fill(1)], { vocabSize }) };
    long.token_N4[4 * 7 + 1] = 8;
    assertThrows(
      () => learner.load(long),
      RangeError,
      "an episode of 9 tokens: the learner holds 8",
    );
    load(8);
    load(7);
    assertThrows(() => load(6), RangeError, "more than 2 batches");
    await learner.collect();
    load(8);
    await learner.collect();
  });
});

gpuTest(
  "Learner refuses work on a batch, a gradient or a step that another one has replaced",
  async () => {
    const task = goldenTask("ppo_k3_entropy");
    await withLearner(await testGpu(), GOLDEN_SIZES, async (learner) => {
      const load = () => learner.load(task.batch, { objective_N4: task.objective_N4 });
      const replaced = load();
      const loaded = load();
      assertThrows(() => replaced.forward(), RangeError, "no longer the learner's current one");
      const scored = loaded.forward();
      assertThrows(() => loaded.loadReference(task.refLogp_N!), RangeError, "loadReference");
      const [first, second] = [scored, scored].map((batch) => batch.backward({ loss: task.terms }));
      assertThrows(
        () => first!.step(1, { ...GOLDEN_ADAM, step: 1 }),
        RangeError,
        "a later backward",
      );
      assertThrows(
        () => scored.backward({ loss: task.terms, onto: first! }),
        RangeError,
        "replaced",
      );
      const [norm, step] = [second!.norm(1), second!.step(1, { ...GOLDEN_ADAM, step: 1 })];
      assertThrows(() => norm.keep(), RangeError, "keep it first");
      step.keep();
      const { steps } = await learner.collect();
      assertEquals(steps.length, 1);
      load();
      assertThrows(() => scored.keepRows(), RangeError, "no longer the learner's current one");
    });
  },
);
