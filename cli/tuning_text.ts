/** What a search of the layout found, as JSON and as text: of `tune` and `bench all`. */
import type { PartTimes, Probe } from "../src/tuning/search.ts";
import { shortMs } from "./bench/facts.ts";
import { formatTable } from "./flags.ts";
import { describeLayout, PART_NAMES, tuningPath } from "./gpu_layout.ts";
import { formatColumns } from "./table.ts";
import { type LayoutChoice, speedup } from "./tuning.ts";

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
    fastest: { ...tuning },
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
