/** `agentrl metrics`: the metrics dictionary. */
import {
  HEALTHY_RANGES_FROM,
  type MetricEntry,
  type MetricGroup,
  METRICS,
} from "../../src/rl/metric_dictionary.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";

const GROUPS: Readonly<Record<MetricGroup, string>> = {
  outcome: "Outcome: what was reached",
  behaviour: "Behaviour: how",
  optimizer: "Optimizer: what the updates did",
  consistency: "Consistency: what must be a fixed value in a correct trainer",
};

function describeGroup([group, title]: [string, string]): string[] {
  const entries: [string, MetricEntry][] = Object.entries(METRICS);
  const rows = entries.filter(([, entry]) => entry.group === group).flatMap((
    [name, { formula, unit, healthy: [low, high], flags }],
  ) =>
    [
      [name, `${formula} (${unit})`],
      ["", `healthy: ${low === high ? low : `${low} to ${high}`}`],
      ["", `departure: ${flags}`],
    ] as const
  );
  return [title, ...formatTable(rows), ""];
}

/** The command `metrics`. */
export const command = defineCommand({
  flags: {},
  run: () => {
    const text = [
      ...Object.entries(GROUPS).flatMap(describeGroup),
      ...formatTable([["healthy", `the extremes of ${HEALTHY_RANGES_FROM}`]]),
    ].join("\n");
    return Promise.resolve({
      document: { healthyRangesFrom: HEALTHY_RANGES_FROM, metrics: METRICS },
      text,
    });
  },
});
