/** Deno.bench of every kernel at TinyAgent's shapes: `deno bench -A tests/bench/kernels_bench.ts`; `agentrl bench kernels` adds rates. */
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { createTimer, timeOnDevice } from "../../src/gpu/timing.ts";
import { prepareKernelBench } from "../../src/bench/kernels.ts";

/** Dispatches in one iteration, beside which the one readback that ends it is small. */
const REPEATS = 50;

const commands = new Commands(await openGpu());
const timer = await createTimer(commands);
// Throws where a kernel disagrees with the float64 reference.
const { cases } = await prepareKernelBench(commands);

for (const { kernel, shape, record } of cases) {
  Deno.bench({
    name: `${REPEATS} × ${kernel} ${shape}`,
    n: 5,
    warmup: 1,
    fn: async () => void await timeOnDevice(timer, () => record(REPEATS)),
  });
}
