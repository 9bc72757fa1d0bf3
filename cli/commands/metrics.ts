/** `agentrl metrics`: the metrics dictionary, ours or that of another trainer. */
import {
  HEALTHY_RANGES,
  HEALTHY_RANGES_FROM,
  type HealthyRange,
} from "../../src/faults/healthy_ranges.ts";
import { type MetricGroup, METRICS } from "../../src/rl/metric_dictionary.ts";
import type { MetricName } from "../../src/rl/metrics.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { producerById, PRODUCERS } from "../../src/producers/producers.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { describeProducer, producerDocument } from "../producer_table.ts";

/** The value of `--producer` that lists the others. */
const LIST = "list";

const GROUPS: Readonly<Record<MetricGroup, string>> = {
  outcome: "Outcome: what was reached",
  behaviour: "Behaviour: how",
  optimizer: "Optimizer: what the updates did",
  consistency: "Consistency: what must be a fixed value in a correct trainer",
};

/** The entries with their healthy ranges. */
const ENTRIES = (Object.keys(METRICS) as MetricName[]).map((name) => {
  const { group, formula, unit, flags } = METRICS[name];
  const healthy = HEALTHY_RANGES[name] ?? null;
  return [name, { group, formula, unit, healthy, flags }] as const;
});

function describeRange(range: HealthyRange | null): string {
  if (!range) return "not measured yet";
  const [low, high] = range;
  return low === high ? `${low}` : `${low} to ${high}`;
}

function describeGroup([group, title]: [string, string]): string[] {
  const rows = ENTRIES.filter(([, entry]) => entry.group === group).flatMap((
    [name, { formula, unit, healthy, flags }],
  ) =>
    [
      [name, `${formula} (${unit})`],
      ["", `healthy: ${describeRange(healthy)}`],
      ["", `departure: ${flags}`],
    ] as const
  );
  return [...wrapText(title, { columns: terminalColumns() }), ...formatTable(rows), ""];
}

function ourMetrics(): Outcome {
  const text = [
    ...Object.entries(GROUPS).flatMap(describeGroup),
    ...formatTable([["healthy", `the extremes over every step of ${HEALTHY_RANGES_FROM}`]]),
  ].join("\n");
  const metrics = Object.fromEntries(ENTRIES);
  return { document: { healthyRangesFrom: HEALTHY_RANGES_FROM, metrics }, text };
}

function listProducers(): Outcome {
  const rows = PRODUCERS.map(({ id, title }) => [id, title] as const);
  return {
    document: { producers: PRODUCERS.map(({ id, title, kind }) => ({ id, title, kind })) },
    text: formatTable(rows).join("\n"),
  };
}

/** The command `metrics`. */
export const command = defineCommand({
  flags: {
    producer: {
      kind: "string",
      choices: [LIST, ...PRODUCERS.map(({ id }) => id)],
      help: "what each key of another trainer's log measures; list names the trainers",
    },
  },
  run: ({ producer: id }) => {
    if (id === LIST) return Promise.resolve(listProducers());
    const producer = id === undefined ? undefined : producerById(id);
    return Promise.resolve(
      producer
        ? {
          document: producerDocument(producer),
          text: describeProducer(producer, terminalColumns()).join("\n"),
        }
        : ourMetrics(),
    );
  },
});
