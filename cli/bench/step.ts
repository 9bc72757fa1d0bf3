/** `agentrl bench step`: whole steps, runs and rollouts, beside a peer program that times the same cases. */
import { median, smallest } from "../../src/core/statistics.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { type CaseTiming, prepareStepBench, type StepCase } from "../../src/bench/step.ts";
import { Peer } from "../../src/bench/peer.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import { type BenchFlags, machineFacts, machineRows, roundsRow, shortMs } from "./facts.ts";

interface CaseResult {
  readonly oursMs: number;
  readonly peerMs: number | null;
  readonly ratio: number | null;
}

/** Medians over the rounds; the peer's faster number of threads counts. */
function summarize(ours: readonly number[], peers: readonly (readonly number[])[]): CaseResult {
  const oursMs = median(ours);
  const peerMs = peers.length === 0 ? null : smallest(peers.map((times) => median(times)));
  return { oursMs, peerMs, ratio: peerMs === null ? null : oursMs / peerMs };
}

/** Runs the suite. */
export async function benchStep(commands: Commands, flags: BenchFlags): Promise<Outcome> {
  const { cases, measureCost } = await prepareStepBench(commands);
  const peers = flags.peer === ""
    ? []
    : [await Peer.start(flags.peer, 1), await Peer.start(flags.peer, 2)];
  const ours = cases.map((): number[] => []);
  const theirs = cases.map(() => peers.map((): number[] => []));
  const perCase = (stepCase: StepCase, { ms, tokens }: CaseTiming) =>
    stepCase.isPerToken ? ms / tokens : ms;
  // The first round warms everything up and is not counted.
  const rounds = flags.rounds + 1;
  using progress = stderrProgress({
    label: "bench step",
    total: rounds * cases.length,
    alreadyDone: 0,
  });
  for (let round = 0; round < rounds; round++) {
    for (const [i, stepCase] of cases.entries()) {
      progress.update(round * cases.length + i, stepCase.title);
      const own = perCase(stepCase, await stepCase.run(round));
      if (round > 0) ours[i].push(own);
      for (const [p, peer] of peers.entries()) {
        const answer = perCase(stepCase, await peer.ask(stepCase.peerCase));
        if (round > 0) theirs[i][p].push(answer);
      }
    }
  }
  progress.update(rounds * cases.length);
  for (const peer of peers) await peer.close();
  const cost = await measureCost();
  const results = cases.map((_, i) => summarize(ours[i], theirs[i]));
  const machine = machineFacts(commands.gpu);
  const rows = cases.map(({ title, isPerToken }, i) => {
    const { oursMs, peerMs, ratio } = results[i];
    const scale = isPerToken ? 1000 : 1;
    const unit = isPerToken ? "µs" : "ms";
    const shown = (ms: number | null) => ms === null ? "–" : `${shortMs(ms * scale)} ${unit}`;
    return [title, shown(oursMs), shown(peerMs), ratio === null ? "–" : ratio.toFixed(2)];
  });
  const text = [
    ...formatTable([
      ...machineRows(machine),
      roundsRow(flags.rounds),
      [
        "a step",
        `${cost.submitsPerStep} submits, ${cost.readbacksPerStep} readbacks, ` +
        `${cost.hostMs.toFixed(1)} ms of host time`,
      ],
    ]),
    "",
    ...formatColumns(["case", " ours", " peer", " ratio"], rows),
  ];
  const named = Object.fromEntries(cases.map(({ key, isPerToken }, i) => {
    const { oursMs, peerMs, ratio } = results[i];
    return [
      key,
      isPerToken ? { oursMsPerToken: oursMs, peerMsPerToken: peerMs, ratio } : results[i],
    ];
  }));
  return {
    document: { ...machine, rounds: flags.rounds, ...named, ...cost },
    text: text.join("\n"),
  };
}
