/** Tests of src/diagnose/bisect.ts: the fewest tests, and the example whose test is the invariants themselves. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { bisect } from "../../src/diagnose/bisect.ts";
import { faultyStages } from "../../src/faults/faults.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { openBench, smallConfig } from "../faults/small_runs.ts";

Deno.test("bisect() finds the first bad version wherever it is, in at most ⌈log2(n − 1)⌉ tests", async () => {
  for (const count of [2, 3, 8, 13]) {
    const versions = Array.from({ length: count }, (_, i) => `v${i}`);
    for (let bad = 1; bad < count; bad++) {
      const found = await bisect(versions, (version) => Number(version.slice(1)) < bad);
      assertEquals([found.firstBad, found.index], [`v${bad}`, bad]);
      assert(found.tests.length <= Math.ceil(Math.log2(count - 1)), `${found.tests.length} tests`);
    }
  }
});

Deno.test("bisect() refuses one version, and ends with what its test throws", async () => {
  await assertRejects(() => bisect(["a"], () => true), RangeError, "1 versions");
  const broken = () => Promise.reject(new TypeError("no build"));
  await assertRejects(() => bisect(["a", "b", "c"], broken), TypeError, "no build");
});

gpuTest(
  "bisect() by the invariants needs three tests for the third of eight versions",
  async () => {
    const bench = await openBench();
    const versions = [
      "cache the evaluation tasks",
      "log the entropy of each turn",
      "collate with arrays",
      "inline the advantages",
      "sample in half precision",
      "rename settings",
      "another split of tasks",
      "a faster sampler",
    ];
    // A made-up history in which version 3 flipped a sign. The search sees the verdicts only.
    const config = smallConfig();
    const checksHold = async (version: string) => {
      const fault = versions.indexOf(version) >= 3 ? "sign_flip" : undefined;
      const setup = trainingSetup(bench.commands, { config, stages: faultyStages(fault) });
      const { config: model, weights_W } = bench.agent;
      const results = await runChecks(setup, { model, weights_W });
      return violated(results).length === 0;
    };
    const { firstBad, index, tests } = await bisect(versions, checksHold);
    assertEquals([firstBad, index], ["inline the advantages", 3]);
    assertEquals(tests.map((test) => [test.index, test.isGood]), [[3, false], [1, true], [
      2,
      true,
    ]]);
  },
);
