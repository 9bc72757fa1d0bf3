/** What a producer's keys are, for people: `agentrl metrics --producer NAME`. */
import { CANONICAL, type CanonicalMetric } from "../src/producers/definition.ts";
import type { MetricDefinition, Producer } from "../src/producers/definition.ts";
import { keyText } from "../src/producers/key_text.ts";
import { floorOf } from "../src/producers/shapes.ts";
import { wrapText as wrap } from "../src/core/wrap_text.ts";

const QUANTITIES = {
  abs_log_prob: "mean |Δ log p|",
  signed_log_prob: "mean Δ log p",
  k1: "k1",
  k1_sum: "k1, summed over the answer",
  k2: "k2",
  k3: "k3",
  half_square: "half the mean square",
  abs_probability: "mean |Δ p|",
  exp_abs_log_prob: "mean exp |Δ log p|",
  full: "of the whole distribution",
  sampled: "of the sampled tokens",
  sampled_sum: "of the sampled tokens, summed over the answer",
  chosen_at_runtime: "estimator by the settings",
  batch_std: "spread of the batch",
  group_std: "spread within groups",
  std_used_for_scaling: "the spread that scales",
  no_end_token: "no end token",
  at_cap: "as long as the cap",
  stopped_by_length: "stopped by a limit",
  plain: undefined,
} as const satisfies Record<MetricDefinition["quantity"], string | undefined>;

const WINDOWS = {
  step: undefined,
  mean: "mean since the last row",
  last: "last step before the row",
  mean_of_extremes: "mean of the steps' extremes",
} as const satisfies Record<MetricDefinition["window"], string | undefined>;

const OVER: Partial<Record<MetricDefinition["over"], string>> = {
  step: "one value per step",
  unknown: "averaged as the settings say",
};

function shapeOf(definition: MetricDefinition): string {
  const { quantity, over, window, unit, signed } = definition;
  return [
    QUANTITIES[quantity],
    OVER[over] ?? `over ${over}`,
    WINDOWS[window],
    unit === "1" ? undefined : unit,
    signed ? "signed" : undefined,
  ].filter((word) => word !== undefined).join(" · ");
}

function describeDefinition(
  definition: MetricDefinition,
  { producer, columns }: { readonly producer: Producer; readonly columns: number },
): string[] {
  const { key, says, zero, nan, decimals, eras } = definition;
  const floor = floorOf(definition);
  const titles = producer.eras.filter(({ id }) => eras?.includes(id)).map(({ title }) => title);
  const isOfAll = titles.length === producer.eras.length;
  const details = [
    says,
    ...(zero ? [`0: ${zero}`] : []),
    ...(nan ? [`NaN: ${nan}`] : []),
    ...(decimals === undefined ? [] : [`It is rounded to ${decimals} decimals.`]),
    ...(floor ? [`Healthy up to ${floor.healthy}, a look from ${floor.look}: ${floor.from}.`] : []),
    ...(eras && !isOfAll ? [`Only in logs ${titles.join("; ")}.`] : []),
  ];
  return [
    `  ${keyText(key)}`,
    ...wrap(shapeOf(definition), { indent: 4, columns }),
    ...details.flatMap((text) => wrap(text, { indent: 6, columns })),
  ];
}

function describePairs(
  title: string,
  { pairs, columns }: {
    readonly pairs: Readonly<Record<string, string>>;
    readonly columns: number;
  },
): string[] {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return [];
  return [
    title,
    ...entries.flatMap(([name, text]) => wrap(`${name}: ${text}`, { indent: 2, columns })),
    "",
  ];
}

/**
 * Lays out a producer's metrics by what they measure.
 *
 * @param producer The producer.
 * @param columns Columns to write for.
 * @returns Lines; a key that is longer than a line has a line of its own.
 */
export function describeProducer(producer: Producer, columns: number): string[] {
  const lines = [
    ...wrap(`${producer.title}: a step of its log is one ${producer.stepUnit}.`, {
      indent: 0,
      columns,
    }),
    "",
  ];
  for (const metric of Object.keys(CANONICAL) as CanonicalMetric[]) {
    const definitions = producer.definitions.filter((definition) => definition.metric === metric);
    if (definitions.length === 0) continue;
    lines.push(
      ...wrap(`${metric}: ${CANONICAL[metric]}`, { indent: 0, columns }),
      ...definitions.flatMap((definition) => describeDefinition(definition, { producer, columns })),
      "",
    );
  }
  lines.push(
    ...describePairs("Settings that log more", { pairs: producer.switchOn, columns }),
    ...describePairs("Names of its settings", { pairs: producer.knobs, columns }),
  );
  return lines.slice(0, -1);
}

/** A producer as plain data: the same as the table, patterns as people write them and as they are. */
export function producerDocument(producer: Producer) {
  const { id, title, kind, stepUnit, eras, definitions, switchOn, knobs } = producer;
  return {
    id,
    title,
    kind,
    stepUnit,
    eras: eras.map((era) => ({ id: era.id, title: era.title })),
    definitions: definitions.map(({ key, ...definition }) => ({
      key: keyText(key),
      ...(typeof key === "string" ? {} : { pattern: key.source }),
      ...definition,
    })),
    switchOn,
    knobs,
  };
}
