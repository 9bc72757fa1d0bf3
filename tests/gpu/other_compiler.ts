/** A device whose compiler makes something else of the kernels' texts. */
import type { Gpu } from "../../src/gpu/device.ts";

/**
 * The same device with a compiler that begins with a change; its kernels are its own.
 *
 * @param change What the compiler takes instead of a text.
 */
export function withCompiler(gpu: Gpu, change: (code: string) => string): Gpu {
  const device = new Proxy(gpu.device, {
    get(target, key) {
      if (key === "createShaderModule") {
        return (module: GPUShaderModuleDescriptor) =>
          target.createShaderModule({ ...module, code: change(module.code) });
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { ...gpu, device, kernels: new Map(), arithmetic: { known: undefined } };
}
