/** The kernel tests can fail: each planted mistake in a shader is found by the comparison that the op's own tests use. */
import { assert } from "@std/assert";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import type { KernelSpec } from "../../src/gpu/kernel.ts";
import * as attention from "../../src/kernels/attention.ts";
import * as clipAdam from "../../src/kernels/clip_adam.ts";
import * as embedding from "../../src/kernels/embedding.ts";
import * as gatedSilu from "../../src/kernels/gated_silu.ts";
import * as groupedAttention from "../../src/kernels/grouped_attention.ts";
import * as headRotary from "../../src/kernels/head_rotary.ts";
import * as layernorm from "../../src/kernels/layernorm.ts";
import * as linear from "../../src/kernels/linear.ts";
import * as logprob from "../../src/kernels/logprob.ts";
import * as policyLoss from "../../src/kernels/policy_loss.ts";
import * as rmsnorm from "../../src/kernels/rmsnorm.ts";
import * as sample from "../../src/kernels/sample.ts";
import * as scoredRows from "../../src/kernels/scored_rows.ts";
import * as storedWeights from "../../src/kernels/stored_weights.ts";
import { kernelOf } from "../../src/kernels/operands.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { SMALL_BLOCKS } from "../gpu/layouts.ts";
import { assertHolds, violation } from "./harness.ts";
import { ATTENTION_MUTATIONS } from "./attention_mutations.ts";
import { DECODER_MUTATIONS } from "./decoder_mutations.ts";
import { MODEL_MUTATIONS } from "./model_mutations.ts";
import { type Mutation, MUTATIONS } from "./mutations.ts";

/** The same device with the mutated kernel in place of the right one, under each set of overrides that was compiled. */
function mutantOf(gpu: Gpu, { spec, from, to, mistake }: Mutation): Gpu {
  const texts = [spec.wgsl, ...spec.shared];
  assert(
    texts.some((text) => text.includes(from)),
    `${mistake}: no text of ${spec.name} has ${from}`,
  );
  const mutate = (text: string) => text.replace(from, () => to);
  const mutated = { ...spec, wgsl: mutate(spec.wgsl), shared: spec.shared.map(mutate) };
  const mutant: Gpu = { ...gpu, kernels: new Map(gpu.kernels) };
  const compiled = [...gpu.kernels].filter(([, kernel]) => kernel.spec.name === spec.name);
  assert(compiled.length > 0, `${spec.name} was never compiled`);
  for (const [key, { overrides }] of compiled) {
    mutant.kernels.delete(key);
    const known = mutant.kernels.size;
    kernelOf(mutant, mutated, overrides);
    assert(mutant.kernels.has(key) && mutant.kernels.size === known + 1, `another key than ${key}`);
  }
  return mutant;
}

let opened: Promise<Gpu> | undefined;

/** Small blocks compile in half the time, and each mistake is compiled. */
function smallBlocksGpu(): Promise<Gpu> {
  return opened ??= openGpu({ tuning: SMALL_BLOCKS });
}

const ALL = [...MUTATIONS, ...ATTENTION_MUTATIONS, ...DECODER_MUTATIONS, ...MODEL_MUTATIONS];

for (const mutation of ALL) {
  gpuTest(`${mutation.spec.name}: the tests find that ${mutation.mistake}`, async () => {
    const gpu = await smallBlocksGpu();
    assertHolds(await mutation.compare(gpu));
    const comparisons = await mutation.compare(mutantOf(gpu, mutation));
    const found = comparisons.map(violation).filter((sentence) => sentence !== undefined);
    assert(found.length > 0, `no comparison noticed that ${mutation.mistake}`);
  });
}

Deno.test("every kernel has a planted mistake", () => {
  const modules = [
    attention,
    clipAdam,
    embedding,
    gatedSilu,
    groupedAttention,
    headRotary,
    layernorm,
    linear,
    logprob,
    policyLoss,
    rmsnorm,
    sample,
    scoredRows,
    storedWeights,
  ];
  const isSpec = (value: unknown): value is KernelSpec =>
    typeof value === "object" && value !== null && "wgsl" in value;
  const specs = modules.flatMap((module) => Object.values(module).filter(isSpec));
  const missing = specs.filter((spec) => !ALL.some((mutation) => mutation.spec === spec));
  assert(specs.length >= 24 && missing.length === 0, missing.map(({ name }) => name).join());
});
