/** Tests of src/faults/healthy_ranges.ts: every metric has a range, and the pinned runs give the ones that are published. */
import { assertEquals } from "@std/assert";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import {
  HEALTHY_KL_FILE,
  HEALTHY_RANGES,
  healthyStepRange,
} from "../../src/faults/healthy_ranges.ts";
import { METRICS } from "../../src/rl/metric_dictionary.ts";

Deno.test("HEALTHY_RANGES have every metric of the dictionary, and what was published", () => {
  assertEquals(Object.keys(HEALTHY_RANGES), Object.keys(METRICS));
  const { reward, eval_pass, length_fail, approx_kl, ratio_max, loss, logp_gap, kl_ref } =
    HEALTHY_RANGES;
  assertEquals(
    { reward, eval_pass, length_fail, approx_kl, ratio_max, loss, logp_gap, kl_ref },
    {
      reward: [0.11, 0.86],
      eval_pass: [0.12, 0.93],
      length_fail: [8.4, 14],
      approx_kl: [3.3e-5, 0.0034],
      ratio_max: [1, 1.6],
      loss: [-0.1, 0.13],
      logp_gap: [0, 0],
      kl_ref: [0.0029, 0.2],
    },
  );
});

Deno.test("healthyStepRange() takes the extremes over all steps and seeds, to two digits", () => {
  const file = {
    seeds: [
      { seed: 0, rows: [{ step: 0, a: 0.625, b: -0.0345 }, { step: 1, a: 0.5, b: 0 }] },
      { seed: 1, rows: [{ step: 0, a: 14.51, b: 0 }, { step: 1, c: 0.135 }] },
    ],
  };
  assertEquals(healthyStepRange(file, "a"), [0.5, 15]);
  assertEquals(healthyStepRange(file, "b"), [-0.035, 0]);
  // 0.135 is a little above the middle as a double; what is the middle goes to the even digit.
  assertEquals(healthyStepRange(file, "c"), [0.14, 0.14]);
  assertEquals(healthyStepRange({ seeds: file.seeds.slice(0, 1) }, "a"), [0.5, 0.62]);
  assertEquals(healthyStepRange(file, "d"), undefined);
});

Deno.test("the runs with a KL term are of the reference's seeds and have a kl_ref at every step", () => {
  const seedsOf = ({ seeds }: typeof HEALTHY_KL_FILE) => seeds.map(({ seed }) => seed);
  assertEquals(seedsOf(HEALTHY_KL_FILE), seedsOf(HEALTHY_REFERENCE_FILE));
  for (const { rows } of HEALTHY_KL_FILE.seeds) {
    assertEquals(rows.map(({ step }) => step), [0, 1, 2, 3, 4, 5, 6, 7]);
    assertEquals(rows.map((row) => Object.keys(row)), rows.map(() => ["step", "kl_ref"]));
  }
  assertEquals(healthyStepRange(HEALTHY_REFERENCE_FILE, "kl_ref"), undefined);
});
