/** `agentrl tune`: which layout of the kernels is fastest on this adapter, measured and kept for all commands. */
import { requireTrustedGpu } from "../../src/gpu/self_test.ts";
import { PROBE_EPISODES } from "../../src/tuning/measure.ts";
import type { PartTimes, Probe } from "../../src/tuning/search.ts";
import { BENCH_ROWS } from "../../src/tuning/workload.ts";
import { machineFacts, machineRows, roundsRow, shortMs } from "../bench/facts.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { describeLayout, GPU_FLAGS, openLayout, PART_NAMES, tuningPath } from "../gpu_layout.ts";
import { formatColumns } from "../table.ts";
import { type LayoutChoice, measureLayouts, speedup } from "../tuning.ts";

const HEADER = ["value", " from", " to", "of", " ms", " ratio", "verdict"];

function probeRow({ name, part, from, to, bestMs, ms, isKept, refusal }: Probe): string[] {
  const isRefused = refusal !== undefined;
  return [
    PART_NAMES[name],
    String(from),
    String(to),
    part,
    isRefused ? "–" : shortMs(ms),
    isRefused ? "–" : speedup(bestMs, ms),
    isRefused ? "refused" : isKept ? "kept" : "",
  ];
}

function partText({ startMs, ms }: PartTimes): string {
  return `${shortMs(startMs)} → ${shortMs(ms)} ms, ${speedup(startMs, ms)}`;
}

/** What a search found, for JSON. */
export function tuningDocument({ start, tuning, probes, times, problem }: LayoutChoice) {
  return {
    start,
    probes: probes.map(({ bestMs, ms, refusal, ...probe }) => ({
      ...probe,
      bestMs: refusal === undefined ? bestMs : null,
      ms: refusal === undefined ? ms : null,
      refusal: refusal ?? null,
    })),
    fastest: tuning,
    times,
    problem: problem ?? null,
  };
}

/** What a search found, for people. */
export function tuningText({ tuning, probes, times, problem }: LayoutChoice): string[] {
  const refused = probes.flatMap(({ name, to, refusal }) =>
    refusal === undefined ? [] : [["refused", `${PART_NAMES[name]} ${to}: ${refusal}`] as const]
  );
  return [
    ...formatColumns(HEADER, probes.map(probeRow)),
    "",
    ...formatTable([
      ...refused,
      ...Object.entries(times).map(([part, of]) => [part, partText(of)] as const),
      ["fastest", describeLayout(tuning)],
      ["kept", problem === undefined ? `in ${tuningPath()}` : `no: ${problem}`],
    ]),
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
