/** `agentrl bench kernels`: every kernel of an update, checked against float64, then timed alone. */
import type { KernelsDocument } from "../../src/bench/documents.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { type KernelTiming, prepareKernelBench, timeKernel } from "../../src/bench/kernels.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import { machineFacts, machineRows } from "./facts.ts";

function kernelRow({ kernel, shape, calls, timeUs, gflops, gbPerSecond }: KernelTiming): string[] {
  const rate = gflops === null
    ? `${gbPerSecond?.toFixed(1)} GB/s   `
    : `${gflops.toFixed(1)} GFLOP/s`;
  return [kernel, shape, String(calls), timeUs.toFixed(1), rate];
}

/** What this version measures; documents of earlier ones may lack a part. */
type KernelsResult = KernelsDocument & {
  readonly errors: NonNullable<KernelsDocument["errors"]>;
};

/** Runs the suite. */
export async function benchKernels(commands: Commands): Promise<Outcome> {
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
  const document: KernelsResult = {
    ...machineFacts(commands.gpu),
    operandMemory: commands.gpu.tuning.operandMemory,
    rowCount,
    errors,
    kernels,
    updateMs,
  };
  return { document, text: describeKernels(document) };
}

/** What was measured, for a terminal. */
export function describeKernels(document: KernelsResult): string {
  const { operandMemory, rowCount, errors, kernels, updateMs } = document;
  const { forward, gradient, weights } = errors;
  const facts = formatTable([
    ...machineRows(document),
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
  const sum = wrapText(
    `All calls of an update, one after the other: ${updateMs.toFixed(2)} ms`,
    { columns: terminalColumns() },
  );
  return [...facts, "", ...table, "", ...sum].join("\n");
}
