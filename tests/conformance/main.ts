/** `deno task conformance`: prints docs/conformance.md; exit code 1 where an implementation does not conform. */
import { UPDATE_TOLERANCE } from "../../src/bench/update_check.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { largestDifference } from "../../src/core/vectors.ts";
import {
  type Crossings,
  DRIVER_TOLERANCE,
  fusedFaults,
  normsApart,
  wholeFaults,
} from "./compare.ts";
import { measureInBrowser, measureInDeno, swiftShaderFile } from "./implementations.ts";
import { kernelForms } from "./kernel_forms.ts";
import { liveFaults, liveInBrowser, liveInDeno, type LiveTraining } from "./live.ts";
import type { Conformance } from "./measure.ts";
import type { FusedConformance } from "./measure_fused.ts";

const PROBES = [
  ["contracts products and sums", "contractsProducts"],
  ["reassociates sums", "reassociatesSums"],
  ["takes (a + b) − a for b", "cancelsTerms"],
] as const;

function rows({ machine, otherDriver, otherCompiler }: Crossings<Conformance>): string[][] {
  const row = (name: string, rule: string, value: (one: Conformance) => string) => [
    name,
    value(machine),
    value(otherDriver),
    value(otherCompiler),
    rule,
  ];
  const compilers = "equal between compilers";
  return [
    row("self-test, checks that fail", "0", (one) => String(one.selfTestFailures.length)),
    row("its probes: fma rounds", "once or twice", ({ arithmetic }) => arithmetic.fmaRounds),
    ...PROBES.map(([name, key]) =>
      row(name, "reported", ({ arithmetic }) => arithmetic[key] ? "yes" : "no")
    ),
    ...(["forward", "gradient", "weights"] as const).map((name) =>
      row(
        `update against float64: ${name}`,
        `at most ${UPDATE_TOLERANCE[name]}`,
        ({ update }) => update[name].toExponential(2),
      )
    ),
    row("sampled tokens", "equal everywhere", ({ episodes }) => String(episodes.tokens)),
    row("their ids", "equal everywhere", ({ episodes }) => episodes.idsHash),
    row(
      "sampled log-probs unlike the forward's",
      "0",
      ({ episodes }) => String(episodes.unlikeForward),
    ),
    row(
      "log-probs of an episode alone unlike those in the batch",
      "0",
      ({ episodes }) => String(episodes.unlikeAlone),
    ),
    row("sampled log-probs", compilers, ({ episodes }) => episodes.sampledHash),
    row(
      "forward: log-probs and entropies",
      compilers,
      ({ episodes }) => episodes.forwardHash,
    ),
    row("scores of a model of Qwen3's shape", compilers, ({ decoder }) => decoder.hash),
    row("invariants that hold", "all that apply", (one) => String(one.holdingInvariants)),
    row(
      "invariants that are violated",
      "0",
      ({ violatedInvariants }) => String(violatedInvariants.length),
    ),
    row(
      "rewards of four GRPO steps",
      "equal everywhere",
      ({ training }) => training.rewards.join(", "),
    ),
    row(
      "largest `logp_gap` in them, nats",
      "0",
      ({ training }) => String(training.largestGap),
    ),
    row("weights after them", compilers, ({ training }) => training.weightsHash),
  ];
}

function liveRows({ machine, otherDriver, otherCompiler }: Crossings<LiveTraining>): string[][] {
  const all = [machine, otherDriver, otherCompiler];
  return [
    [
      "live page: rewards under `mask_shift`",
      ...all.map(({ rewards }) => rewards.join(", ")),
      "equal everywhere",
    ],
    [
      "live page: weights after them",
      ...all.map(({ weightsHash }) => weightsHash),
      "equal between compilers",
    ],
  ];
}

