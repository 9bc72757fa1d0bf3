/** `agentrl tune`: which layout of the kernels is fastest on this adapter, measured and kept for all commands. */
import { BENCH_ROWS } from "../../src/tuning/workload.ts";
import { requireTrustedGpu } from "../../src/gpu/self_test.ts";
import { PROBE_EPISODES, type ProbeRow } from "../../src/tuning/probe.ts";
import { machineFacts, machineRows, roundsRow, shortMs } from "../bench/facts.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { describeLayout, GPU_FLAGS, openLayout, tuningPath } from "../gpu_layout.ts";
import { formatColumns } from "../table.ts";
import { measureLayouts } from "../tuning.ts";

const HEADER = [
  "operands",
  " rows",
  " lanes",
  " decoder",
  " slots",
  " rollout",
  " update",
  "verdict",
];

function layoutRow(
  { tuning, rolloutMs, updateMs, refusal }: ProbeRow,
  isChosen: boolean,
): string[] {
  const { operandMemory, blockRows, productLanes, decoderLanes, slotCount } = tuning;
  const shown = (ms: number) => refusal === undefined ? `${shortMs(ms)} ms` : "–";
  return [
    operandMemory,
    ...[blockRows, productLanes, decoderLanes, slotCount].map(String),
    shown(rolloutMs),
    shown(updateMs),
    refusal === undefined ? isChosen ? "fastest" : "" : "refused",
  ];
}

/** The command `tune`. */
export const command = defineCommand({
  flags: {
    ...GPU_FLAGS,
    rounds: {
      kind: "integer",
      default: 5,
      min: 1,
      max: 1000,
      help: "measured rounds, after one warm-up round",
    },
  },
  async run(flags) {
    const gpu = await openLayout(flags);
    await requireTrustedGpu(gpu);
    const machine = machineFacts(gpu);
    const { adapter: { description: adapter } } = gpu;
    const { rows, tuning, problem } = await measureLayouts(flags, { adapter, ...flags });
    const text = [
      ...formatTable([
        ...machineRows(machine),
        roundsRow(flags.rounds),
        ["measured", `a rollout of ${PROBE_EPISODES} episodes, an update of ${BENCH_ROWS} tokens`],
      ]),
      "",
      ...formatColumns(HEADER, rows.map((row) => layoutRow(row, row.tuning === tuning))),
      "",
      ...formatTable([
        ["fastest", describeLayout(tuning)],
        ["kept", problem === undefined ? `in ${tuningPath()}` : `no: ${problem}`],
      ]),
    ];
    const layouts = rows.map(({ tuning, ...row }) => ({
      ...tuning,
      ...row,
      refusal: row.refusal ?? null,
    }));
    const document = {
      ...machine,
      rounds: flags.rounds,
      layouts,
      fastest: tuning,
      problem: problem ?? null,
    };
    const isRefused = rows.some(({ refusal }) => refusal !== undefined);
    return {
      document,
      text: text.join("\n"),
      emphasis: [{ pattern: /\brefused$/gm, style: "red" }],
      exitCode: isRefused ? 1 : 0,
    };
  },
});
