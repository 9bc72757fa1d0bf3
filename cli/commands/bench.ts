/** `agentrl bench`: how fast things run here, after a check that they are right. */
import { cpus } from "node:os";
import { UserError } from "../../src/core/errors.ts";
import { suggestName } from "../../src/core/nearest.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import { type KernelTiming, prepareKernelBench, timeKernel } from "../../src/lab/kernel_bench.ts";
import { median } from "../../src/core/statistics.ts";
import { type CaseTiming, prepareStepBench, type StepCase } from "../../src/lab/step_bench.ts";
import { Peer } from "../../src/run/peer.ts";
import { stderrProgress } from "../../src/run/progress.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { type Flags, formatTable } from "../flags.ts";
import { adapterName, GPU_FLAGS, openCommands } from "../gpu.ts";
import { formatColumns } from "../table.ts";

function kernelRow({ kernel, shape, calls, timeUs, gflops, gbPerSecond }: KernelTiming): string[] {
  const rate = gflops === null
    ? `${gbPerSecond?.toFixed(1)} GB/s   `
    : `${gflops.toFixed(1)} GFLOP/s`;
  return [kernel, shape, String(calls), timeUs.toFixed(1), rate];
}

function cpuName(): string {
  return `${cpus()[0]?.model.trim()}, ${cpus().length} threads`;
}

async function benchKernels(commands: Commands): Promise<Outcome> {
  const timer = await createTimer(commands);
  const { cases, rowCount, errors } = await prepareKernelBench(commands);
  const kernels: KernelTiming[] = [];
  using progress = stderrProgress({ label: "bench kernels", total: cases.length, alreadyDone: 0 });
  for (const [i, kernelCase] of cases.entries()) {
    progress.update(i, kernelCase.kernel);
    kernels.push(await timeKernel(timer, kernelCase));
  }
  progress.update(cases.length);
  const updateMs = kernels.reduce((sum, { calls, timeUs }) => sum + calls * timeUs, 0) / 1000;
  const { operandMemory } = commands.gpu;
  const adapter = adapterName(commands.gpu);
  const cpu = cpuName();
  const { forward, gradient, weights } = errors;
  const facts = formatTable([
    ["adapter", adapter],
    ["CPU", cpu],
    ["operands", `in ${operandMemory} memory`],
    ["batch", `${rowCount} tokens, one update of TinyAgent: forward, backward, Adam`],
    [
      "checked",
      `against float64: log-probs off by ${forward.toExponential(1)}, ` +
      `gradient by ${gradient.toExponential(1)}, weights by ${weights.toExponential(1)}`,
    ],
  ]);
  const table = formatColumns(
    ["kernel", "shape", " calls", " time µs", " rate"],
    kernels.map(kernelRow),
  );
  const sum = `All calls of an update, one after the other: ${updateMs.toFixed(2)} ms`;
  return {
    document: { adapter, cpu, operandMemory, rowCount, errors, kernels, updateMs },
    text: [...facts, "", ...table, "", sum].join("\n"),
  };
}

/** A time for people: five characters are enough to compare. */
function shortMs(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toPrecision(3);
}

interface CaseResult {
  readonly oursMs: number;
  readonly peerMs: number | null;
  readonly ratio: number | null;
}

/** Medians over the rounds; the peer's faster number of threads counts. */
function summarize(ours: readonly number[], peers: readonly (readonly number[])[]): CaseResult {
  const oursMs = median(ours);
  const peerMs = peers.length === 0 ? null : Math.min(...peers.map((times) => median(times)));
  return { oursMs, peerMs, ratio: peerMs === null ? null : oursMs / peerMs };
}

async function benchStep(commands: Commands, flags: BenchFlags): Promise<Outcome> {
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
  const adapter = adapterName(commands.gpu);
  const cpu = cpuName();
  const rows = cases.map(({ title, isPerToken }, i) => {
    const { oursMs, peerMs, ratio } = results[i];
    const scale = isPerToken ? 1000 : 1;
    const unit = isPerToken ? "µs" : "ms";
    const shown = (ms: number | null) => ms === null ? "–" : `${shortMs(ms * scale)} ${unit}`;
    return [title, shown(oursMs), shown(peerMs), ratio === null ? "–" : ratio.toFixed(2)];
  });
  const text = [
    ...formatTable([
      ["adapter", adapter],
      ["CPU", cpu],
      ["rounds", `${flags.rounds}, interleaved; medians`],
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
    document: { adapter, cpu, rounds: flags.rounds, ...named, ...cost },
    text: text.join("\n"),
  };
}

/** What can be measured, by name. */
const SUITES = { kernels: benchKernels, step: benchStep } as const satisfies Record<
  string,
  (commands: Commands, flags: BenchFlags) => Promise<Outcome>
>;

const BENCH_FLAGS = {
  ...GPU_FLAGS,
  rounds: { kind: "integer", default: 7, min: 1, max: 1000, help: "measured rounds (step)" },
  peer: { kind: "string", default: "", help: "a program that times the same cases (step)" },
} as const satisfies Flags;

interface BenchFlags {
  readonly rounds: number;
  readonly peer: string;
}

/** The command `bench`. */
export const command = defineCommand({
  flags: BENCH_FLAGS,
  positionals: [Object.keys(SUITES).join("|")],
  async run(flags, [name = ""]) {
    const suite = Object.entries(SUITES).find(([known]) => known === name)?.[1];
    if (suite === undefined) {
      throw new UserError(`unknown benchmark "${name}": ${suggestName(name, Object.keys(SUITES))}`);
    }
    return await suite(await openCommands(flags), flags);
  },
});
