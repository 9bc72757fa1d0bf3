/** `agentrl info`: which WebGPU adapter computes and whether it can be trusted, what it can do, and the versions. */
import { adapterFacts, adapterText } from "../adapter_facts.ts";
import { defineCommand } from "../command.ts";
import { openFlaggedGpu } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";

/** The command `info`. */
export const command = defineCommand({
  flags: GPU_FLAGS,
  async run(flags) {
    const opened = await openFlaggedGpu(flags);
    const document = await adapterFacts(opened);
    return {
      document,
      text: adapterText(opened, document).join("\n"),
      emphasis: [{ pattern: /\bFAILED\b/g, style: "red" }],
      exitCode: document.trusted ? 0 : 1,
    };
  },
});
