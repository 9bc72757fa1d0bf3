/** The two drivers and the two compilers, crossed as far as they can be. */
import { openPage, withBrowser } from "../e2e/browser.ts";
import type { Conformance, ShortConformance } from "./measure.ts";
import type { FusedConformance } from "./measure_fused.ts";
import { withModules } from "./module_server.ts";

/** Where browsers keep the description of the Vulkan driver that they bring along. */
const DRIVER_FILES = [
  "/usr/lib/chromium/vk_swiftshader_icd.json",
  "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
  "/opt/google/chrome/vk_swiftshader_icd.json",
];

/** The browser's driver as a file that Vulkan's loader reads. @throws {Error} When there is none. */
export function swiftShaderFile(): string {
  const found = DRIVER_FILES.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return found;
  throw new Error("Cannot compare drivers: found no vk_swiftshader_icd.json; install Chromium");
}

/** Which measurements: all, the self-test, the sampler and the forward pass, or these with an fma that rounds once. */
export type Extent = "whole" | "short" | "fused";

/** What an extent's measurements find. */
export type Measured<E extends Extent> = E extends "whole" ? Conformance
  : E extends "short" ? ShortConformance
  : FusedConformance;

/**
 * Measures in a process of its own, since a process opens its Vulkan drivers once.
 * @param driverFile The Vulkan driver (default: what the machine has).
 */
export async function measureInDeno<E extends Extent>(
  extent: E,
  driverFile?: string,
): Promise<Measured<E>> {
  const program = new URL("in_deno.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "-A", program, extent],
    env: driverFile === undefined ? {} : { VK_DRIVER_FILES: driverFile },
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** What a page measures. */
type InBrowser = Exclude<Extent, "fused">;

/** Runs in the page. */
async function measureHere(extent: InBrowser, modulePath: string, checkpointPath: string) {
  const { measure, measureShort } = await import(modulePath);
  const checkpoint = new Uint8Array(await (await fetch(checkpointPath)).arrayBuffer());
  return await (extent === "short" ? measureShort : measure)(checkpoint);
}

/** Measures in a page of Chromium, by its own compiler on its own software driver. */
export async function measureInBrowser<E extends InBrowser>(extent: E): Promise<Measured<E>> {
  const found = Promise.withResolvers<Measured<E>>();
  await withModules((url) =>
    withBrowser(async (browser) => {
      const { page } = await openPage(browser, { url, own: url });
      const module = "/tests/conformance/measure.ts";
      const checkpoint = "/tests/golden/model.safetensors";
      found.resolve(await page.evaluate(measureHere, extent, module, checkpoint));
    }, { webGpu: true })
  );
  return await found.promise;
}
