/** One device for many copies of the sources: what two of them compile from the same text is compiled once. */
import type { Gpu } from "../../src/gpu/device.ts";

function memoized<Argument, Result>(
  make: (argument: Argument) => Result,
  keyOf: (argument: Argument) => string,
): (argument: Argument) => Result {
  const made = new Map<string, Result>();
  return (argument) => {
    const key = keyOf(argument);
    const known = made.get(key) ?? make(argument);
    made.set(key, known);
    return known;
  };
}

/** Lets a device hand out the same shader, layout and pipeline where they are described alike. Compiling takes longer than most runs. */
export function shareCompiled({ device }: Gpu): void {
  const numbers = new WeakMap<object, number>();
  let count = 0;
  const numberOf = (made: object) => {
    if (!numbers.has(made)) numbers.set(made, count++);
    return numbers.get(made);
  };
  device.createShaderModule = memoized(
    device.createShaderModule.bind(device),
    ({ code }) => code,
  );
  device.createBindGroupLayout = memoized(
    device.createBindGroupLayout.bind(device),
    (layout) => JSON.stringify(layout),
  );
  device.createPipelineLayout = memoized(
    device.createPipelineLayout.bind(device),
    ({ bindGroupLayouts }) =>
      Array.from(bindGroupLayouts, (layout) => layout && numberOf(layout)).join(),
  );
  device.createComputePipeline = memoized(
    device.createComputePipeline.bind(device),
    ({ layout, compute: { module, entryPoint, constants } }) =>
      JSON.stringify([
        typeof layout === "string" ? layout : numberOf(layout),
        numberOf(module),
        entryPoint,
        constants,
      ]),
  );
}

/** The device for a run of one copy: its kernels are its own, though their pipelines may be shared. */
export function ownKernels(gpu: Gpu): Gpu {
  return { ...gpu, kernels: new Map() };
}
