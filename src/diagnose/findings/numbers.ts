/** Rules about the numbers themselves: what is not finite, and what cannot be what its name says. */
import type { Finding } from "../finding.ts";
import type { CanonicalMetric, Quantity } from "../../producers/definition.ts";
import { seriesOf } from "../../logs/run_log.ts";
import { byStep, type Curve, middle, say } from "./curve.ts";
import { about, type Context, type Rule } from "./rule.ts";
import { flatnessOf } from "./signal.ts";

/** The metrics that a run cannot go on without, in the order in which one makes the next not finite. */
const CORE: readonly CanonicalMetric[] = [
  "gap",
  "kl_old",
  "ratio",
  "advantage_mean",
  "kl_reference",
  "entropy",
  "loss",
  "grad_norm",
];

/** A key that has values that are not finite. */
interface Broken {
  readonly key: string;
  readonly metric: CanonicalMetric | undefined;
  readonly nan: string | undefined;
  /** Index into CORE, or behind it; log-probs of unknown keys come before all. */
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
    stays && count >= FOR_GOOD && (wasFinite || metric === "loss")
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
      }: what follows is not a policy any more.`,
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
  return core.flatMap((one): Finding[] => {
    const isSkipped = one.metric === "grad_norm" || one.nan !== undefined || !one.wasFinite;
    const ends = one.stays ? ", the last rows of the log" : "; it is finite again afterwards";
    return [{
      id: "non_finite",
      class: isSkipped && (!one.stays || !one.wasFinite) ? "note" : "suspect",
      ...(one.metric ? { metric: one.metric } : {}),
      key: one.key,
      step: one.firstStep,
      value: null,
      boundFrom: "finite weights on finite inputs give finite numbers",
      sentence: `${one.key} is ${say(one.value)} in ${one.count} ${
        one.count === 1 ? "row" : "rows"
      }, first at step ${say(one.firstStep)}${ends}.`,
      alternatives: [
        ...(one.nan ? [one.nan] : []),
        ...(one.metric === "grad_norm"
          ? ["an update that was skipped by loss scaling (fp16)"]
          : []),
        "a batch in which no token was trained",
      ],
      next: `Look at the batch of step ${say(one.firstStep)}.`,
    }];
  }).slice(0, 3);
}

/** Metrics that a trainer writes in every step, so that one of them missing is no accident of another writer. */
const OF_EVERY_STEP: readonly CanonicalMetric[] = ["loss", "entropy", "gap", "grad_norm"];

/** A writer that leaves out what is not finite: a key stops to come while the learning rate of the same writer goes on. */
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
    sentence: `${curve.key} stops to come at step ${
      say(step)
    } while ${rate.key} goes on for ${count} rows${
      others.length === 0 ? "" : `, and so do ${others.map((one) => one.curve.key).join(", ")}`
    }: values that are NaN or infinite are not written.`,
    alternatives: ["the key was switched off at a restart"],
    next: `Go back to a checkpoint before step ${say(step)} and look at that batch token by token.`,
  }];
}

/** Rows that must contradict: one alone can be a slip of the writer. */
const LEAST_ROWS = 3;

function contradiction(
  curve: Curve,
  { index, bound, boundFrom, sentence, next }: {
    readonly index: number;
    readonly bound: number;
    readonly boundFrom: string;
    readonly sentence: string;
    readonly next: string;
  },
): Finding {
  return {
    id: "metrics_contradict",
    class: "suspect",
    ...about(curve),
    step: curve.steps[index],
    value: curve.values[index],
    bound,
    boundFrom,
    sentence,
    alternatives: ["the key has another meaning in this version than its name says"],
    next,
  };
}

/** Indices of values that fulfil a condition, where they are enough. */
function rowsWhere(
  { values }: Curve,
  condition: (value: number, index: number) => boolean,
): number[] {
  const rows: number[] = [];
  values.forEach((value, i) => {
    if (condition(value, i)) rows.push(i);
  });
  return rows.length >= LEAST_ROWS ? rows : [];
}

const SHARES: readonly CanonicalMetric[] = [
  "flat_groups",
  "all_solved",
  "none_solved",
  "truncated",
  "clip_fraction",
  "errors",
  "masked_by_correction",
];

function impossibleShares(context: Context): readonly Finding[] {
  return SHARES.flatMap((metric) => context.curves(metric)).flatMap((curve) => {
    if (curve.series.definition.unit !== "share") return [];
    const [index] = rowsWhere(curve, (value) => value > 1.001 || value < -0.001);
    if (index === undefined) return [];
    return [contradiction(curve, {
      index,
      bound: 1,
      boundFrom: "a share lies between 0 and 1",
      sentence: `${curve.key} is ${say(curve.values[index])} at step ${
        say(curve.steps[index])
      }, but a share lies between 0 and 1: it counts or sums something, and is not used here.`,
      next: "Read it as a count or as per cent.",
    })];
  });
}

/** The largest entropy of a token is the logarithm of the size of the vocabulary; no model has a million tokens. */
const LARGEST_ENTROPY = Math.log(1e6);

const NEVER_NEGATIVE: readonly Quantity[] = [
  "k2",
  "k3",
  "half_square",
  "full",
  "abs_log_prob",
  "abs_probability",
];

function impossibleSizes(context: Context): readonly Finding[] {
  const found: Finding[] = [];
  for (const metric of ["kl_reference", "entropy", "gap", "grad_norm"] as const) {
    for (const curve of context.curves(metric)) {
      const { definition } = curve.series;
      const mustBePositive = metric === "grad_norm" ||
        (!definition.signed && NEVER_NEGATIVE.includes(definition.quantity));
      const size = Math.max(middle(curve.values.map(Math.abs)), 1e-12);
      const [index] = mustBePositive
        ? rowsWhere(curve, (value) => value < -0.01 * size - 1e-6)
        : [];
      if (index !== undefined) {
        found.push(contradiction(curve, {
          index,
          bound: 0,
          boundFrom: "it cannot be negative by its definition",
          sentence: `${curve.key} is ${say(curve.values[index])} at step ${
            say(curve.steps[index])
          }: it cannot be negative, so that it is not what its name says.`,
          next: "Look up how it is computed before you rely on it.",
        }));
      }
      const [wide] = metric === "entropy" && definition.quantity === "full"
        ? rowsWhere(curve, (value) => value > LARGEST_ENTROPY)
        : [];
      if (wide !== undefined) {
        found.push(contradiction(curve, {
          index: wide,
          bound: LARGEST_ENTROPY,
          boundFrom: "the logarithm of a million tokens",
          sentence: `${curve.key} is ${say(curve.values[wide])} at step ${
            say(curve.steps[wide])
          }, more than a token of any vocabulary can have: it is a sum over tokens or micro-batches, and no mean.`,
          next: "Divide it by what it is summed over; the training itself need not be wrong.",
        }));
      }
    }
  }
  return found;
}

function meanAboveMax(_context: Context, length: Curve, longest: Curve): readonly Finding[] {
  if (length.series.part !== longest.series.part) return [];
  const maxima = byStep(longest, length);
  const [index] = rowsWhere(
    length,
    (value, i) => value > 1.01 * (maxima.get(length.steps[i]) ?? Infinity),
  );
  if (index === undefined) return [];
  const max = maxima.get(length.steps[index]) ?? NaN;
  return [contradiction(length, {
    index,
    bound: max,
    boundFrom: `${longest.key} of the same row`,
    sentence: `${length.key} is ${say(length.values[index])} at step ${
      say(length.steps[index])
    }, and ${longest.key} only ${
      say(max)
    }: a mean above the maximum, so that they do not measure the same answers.`,
    next: "Do not compare the two; the training itself need not be wrong.",
  })];
}

/** A spread of rewards that is no rounding. */
const CLEAR_SPREAD = 1e-2;

function flatButSpread(context: Context, spread: Curve): readonly Finding[] {
  const flatness = flatnessOf(context);
  if (!flatness || flatness.by === "spread") return [];
  const flat = byStep({ ...flatness.curve, values: flatness.shares }, spread);
  const rows = rowsWhere(spread, (value, i) => {
    const share = flat.get(spread.steps[i]);
    return share !== undefined && (share === 1 ? value > CLEAR_SPREAD : share === 0 && value === 0);
  });
  if (rows.length < 5) return [];
  const [index] = rows;
  const share = flat.get(spread.steps[index]) ?? NaN;
  return [contradiction(spread, {
    index,
    bound: 0,
    boundFrom: "a group of equal rewards has a spread of 0, and any other has not",
    sentence: `${flatness.curve.key} is ${say(share)} at step ${
      say(spread.steps[index])
    } while ${spread.key} is ${
      say(spread.values[index])
    } (${rows.length} such rows): they cannot both be about the same groups.`,
    next: "Check which rewards each of the two is taken from, and over which group.",
  })];
}

/** Two keys of one quantity may differ by when and over what they are taken; beyond this factor they differ in what they are. */
const SAME_QUANTITY = 1.5;

function scaledTwins(context: Context): readonly Finding[] {
  return (["entropy", "kl_reference"] as const).flatMap((metric): Finding[] => {
    const [first, ...others] = context.curves(metric).filter(({ series: { definition } }) =>
      definition.quantity !== "chosen_at_runtime" && definition.quantity !== "k1_sum"
    );
    if (!first) return [];
    return others.filter(({ series: { definition } }) =>
      definition.quantity === first.series.definition.quantity
    ).flatMap((other): Finding[] => {
      const values = byStep(first, other);
      const ratios = Array.from(
        other.values,
        (value, i) => value / (values.get(other.steps[i]) ?? NaN),
      )
        .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
      if (ratios.length < 5) return [];
      const ratio = middle(ratios);
      const scatter = middle(ratios.map((one) => Math.abs(one / ratio - 1)));
      if (scatter > 0.1 || (ratio < SAME_QUANTITY && ratio > 1 / SAME_QUANTITY)) return [];
      const factor = ratio > 1 ? ratio : 1 / ratio;
      return [{
        id: "metrics_contradict",
        class: "note",
        ...about(other),
        step: other.steps[0],
        value: other.values[0],
        bound: first.values[0],
        boundFrom: `${first.key} of the same row`,
        sentence:
          `${other.key} is steadily ${say(factor)} times as ${
            ratio > 1 ? "large" : "small"
          } as ${first.key}, ` +
          "which measures the same: one of them is scaled in logging (by micro-batches or ranks), and the training need not be wrong.",
        next: "Compare the factor with the number of micro-batches of a step.",
      }];
    });
  });
}

/** In the order in which they are tried. */
export const NUMBER_RULES: readonly Rule[] = [
  { ids: ["non_finite"], needs: [], judge: nonFinite },
  { ids: ["non_finite"], needs: [{ metric: "learning_rate" }], judge: vanished },
  { ids: ["metrics_contradict"], needs: [], judge: impossibleShares },
  { ids: ["metrics_contradict"], needs: [], judge: impossibleSizes },
  {
    ids: ["metrics_contradict"],
    needs: [{ metric: "length" }, { metric: "length_max" }],
    judge: meanAboveMax,
  },
  {
    ids: ["metrics_contradict"],
    needs: [{ metric: "reward_std", quantity: ["group_std", "std_used_for_scaling"] }],
    judge: flatButSpread,
  },
  { ids: ["metrics_contradict"], needs: [], judge: scaledTwins },
];
