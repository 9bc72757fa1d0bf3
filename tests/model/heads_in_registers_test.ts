/** Heads that are written out into registers have the bits of heads in loops, forward and backward; short ones stay loops. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { Learner } from "../../src/model/learner.ts";
import { createParameters, destroyParameters, initialValues } from "../../src/model/parameters.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

const LOSS = {
  surrogate: "reinforce",
  clipLow: 0.2,
  clipHigh: 0.2,
  klKind: "k3",
  klCoef: 0,
  entropyCoef: 0,
} as const;

for (const [headCount, headWidth] of [[4, 8], [4, 20], [1, 64]] as const) {
  gpuTest(`attention has equal bits in registers with heads of ${headWidth}`, async () => {
    const width = headCount * headWidth; // A multiple of 16.
    const config = { vocabSize: 12, width, headCount, feedForwardWidth: 16, layerCount: 1 };
    const ids_B = [1, 13, 5].map((length, b) =>
      Array.from({ length }, (_, t) => (5 * b + 7 * t + t * t) % config.vocabSize)
    );
    const batch = packEpisodes(ids_B, config);
    const weight = 1 / batch.rowCount;
    const objective_N4 = Float32Array.from(
      { length: 4 * batch.rowCount },
      (_, i) => [1, weight, weight, 0][i % 4]!,
    );
    const bits: number[][] = [];
    for (const headsInRegisters of [false, true]) {
      const gpu = await testGpu();
      const commands = new Commands({ ...gpu, tuning: { ...gpu.tuning, headsInRegisters } });
      const parameters = createParameters(commands, config, initialValues(config, 3));
      const learner = new Learner(commands, parameters, {
        capacity: batch.rowCount,
        maxPositions: 13,
      });
      const scored = learner.load(batch, { objective_N4 }).forward();
      scored.keepRows();
      scored.backward({ loss: LOSS });
      const { rows: [kept] } = await learner.collect();
      bits.push([...kept!.result_N4, ...await learner.readGradient()]);
      learner.destroy();
      destroyParameters(parameters);
      commands.destroy();
    }
    assertEquals(bits[1], bits[0]);
    assert(new Set(bits[0]).size > 500, "many numbers were compared");
  });
}
