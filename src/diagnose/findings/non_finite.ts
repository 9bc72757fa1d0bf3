/** Rules about numbers that are not finite: which key broke first, and what only follows from it. */
import { seriesOf } from "../../logs/run_log.ts";
import type { CanonicalMetric } from "../../producers/definition.ts";
import type { Finding } from "../finding.ts";
import { type Curve, say } from "./curve.ts";
import { about, type Context, type Rule } from "./rule.ts";

/** The metrics that a run cannot go on without, in the order in which one makes the next not finite. */
const CORE: readonly CanonicalMetric[] = [
  "gap",
  "kl_old",
  "ratio",
  "advantage_mean",
  "kl_reference",
  "entropy",
  "loss",
  "value_loss",
  "grad_norm",
];

/** A key that has values that are not finite. */
interface Broken {
  readonly key: string;
  readonly metric: CanonicalMetric | undefined;
  readonly nan: string | undefined;
  /** Index into CORE, or its length; log-probs of unknown keys come before all. */
  readonly order: number;
  readonly firstStep: number;
  readonly value: number;
  readonly count: number;
  /** True where no finite value follows the first that is not. */
  readonly stays: boolean;
  /** True where a finite value came before. */
  readonly wasFinite: boolean;
}

function brokenKeys({ view }: Context): Broken[] {
  const definitions = new Map(
    CORE.concat("reward", "clip_fraction", "length").flatMap((metric) =>
      view.all(metric).map(({ key, definition }) => [key, definition] as const)
    ),
  );
  return [...view.log.columns.values()].flatMap((column): Broken[] => {
    if (!column.values.some((value, i) => !Number.isFinite(value) && !column.nulls.has(i))) {
      return [];
    }
    const series = seriesOf(view.log, column.key);
    if (!series) return [];
    const { values, isNull, steps } = series;
    const isBroken = (i: number) => !Number.isFinite(values[i]) && isNull[i] === 0;
    const first = values.findIndex((_, i) => isBroken(i));
    if (first < 0) return [];
    let count = 0, lastFinite = -1;
    values.forEach((value, i) => {
      if (isBroken(i)) count++;
      if (Number.isFinite(value)) lastFinite = i;
    });
    const definition = definitions.get(column.key);
    const metric = definition?.metric;
    const core = metric === undefined ? -1 : CORE.indexOf(metric);
    return [{
      key: column.key,
      metric,
      nan: definition?.nan,
      order: core >= 0 ? core : /log_?p/i.test(column.key) ? -1 : CORE.length,
      firstStep: steps[first],
      value: values[first],
      count,
      stays: lastFinite < first,
      wasFinite: lastFinite >= 0 && (lastFinite > first || first > 0),
    }];
  });
}

/** Rows that must be broken to the end before nothing can be right any more. */
const FOR_GOOD = 3;

function nonFinite(context: Context): readonly Finding[] {
  const broken = brokenKeys(context);
  const core = broken.filter(({ metric }) => metric !== undefined && CORE.includes(metric));
  // What was never finite is a statistic that is not defined here, unless it is the loss.
  const fatal = core.filter(({ stays, count, wasFinite, metric }) =>
    stays && count >= FOR_GOOD && (wasFinite || metric === "loss" || metric === "value_loss")
  );
  if (fatal.length > 0) {
    // What was never finite is undefined by itself (a variance over one rank), unless nothing of it ever was.
    const candidates = broken.filter(({ stays, wasFinite, metric }) =>
      stays && (wasFinite || metric !== undefined)
    ).sort((a, b) => a.firstStep - b.firstStep || a.order - b.order);
    const [origin, ...later] = candidates;
    const followers = later.slice(0, 3).map(({ key, firstStep }) =>
      `${key} from step ${say(firstStep)}`
    ).join(", ");
    return [{
      id: "non_finite",
      // A reward that rises past it shows that the numbers which train are others.
      class: context.isLearning && !fatal.some(({ wasFinite }) => wasFinite)
        ? "suspect"
        : "violated",
      ...(origin.metric ? { metric: origin.metric } : {}),
      key: origin.key,
      step: origin.firstStep,
      value: null,
      boundFrom: "finite weights on finite inputs give finite numbers",
      sentence: `${origin.key} is ${say(origin.value)} from step ${
        say(origin.firstStep)
      } to the end, the first to be so${
        followers === ""
          ? ""
          : `; then ${followers}${later.length > 3 ? ` and ${later.length - 3} more` : ""}`
      }: what follows is no longer a policy.`,
      alternatives: [
        ...(origin.nan ? [origin.nan] : []),
        "log-probs of tokens that the sampler's mask had excluded (−∞ minus −∞)",
        "a row without a trained token, divided by 0",
        "overflow in half precision",
      ],
      next: `Go back to a checkpoint before step ${
        say(origin.firstStep)
      } and look at ${origin.key} of that batch token by token.`,
    }];
  }
  const gravest = (one: Broken) => isSkipped(one) ? 1 : 0;
  const [origin, ...others] = core.toSorted((a, b) =>
    gravest(a) - gravest(b) || a.firstStep - b.firstStep || a.order - b.order
  );
  return origin ? [passing(origin, others)] : [];
}

