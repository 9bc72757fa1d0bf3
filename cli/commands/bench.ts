/** `agentrl bench`: how fast things run here, after a check that they are right. */
import { cpus } from "node:os";
import { UserError } from "../../src/core/errors.ts";
import { suggestName } from "../../src/core/nearest.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { type KernelTiming, prepareKernelBench, timeKernel } from "../../src/lab/kernel_bench.ts";
import { stderrProgress } from "../../src/run/progress.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, GPU_FLAGS, openCommands } from "../gpu.ts";
import { formatColumns } from "../table.ts";

function kernelRow({ kernel, shape, calls, timeUs, gflops, gbPerSecond }: KernelTiming): string[] {
  const rate = gflops === null
    ? `${gbPerSecond?.toFixed(1)} GB/s   `
    : `${gflops.toFixed(1)} GFLOP/s`;
  return [kernel, shape, String(calls), timeUs.toFixed(1), rate];
}

async function benchKernels(commands: Commands): Promise<Outcome> {
  const timer = await createTimer(commands);
  const { cases, rowCount, errors } = await prepareKernelBench(commands);
  const kernels: KernelTiming[] = [];
  using progress = stderrProgress({ label: "bench kernels", total: cases.length, alreadyDone: 0 });
  for (const [i, kernelCase] of cases.entries()) {
    progress.update(i, kernelCase.kernel);
    kernels.push(await timeKernel(timer, kernelCase));
  }
  progress.update(cases.length);
  const updateMs = kernels.reduce((sum, { calls, timeUs }) => sum + calls * timeUs, 0) / 1000;
  const { operandMemory } = commands.gpu;
  const adapter = adapterName(commands.gpu);
  const cpu = `${cpus()[0]?.model.trim()}, ${cpus().length} threads`;
  const { forward, gradient, weights } = errors;
  const facts = formatTable([
    ["adapter", adapter],
    ["CPU", cpu],
    ["operands", `in ${operandMemory} memory`],
    ["batch", `${rowCount} tokens, one update of TinyAgent: forward, backward, Adam`],
    [
      "checked",
      `against float64: log-probs off by ${forward.toExponential(1)}, ` +
      `gradient by ${gradient.toExponential(1)}, weights by ${weights.toExponential(1)}`,
    ],
  ]);
  const table = formatColumns(
    ["kernel", "shape", " calls", " time µs", " rate"],
    kernels.map(kernelRow),
  );
  const sum = `All calls of an update, one after the other: ${updateMs.toFixed(2)} ms`;
  return {
    document: { adapter, cpu, operandMemory, rowCount, errors, kernels, updateMs },
    text: [...facts, "", ...table, "", sum].join("\n"),
  };
}

/** What can be measured, by name. */
const SUITES = { kernels: benchKernels } as const satisfies Record<
  string,
  (commands: Commands) => Promise<Outcome>
>;

/** The command `bench`. */
export const command = defineCommand({
  flags: GPU_FLAGS,
  positionals: [Object.keys(SUITES).join("|")],
  async run(flags, [name = ""]) {
    const suite = Object.entries(SUITES).find(([known]) => known === name)?.[1];
    if (suite === undefined) {
      throw new UserError(`unknown benchmark "${name}": ${suggestName(name, Object.keys(SUITES))}`);
    }
    return await suite(await openCommands(flags));
  },
});
