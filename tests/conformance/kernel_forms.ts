/** Every kernel as the driver's compiler gets it: in both memories, with the constants that hosts set. */
import operandBuffer from "#shaders/operand_buffer.wgsl" with { type: "text" };
import operandTexture from "#shaders/operand_texture.wgsl" with { type: "text" };
import { compileKernel, type Gpu } from "../../src/gpu/device.ts";
import type { KernelSpec, OperandMemory } from "../../src/gpu/kernel.ts";
import { defaultTuning } from "../../src/gpu/tuning.ts";
import { allSpecs, tiledSpecs } from "../gpu/all_specs.ts";

/** What a page needs to compile a kernel; JSON. */
export interface KernelForm {
  /** Kernel, memory and constants. */
  readonly title: string;
  readonly entryPoint: string;
  readonly code: string;
}

/** Constants that choose other code than a text's defaults: wide heads, each storage of weights, other blocks. */
const OTHER_CONSTANTS = [
  { HEAD_WIDTH4: 16 },
  { HEAD_WIDTH4: 32 },
  { STORAGE: 0 },
  { STORAGE: 1 },
  { STORAGE: 2 },
  { BLOCK_ROWS: 4 },
  { BLOCK_ROWS: 8 },
  { BLOCK_ROWS: 4, BLOCK_COLUMNS4: 2, TILE_SLAB4: 8 },
  { BLOCK_ROWS: 2, BLOCK_COLUMNS4: 1 },
  { BLOCK_ROWS: 2, BLOCK_COLUMNS4: 2 },
  { WEIGHT_OUTPUTS4: 1, WEIGHT_COLUMNS4: 1 },
  { WEIGHT_OUTPUTS4: 2, WEIGHT_COLUMNS4: 1, SPREAD_LANES: 1 },
  { SLOTS: 1, BLOCK_ROWS: 1, BLOCK_COLUMNS4: 1 },
  { SLOTS: 4, BLOCK_ROWS: 2, BLOCK_COLUMNS4: 2 },
  { SLOTS: 4, BLOCK_ROWS: 2, BLOCK_COLUMNS4: 1, TRANSPOSED: 1 },
  { HEADS: 2, HEAD_WIDTH4: 8 },
  { SHARED_HEADS: 3, HEAD_WIDTH4: 10 },
  { SHARED_HEADS: 1, HEAD_WIDTH4: 64 },
];

/** Runs the compilation on a device that only writes down what it is asked for. */
function formOf(
  spec: KernelSpec,
  { memory, overrides }: {
    readonly memory: OperandMemory;
    readonly overrides: Readonly<Record<string, number>>;
  },
): KernelForm {
  let code = "";
  const device = {
    createBindGroupLayout: () => ({}),
    createShaderModule: (module: { readonly code: string }) => code = module.code,
    createPipelineLayout: () => ({}),
    createComputePipeline: () => ({}),
  };
  const tuning = { ...defaultTuning(memory === "texture"), operandMemory: memory };
  const gpu = { device, tuning, kernels: new Map() } as unknown as Gpu;
  const operands = { texture: operandTexture, buffer: operandBuffer };
  compileKernel(gpu, { spec, overrides, operands });
  const title = `${spec.name}, ${memory} ${JSON.stringify(overrides)}`;
  return { title, entryPoint: spec.name, code };
}

/** All kernels of the tree in all their forms, each text once. */
export async function kernelForms(): Promise<KernelForm[]> {
  const forms = new Map<string, KernelForm>();
  for (const spec of [...await allSpecs(), ...await tiledSpecs()]) {
    const text = [spec.wgsl, ...spec.shared].join("\n");
    const constants = OTHER_CONSTANTS.filter((values) =>
      Object.keys(values).every((name) => new RegExp(`^const ${name} = `, "m").test(text))
    );
    for (const memory of ["texture", "buffer"] as const) {
      for (const overrides of [{}, ...constants]) {
        const form = formOf(spec, { memory, overrides });
        const key = `${form.entryPoint} ${form.code}`;
        if (!forms.has(key)) forms.set(key, form);
      }
    }
  }
  return [...forms.values()];
}
