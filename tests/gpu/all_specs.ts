/** Every kernel of the tree, found by a walk, so that a new one joins the tests of all. */
import type { KernelSpec } from "../../src/gpu/kernel.ts";
import { hasTiles, tiledForm } from "../../src/kernels/product_tiles.ts";

const ROOT = new URL("../../", import.meta.url);

/** Names of the files of a folder with an extension, sorted. */
export function namesIn(folder: string, extension: string): string[] {
  return Array.from(Deno.readDirSync(new URL(folder, ROOT)), ({ name }) => name)
    .filter((name) => name.endsWith(extension)).sort();
}

function isSpec(value: unknown): value is KernelSpec {
  return typeof value === "object" && value !== null && "wgsl" in value && "bindings" in value;
}

/** Every spec that a file of src/kernels, src/gpu or src/bench exports. */
export async function allSpecs(): Promise<KernelSpec[]> {
  const specs: KernelSpec[] = [];
  for (const folder of ["src/kernels/", "src/gpu/", "src/bench/"]) {
    for (const name of namesIn(folder, ".ts")) {
      const module: Record<string, unknown> = await import(new URL(folder + name, ROOT).href);
      specs.push(...Object.values(module).filter(isSpec));
    }
  }
  return specs;
}

/** The forms in tiles of the kernels that have one. */
export async function tiledSpecs(): Promise<KernelSpec[]> {
  return (await allSpecs()).filter(hasTiles).map(tiledForm);
}
