/** `agentrl bench rollout`: rollouts by the number of their episodes, beside the roofline of the adapter. */
import type { RolloutDocument } from "../../src/bench/documents.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { bestPeak, type Peak, preparePeakBench } from "../../src/bench/peak.ts";
import {
  prepareRolloutBench,
  ROLLOUT_EPISODES,
  type RolloutRow,
  summarizeRollouts,
} from "../../src/bench/rollout.ts";
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
  shortMs,
} from "./facts.ts";
import { measureInRounds } from "./rounds.ts";

function rolloutRow(row: RolloutRow): string[] {
  return [
    grouped(row.episodes),
    shortMs(row.ms),
    grouped(row.tokensPerSecond),
    grouped(row.episodesPerSecond),
    row.usPerToken.toPrecision(3),
    percent(row.rooflineShare),
  ];
}

/** The most episodes of a rollout in a short measurement. */
const SHORT_EPISODES = 1024;

/** Runs the suite. */
export async function benchRollout(
  commands: Commands,
  { rounds, isShort = false }: BenchFlags,
): Promise<Outcome> {
  const counts = ROLLOUT_EPISODES.filter((count) => !isShort || count <= SHORT_EPISODES);
  const play = await prepareRolloutBench(commands, { agent: "plain" });
  const probe = preparePeakBench(await createTimer(commands));
  const peaks: Peak[] = [];
  const timings = await measureInRounds({
    label: "bench rollout",
    rounds,
    titles: counts.map((count) => `${count} episodes`),
    measure: (i, round) => play(counts[i], round),
    afterRound: async () => void peaks.push(await probe.measure()),
  });
  probe.destroy();
  const peak = bestPeak(peaks);
  const rollouts = counts.map((episodes, i) => summarizeRollouts(timings[i], { episodes, peak }));
  const machine = machineFacts(commands.gpu);
  const text = [
    ...formatTable([
      ...machineRows(machine),
      roundsRow(rounds),
      peakRow(peak),
      ["agent", "cloned on unskilled play; names shown, 6 turns"],
    ]),
    "",
    ...formatColumns(
      [" episodes", " ms", " tokens/s", " episodes/s", " µs per token", " of roofline"],
      rollouts.map(rolloutRow),
    ),
  ];
  return {
    document: { ...machine, rounds, rollouts, peak } satisfies RolloutDocument,
    text: text.join("\n"),
  };
}
