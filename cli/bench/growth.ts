/** `agentrl bench growth`: how the time of training grows, with the fitted exponents. */
import type { GrowthDocument } from "../../src/bench/documents.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { GROWTH_AXES, type GrowthCurve, measureGrowth } from "../../src/bench/growth.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import { type BenchFlags, machineFacts, machineRows, roundsRow, shortMs } from "./facts.ts";

function curveLines(curve: GrowthCurve): string[] {
  const { axis, unit, timed, sizes, ms, exponent, expected } = curve;
  return [
    "",
    `${axis}: ${timed}`,
    ...formatColumns([`  ${unit}`, ...sizes.map((size) => ` ${size}`)], [
      ["ms", ...ms.map(shortMs)],
    ]).map((line) => `  ${line}`),
    `  time ∝ ${axis}^${exponent.toFixed(2)}, operations ∝ ${axis}^${expected.toFixed(2)}`,
  ];
}

/** Runs the suite. */
export async function benchGrowth(
  commands: Commands,
  { rounds }: BenchFlags,
): Promise<Outcome> {
  const total = (rounds + 1) * GROWTH_AXES.reduce((sum, { sizes }) => sum + sizes.length, 0);
  using progress = stderrProgress({ label: "bench growth", total, alreadyDone: 0 });
  const curves: GrowthCurve[] = [];
  let done = 0;
  for (const axis of GROWTH_AXES) {
    const onMeasured = () => progress.update(++done, axis.axis);
    curves.push(await measureGrowth(commands, axis, { rounds, onMeasured }));
  }
  const machine = machineFacts(commands.gpu);
  const text = [
    ...formatTable([...machineRows(machine), roundsRow(rounds)]),
    ...curves.flatMap(curveLines),
  ];
  return {
    document: { ...machine, rounds, curves } satisfies GrowthDocument,
    text: text.join("\n"),
  };
}