/** Whether a value that is not finite is one that was left out: a skipped update, or a statistic that is not defined there. */
function isSkipped({ metric, nan, wasFinite, stays }: Broken): boolean {
  // Nothing leaves out a loss and does not come back to it.
  if (stays && (metric === "loss" || metric === "value_loss")) return false;
  return (metric === "grad_norm" || nan !== undefined || !wasFinite) && (!stays || !wasFinite);
}

/** What is to be said of keys that are not finite in a row or few. */
function passing(one: Broken, others: readonly Broken[]): Finding {
  const ends = !one.stays
    ? "; it is finite again afterwards"
    : one.wasFinite
    ? ", the last of the log"
    : ", which is all of them";
  const shown = others.slice(0, 3).map(({ key, firstStep }) =>
    firstStep === one.firstStep ? key : `${key} from step ${say(firstStep)}`
  ).join(", ");
  return {
    id: "non_finite",
    class: isSkipped(one) ? "note" : "suspect",
    ...(one.metric ? { metric: one.metric } : {}),
    key: one.key,
    step: one.firstStep,
    value: null,
    boundFrom: "finite weights on finite inputs give finite numbers",
    sentence: `${one.key} is ${say(one.value)} in ${say(one.count)} ${
      one.count === 1 ? "row" : "rows"
    }, first at step ${say(one.firstStep)}${ends}${
      shown === ""
        ? ""
        : `. So ${others.length === 1 ? "is" : "are"} ${shown}${
          others.length > 3 ? ` and ${others.length - 3} more` : ""
        }`
    }.`,
    alternatives: [
      ...(one.nan ? [one.nan] : []),
      ...(one.metric === "grad_norm" ? ["an update that was skipped by loss scaling (fp16)"] : []),
      "a batch in which no token was trained",
    ],
    next: `Look at the batch of step ${
      say(one.firstStep)
    }: first for completions without a trained token, then at ${one.key} token by token.`,
  };
}

/** Metrics that a trainer writes in every step, so that one of them missing is not an accident of another writer. */
const OF_EVERY_STEP: readonly CanonicalMetric[] = ["loss", "entropy", "gap", "grad_norm"];

/** A writer that leaves out what is not finite: a key stops appearing while the learning rate of the same writer goes on. */
function vanished(context: Context, rate: Curve): readonly Finding[] {
  if (!context.view.producer?.dropsNonFinite) return [];
  const gone = OF_EVERY_STEP.flatMap((metric) => context.curve(metric) ?? []).flatMap((curve) => {
    const last = curve.steps[curve.steps.length - 1];
    const missing = rate.steps.filter((step) => step > last);
    const isDense = curve.values.length >= 0.9 * (rate.values.length - missing.length);
    return isDense && missing.length >= FOR_GOOD && curve.series.axis === rate.series.axis
      ? [{ curve, step: missing[0], count: missing.length }]
      : [];
  }).sort((a, b) => a.step - b.step);
  const [first, ...others] = gone;
  if (!first) return [];
  const { curve, step, count } = first;
  return [{
    id: "non_finite",
    class: "suspect",
    ...about(curve),
    step,
    value: null,
    boundFrom: `${context.view.producer.title} leaves out what is not finite`,
    sentence: `${curve.key} stops appearing at step ${
      say(step)
    } while ${rate.key} goes on for ${count} rows${
      others.length === 0 ? "" : `, and so do ${others.map((one) => one.curve.key).join(", ")}`
    }: values that are NaN or infinite are not written.`,
    alternatives: ["the key was switched off at a restart"],
    next: `Go back to a checkpoint before step ${say(step)} and look at that batch token by token.`,
  }];
}

/** In the order in which they are tried. */
export const NON_FINITE_RULES: readonly Rule[] = [
  { ids: ["non_finite"], needs: [], judge: nonFinite },
  { ids: ["non_finite"], needs: [{ metric: "learning_rate" }], judge: vanished },
];
