/** `agentrl live`: a page in which a browser trains the small agent, healthy and broken side by side. */
import { FAULT_NAMES } from "../../src/faults/faults.ts";
import { requireOutput } from "../../src/files/output.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { describeFault, LIVE_FAULT, LIVE_STEPS, prepareLive, writeLive } from "../live_page.ts";

/** Stands for no broken run. */
const NO_FAULT = "none";

/** The command `live`. */
export const command = defineCommand({
  flags: {
    out: { kind: "string", default: "live.html", help: "the file" },
    fault: {
      kind: "string",
      choices: [...FAULT_NAMES, NO_FAULT],
      default: LIVE_FAULT,
      help: "what is wrong with the second run at first; the page has a switch for each",
    },
    steps: {
      kind: "integer",
      default: LIVE_STEPS,
      min: 1,
      max: 100,
      help: "steps of both runs at first",
    },
    ...GPU_FLAGS,
  },
  async run({ out, fault: named, steps, seed, requireGpu }, _, machine = THIS_MACHINE) {
    // Before the work, not after it.
    requireOutput(out, { inputs: [] });
    const isReplaced = await prepareLive(out);
    const commands = await machine.openCommands({ requireGpu });
    const settings = { fault: FAULT_NAMES.find((name) => name === named), seed, steps };
    const { sizeBytes, parts } = await writeLive(out, { commands, settings });
    const { description: adapter } = commands.gpu.adapter;
    const replaced = isReplaced ? ", replaces the earlier page" : "";
    return {
      document: { out, sizeBytes, parts, settings: { ...settings, fault: named }, adapter },
      text: [
        `${out} (${Math.ceil(sizeBytes / 1000)} KB${replaced})`,
        "",
        ...formatTable([
          ["fault", describeFault(settings)],
          ["begins with", `seed ${seed}, ${steps} steps; the page can change all three`],
          ["without WebGPU", `it plays what was recorded here (${adapter})`],
        ]),
        "",
        `Open ${out} in a browser and press Start.`,
      ].join("\n"),
    };
  },
});
