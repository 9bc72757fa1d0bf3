/** A kernel that adds to what is there, and a plan of it, for tests of recording. */
import { Commands, type Launch, type Plan } from "../../src/gpu/commands.ts";
import type { KernelSpec } from "../../src/gpu/kernel.ts";
import { createTensor } from "../../src/gpu/tensor.ts";
import { input, kernelOf, output } from "../../src/kernels/operands.ts";
import { testGpu } from "./gpu_test_device.ts";

/** y[i] = scale·x[i] + y[i]: enough to see order, parameters and repetition. */
export const ADD_SCALED: KernelSpec = {
  name: "add_scaled",
  wgsl: `struct Params { count: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn add_scaled(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { y[id.x] = fma(params.scale, x[id.x], y[id.x]); }
}`,
  shared: [],
  params: [["count", "u32"], ["scale", "f32"]],
  bindings: [input("x"), output("y")],
  overrides: [],
  iterations: (of) => of("turns"),
};

/** What a replay says. */
export interface Size {
  readonly scale: number;
  readonly launch?: Partial<Launch>;
}

/** Elements of x and y. */
export const COUNT = 100;
/** The content of x. */
export const X = Float32Array.from({ length: COUNT }, (_, i) => i + 1);

/** A device with x, y and the plan of the kernel over them; y starts at 0. */
export async function prepare() {
  const gpu = await testGpu();
  const commands = new Commands(gpu);
  const tensor = (label: string) => createTensor(gpu.device, { label, sizeBytes: COUNT * 4 });
  const x = tensor("x"), y = tensor("y");
  commands.write(x, X);
  commands.clear(y);
  const plan: Plan<Size> = commands.plan<Size>().add(kernelOf(gpu, ADD_SCALED), {
    bindings: { x, y },
    launch: ({ scale, launch }) => ({
      params: { count: COUNT, scale },
      workgroups: [2],
      sizes: { turns: 0 },
      ...launch,
    }),
  });
  const read = async () => {
    const [bytes] = await commands.read([{ tensor: y, sizeBytes: COUNT * 4 }]);
    return new Float32Array(bytes!);
  };
  return { gpu, commands, x, y, plan, read };
}