async function printPage(
  found: Crossings<Conformance>,
  live: Crossings<LiveTraining>,
  fused: Pick<Crossings<FusedConformance>, "machine" | "otherDriver">,
): Promise<void> {
  const { machine, otherDriver, otherCompiler } = found;
  const { fmaRounds, tokens, unlike, apart: oneSide } = fused.otherDriver;
  const header = [
    "",
    `Deno (naga), ${machine.adapter}`,
    `Deno (naga), ${otherDriver.adapter}`,
    `Chromium (Tint), ${otherCompiler.adapter}`,
    "must be",
  ];
  const apart = largestDifference(machine.episodes.entropies, otherDriver.episodes.entropies);
  const decoderApart = largestDifference(machine.decoder.scores, otherDriver.decoder.scores);
  console.log(`# Two drivers and two compilers

    deno task conformance > docs/conformance.md
    deno fmt docs/conformance.md

prints this page and exits with 1 where a rule is broken. It needs Chromium and software Vulkan, no
network and no GPU. Deno runs once on the machine's Vulkan driver and once on the SwiftShader driver
that Chromium ships (\`VK_DRIVER_FILES\`); Chromium runs the same source files in a page, with
\`--enable-unsafe-webgpu --use-webgpu-adapter=swiftshader\`. So one column differs from the next in
one thing: first the driver, then the compiler and the WebGPU implementation (wgpu, Dawn).

${markdownTable(header, [...rows(found), ...liveRows(live)]).join("\n")}

Hashes are the first eight digits of a SHA-256 over f32 values. Where drivers differ, they differ as
exp and log do: entropies by at most ${apart.toExponential(1)} nats and the decoder's
scores by ${
    decoderApart.toExponential(1)
  } (tolerance ${DRIVER_TOLERANCE.entropies}), gradient norms by
${
    normsApart(machine, otherDriver).toExponential(1)
  } of themselves (tolerance ${DRIVER_TOLERANCE.gradientNorms}). Errors against float64 may differ in late digits
between Deno and Chromium, because the reference uses the exp of either's JavaScript engine.

The agent is \`tests/golden/model.safetensors\`; sizes are small (\`tests/conformance/measure.ts\`),
since SwiftShader is several times slower than llvmpipe. The live page is what \`cli/agentrl live\`
writes, bundled scripts and all, with fewer episodes; its button is pressed and its files are read.

Tests hold a part of this: Tint compiles each of the ${
    (await kernelForms()).length
  } texts that the kernels have in both
memories, with wide heads and every storage of weights, without a message; sampler, forward and row
invariance are compared between both compilers.

## An fma that rounds once

Both drivers compute \`fma\` as a product and a sum; GPUs round once. On the SwiftShader driver each
call of fma in each kernel is replaced by one that also adds the errors of product and sum
(\`tests/conformance/fused_device.ts\`), which the self-test then calls \`${fmaRounds}\`: of ${tokens} log-probs of
the sampler at temperature 0.7, ${unlike} are not the trainer's. With the sampler's alone, ${oneSide.unlike} are not, and are
at most ${
    oneSide.largest.toExponential(1)
  } nats away: that is what an adapter may make that rounds the two differently,
and where one is found to contract or reassociate, checks between them allow 1e-4. On llvmpipe the
same replacement, the same on both sides, leaves ${fused.machine.unlike} unlike, by at most
${
    fused.machine.largest.toExponential(1)
  } nats: its compiler rewrites what stands in place of fma, and did so of no kernel as it is.

## What this does not show

WGSL lets a compiler fuse a product with the addition that follows, and reorder sums. The kernels
write such products as fma (\`tests/gpu/contraction_test.ts\` reads all their texts), of a sum of two
products the first; what is left are quotients with a divisor that no kernel knows (rmsnorm) and the
order of sums, which nothing in WGSL can fix. So the self-test probes for both, \`info\` and a run's
\`config.json\` say what it found, and no text promises equal bits where a probe departs. Mesa takes
(a + b) − a for b, which no kernel has.

Equal bits here show that the kernels rest on no accident of one compiler, and the tolerances that
they rest on neither driver's exp or log; neither promises equal bits on a GPU.`);
}

const driverFile = swiftShaderFile();
const found: Crossings<Conformance> = {
  machine: await measureInDeno("whole"),
  otherDriver: await measureInDeno("whole", driverFile),
  otherCompiler: await measureInBrowser("whole"),
};
const live: Crossings<LiveTraining> = {
  machine: await liveInDeno(),
  otherDriver: await liveInDeno(driverFile),
  otherCompiler: await liveInBrowser(),
};
const fused = {
  machine: await measureInDeno("fused"),
  otherDriver: await measureInDeno("fused", driverFile),
};
await printPage(found, live, fused);
const faults = [...wholeFaults(found), ...liveFaults(live), ...fusedFaults(fused.otherDriver)];
faults.forEach((fault) => console.error(fault));
Deno.exit(faults.length > 0 ? 1 : 0);
