/** Tests of src/faults/sampler_tolerance.ts: on an adapter that rounds apart a gap is measured, and a fault is still one. */
import { assert, assertEquals } from "@std/assert";
import { violated } from "../../src/diagnose/invariants.ts";
import { faultConfig, faultyStages } from "../../src/faults/faults.ts";
import { logpToleranceOf } from "../../src/faults/sampler_tolerance.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import type { Arithmetic } from "../../src/gpu/arithmetic.ts";
import { Commands } from "../../src/gpu/commands.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import { LOGPROB_MERGE } from "../../src/kernels/logprob.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { HEALTHY_STAGES } from "../../src/rl/stages.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { withCompiler } from "../gpu/other_compiler.ts";
import { openBench, smallConfig } from "./small_runs.ts";

const KEEPS: Arithmetic = {
  fmaRounds: "once",
  contractsProducts: false,
  reassociatesSums: false,
  cancelsTerms: false,
};

/** The device with a trainer that rounds a log-prob otherwise than its sampler. */
function roundingApart(own: Gpu): Gpu {
  const written = "fma(chosen, params.inverse_temperature, -lse)";
  assert(LOGPROB_MERGE.wgsl.includes(written));
  return withCompiler(own, (code) => code.replace(written, `1.000001 * ${written}`));
}

gpuTest(
  "a gap is rounding where the adapter rounds apart, and a fault is one anywhere",
  async () => {
    const { commands: { gpu: own }, agent } = await openBench();
    const gpu = roundingApart(own);
    const checks = async (arithmetic: Arithmetic, fault?: "sampler_temp") => {
      gpu.arithmetic.known = arithmetic;
      const setup = trainingSetup(new Commands(gpu), {
        config: smallConfig(fault && faultConfig(fault)),
        stages: fault ? faultyStages(fault) : HEALTHY_STAGES,
      });
      const results = await runChecks(setup, { model: agent.config, weights_W: agent.weights_W });
      const { value = NaN, bound = NaN } = results.find(({ id }) => id === 2) ?? {};
      return { value: value ?? NaN, bound, violated: violated(results).map(({ id }) => id) };
    };
    const kept = await checks(KEEPS);
    assertEquals(kept.violated, [2, 3]);
    assert(kept.value > 0 && kept.value < 1e-5, `${kept.value}`);
    const contracts = { ...KEEPS, contractsProducts: true };
    const measured = await checks(contracts);
    assertEquals([measured.violated, measured.value], [[], kept.value]);
    const faulty = await checks(contracts, "sampler_temp");
    assertEquals(faulty.violated.slice(0, 2), [2, 3]);
    assert(faulty.value >= 500 * measured.bound, `${faulty.value} of ${measured.bound}`);
  },
);

gpuTest("logpToleranceOf() runs the self-test where nobody has", async () => {
  const { commands: { gpu } } = await openBench();
  const fresh: Gpu = { ...gpu, arithmetic: { known: undefined } };
  assertEquals(await logpToleranceOf(fresh), 0);
  assert(fresh.arithmetic.known !== undefined);
  for (const departs of [{ reassociatesSums: true }, { fmaRounds: "unknown" }] as const) {
    const other = { ...gpu, arithmetic: { known: { ...KEEPS, ...departs } } };
    assertEquals(await logpToleranceOf(other), 1e-4);
  }
});
