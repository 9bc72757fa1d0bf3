/** Tests of the benchmarks of rollouts, training and growth: their summaries by hand, and one small real measurement each. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { GROWTH_AXES, type GrowthAxis, measureGrowth } from "../../src/bench/growth.ts";
import { prepareRolloutBench, summarizeRollouts } from "../../src/bench/rollout.ts";
import { PHASES, prepareTrainBench, summarizeTraining } from "../../src/bench/train.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

const PEAK = { gflops: 2, gbPerSecond: 1 };

Deno.test("summarizeRollouts() takes medians of times and of times per token", () => {
  const work = { flops: 2e6, bytes: 0 }; // 1 ms at the peak.
  const timings = [{ ms: 10, tokens: 100, work }, { ms: 2, tokens: 40, work }, {
    ms: 4,
    tokens: 20,
    work,
  }];
  assertEquals(summarizeRollouts(timings, { episodes: 8, peak: PEAK }), {
    episodes: 8,
    ms: 4,
    usPerToken: 100, // Of 100, 50 and 200.
    tokensPerSecond: 10_000,
    episodesPerSecond: 2000,
    rooflineShare: 0.25,
  });
});

Deno.test("summarizeTraining() sums the phases and sets them beside the whole step", () => {
  const phases = {
    "rollout": 4,
    "host preparation": 1,
    "forward": 2,
    "backward": 3,
    "clip + Adam": 0.5,
    "host report": 0.5,
  };
  const work = [{ flops: 2e6, bytes: 0 }, { flops: 0, bytes: 2e6 }]; // 1 and 2 ms.
  const row = summarizeTraining([{ ms: 12, tokens: 24, phases, work }], {
    algorithm: "grpo",
    peak: PEAK,
  });
  assertEquals([row.ms, row.phasesMs, row.tokensPerSecond, row.rooflineShare], [
    12,
    11,
    2000,
    0.25,
  ]);
  assertEquals(row.phases.map(({ phase }) => phase), [...PHASES]);
  assertEquals(row.phases[0], { phase: "rollout", ms: 4, share: 4 / 12 });
});

gpuTest("prepareRolloutBench() plays the episodes asked for and counts their tokens", async () => {
  const play = await prepareRolloutBench(new Commands(await testGpu()), { agent: "untrained" });
  const { ms, tokens, work } = await play(3, 0);
  // A prompt of two tokens and a call of at least one, at most six calls of six with answers of up to six.
  assert(tokens >= 3 * 3 && tokens <= 3 * (2 + 6 * 12), `${tokens} tokens`);
  assert(ms > 0 && work.flops > 0 && work.bytes > 0);
  assert((await play(6, 0)).tokens > tokens);
});

gpuTest(
  "prepareTrainBench() splits a step of two minibatches into phases that fit in it",
  async () => {
    const timer = await createTimer(new Commands(await testGpu()));
    const { measure } = await prepareTrainBench(timer, {
      algorithm: "grpo",
      agent: "untrained",
      settings: { problems: 2, groupSize: 2 },
    });
    const { ms, tokens, phases, work } = await measure();
    for (const phase of PHASES) assert(phases[phase] > 0, `${phase} took ${phases[phase]} ms`);
    // The others come from the device's clock at another moment and may exceed what the step had left for them.
    const inside = phases.rollout + phases["host preparation"] + phases["host report"];
    assert(inside < ms, `${inside} of ${ms} ms`);
    assert(tokens >= 4 * 3);
    assertEquals(work.length, 5); // Rollout, forward, backward, and Adam twice.
  },
);

function axisOf(name: GrowthAxis["axis"], sizes: readonly number[]): GrowthAxis {
  const axis = GROWTH_AXES.find(({ axis }) => axis === name);
  if (!axis) throw new RangeError(`No axis is called ${name}`);
  return { ...axis, sizes };
}

gpuTest("measureGrowth() measures all sizes in turn and fits times and operations", async () => {
  const commands = new Commands(await testGpu());
  const small = [
    // Twice the episodes have about twice the tokens; twice the length is a little more than twice the work.
    { name: "episodes", sizes: [4, 8], low: 0.8, high: 1.2 },
    { name: "length", sizes: [4, 8], low: 1, high: 1.1 },
    { name: "width", sizes: [16, 32], low: 1.5, high: 2 },
    { name: "layers", sizes: [1, 2], low: 0.9, high: 1 },
  ] as const;
  for (const { name, sizes, low, high } of small) {
    let measured = 0;
    const curve = await measureGrowth(commands, axisOf(name, sizes), {
      rounds: 1,
      onMeasured: () => measured++,
    });
    assertEquals([curve.axis, curve.sizes, measured], [name, sizes, 4]);
    assert(curve.ms.length === 2 && curve.ms.every((ms) => ms > 0), `${name}: ${curve.ms}`);
    assert(Number.isFinite(curve.exponent));
    assert(curve.expected > low && curve.expected < high, `${name}: ${curve.expected}`);
  }
  await assertRejects(
    () => measureGrowth(commands, axisOf("layers", [1]), { rounds: 1 }),
    RangeError,
    "at least 2 different sizes",
  );
});
