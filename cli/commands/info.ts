/** `agentrl info`: which WebGPU adapter is used, with its limits and features, and the versions. */
import denoConfig from "../../deno.json" with { type: "json" };
import { UserError } from "../../src/core/errors.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";

/** The limits that decide which models fit; the others stay at their defaults. */
const SHOWN_LIMITS = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxTextureDimension2D",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxStorageBuffersPerShaderStage",
] as const satisfies (keyof GPUSupportedLimits)[];

/** The command `info`. */
export const command = defineCommand({
  flags: {},
  async run() {
    const adapter = await navigator.gpu.requestAdapter();
    if (adapter === null) {
      throw new UserError(
        "no WebGPU adapter was found: install your GPU's Vulkan driver or, on Debian and Ubuntu, mesa-vulkan-drivers",
        1,
      );
    }
    const limits = Object.fromEntries(SHOWN_LIMITS.map((name) => [name, adapter.limits[name]]));
    const features = [...adapter.features].sort();
    const document = {
      adapter: adapter.info.description || adapter.info.device,
      software: adapter.info.isFallbackAdapter,
      limits,
      features,
      versions: { agentrl: denoConfig.version, deno: Deno.version.deno },
    };
    const text = formatTable([
      ["adapter", `${document.adapter}${document.software ? " (software)" : ""}`],
      ...Object.entries(limits).map(([name, value]) => [name, String(value)] as const),
      ["features", features.join(" ")],
      ["versions", `agentrl ${document.versions.agentrl}, deno ${document.versions.deno}`],
    ]).join("\n");
    return { document, text };
  },
});
