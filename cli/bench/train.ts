/** `agentrl bench train`: one training step, split into its phases. */
import type { TrainDocument } from "../../src/bench/documents.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { bestPeak, type Peak, preparePeakBench } from "../../src/bench/peak.ts";
import {
  prepareTrainBench,
  summarizeTraining,
  type TrainBench,
  type TrainRow,
} from "../../src/bench/train.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import {
  type BenchFlags,
  grouped,
  machineFacts,
  machineRows,
  peakRow,
  percent,
  roundsRow,
} from "./facts.ts";
import { measureInRounds } from "./rounds.ts";

/** What is measured: the default step of each algorithm from its base agent. */
const STEPS = [
  { algorithm: "reinforce", agent: "plain", title: "REINFORCE, 64 episodes" },
  { algorithm: "grpo", agent: "rl", title: "GRPO, 8 × 8 episodes, 2 minibatches" },
] as const;

function stepLines(row: TrainRow, title: string): string[] {
  const { ms, phases, phasesMs, tokensPerSecond, rooflineShare } = row;
  return [
    "",
    ...formatColumns([title, " ms", " share"], [
      ...phases.map((phase) => [phase.phase, phase.ms.toFixed(2), percent(phase.share)]),
      ["sum of the phases", phasesMs.toFixed(2), percent(phasesMs / ms)],
      ["whole step", ms.toFixed(2), "100 %"],
    ]),
    `${grouped(tokensPerSecond)} tokens/s trained, ` +
    `${percent(rooflineShare)} of the roofline`,
  ];
}

/** Runs the suite. */
export async function benchTrain(
  commands: Commands,
  { rounds }: BenchFlags,
): Promise<Outcome> {
  const timer = await createTimer(commands);
  const benches: TrainBench[] = [];
  for (const step of STEPS) benches.push(await prepareTrainBench(timer, step));
  const probe = preparePeakBench(timer);
  const peaks: Peak[] = [];
  const timings = await measureInRounds({
    label: "bench train",
    rounds,
    titles: STEPS.map(({ title }) => title),
    measure: (i) => benches[i].measure(),
    afterRound: async () => void peaks.push(await probe.measure()),
  });
  probe.destroy();
  const peak = bestPeak(peaks);
  const steps = benches.map(({ algorithm }, i) =>
    summarizeTraining(timings[i], { algorithm, peak })
  );
  const machine = machineFacts(commands.gpu);
  const text = [
    ...formatTable([
      ...machineRows(machine),
      roundsRow(rounds),
      peakRow(peak),
      ["phases", "rollout and host by the wall clock in the step, device passes by timestamps"],
    ]),
    ...steps.flatMap((row, i) => stepLines(row, STEPS[i].title)),
  ];
  return {
    document: { ...machine, rounds, peak, steps } satisfies TrainDocument,
    text: text.join("\n"),
  };
}
