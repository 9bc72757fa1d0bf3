/** `agentrl tune`: which layout of the kernels is fastest on this adapter, measured and kept for all commands. */
import { requireTrustedGpu } from "../../src/gpu/self_test.ts";
import { PROBE_EPISODES } from "../../src/tuning/measure.ts";
import { BENCH_ROWS } from "../../src/tuning/workload.ts";
import { machineFacts, machineRows, roundsRow } from "../bench/facts.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { GPU_FLAGS, openLayout } from "../gpu_layout.ts";
import { measureLayouts } from "../tuning.ts";
import { tuningDocument, tuningText } from "../tuning_text.ts";

/** The command `tune`. */
export const command = defineCommand({
  flags: {
    ...GPU_FLAGS,
    rounds: {
      kind: "integer",
      default: 5,
      min: 1,
      max: 1000,
      help: "measured rounds of each comparison, after one warm-up round",
    },
  },
  async run(flags) {
    const gpu = await openLayout(flags);
    await requireTrustedGpu(gpu);
    const machine = machineFacts(gpu);
    const { adapter: { description: adapter, isSoftware } } = gpu;
    gpu.device.destroy();
    const choice = await measureLayouts(flags, { adapter, isSoftware, rounds: flags.rounds });
    const text = [
      ...formatTable([
        ...machineRows(machine),
        roundsRow(flags.rounds),
        ["measured", `a rollout of ${PROBE_EPISODES} episodes, an update of ${BENCH_ROWS} tokens`],
      ]),
      "",
      ...tuningText(choice),
    ];
    const isRefused = choice.probes.some(({ refusal }) => refusal !== undefined);
    return {
      document: { ...machine, rounds: flags.rounds, ...tuningDocument(choice) },
      text: text.join("\n"),
      emphasis: [{ pattern: /\brefused\b/gm, style: "red" }],
      exitCode: isRefused ? 1 : 0,
    };
  },
});
