/** Whether two series measure the same: a difference of definitions must never be taken for a difference of runs. */
import type { LogWindow, MetricDefinition } from "../producers/definition.ts";
import type { MeasuredSeries } from "../producers/run_view.ts";

/** What of two series is the same. */
export type DefinitionRelation =
  /** They measure the same. */
  | { readonly kind: "same" }
  /** They do not: their values cannot be compared. */
  | { readonly kind: "different"; readonly why: string }
  /** Nobody says whether they do. */
  | { readonly kind: "unknown"; readonly why: string };

/** Metrics whose plain mean is the same thing in every framework. Lengths are not: some count what tools answered. */
const PLAIN_EVERYWHERE: ReadonlySet<string> = new Set(["reward", "learning_rate"]);

/** A mean over a part of the samples is another quantity than one over all of them. */
const PART_OF_ALL = /filter|trained on|of the last|just ended/;

/** A reward after a penalty or a normalisation is another quantity than one before it. */
const AFTERWARDS = /\bafter\b.*(?:penalty|normalisation)/;

/** What a value of a row speaks of, where there is a row for every step. */
function windowOf(window: LogWindow, isEveryStep: boolean): string {
  if (window === "mean_of_extremes") return "the mean of each batch's extreme";
  return isEveryStep || window === "step" || window === "last"
    ? "the step itself"
    : "the steps since the last row";
}

function isEveryStep({ steps }: MeasuredSeries): boolean {
  for (let i = 1; i < steps.length; i++) if (steps[i] - steps[i - 1] !== 1) return false;
  return true;
}

/** `k3`, `abs_log_prob`, in words. */
const words = (name: string) => name.replaceAll("_", " ");

function fieldDifference(
  a: MeasuredSeries,
  b: MeasuredSeries,
): Exclude<DefinitionRelation, { readonly kind: "same" }> | undefined {
  const [one, two] = [a.definition, b.definition];
  const different = (what: string, first: string, second: string) => ({
    kind: "different" as const,
    why: `${what}: ${first} against ${second}`,
  });
  if (one.unit !== two.unit) return different("in another unit", one.unit, two.unit);
  if (one.quantity !== two.quantity) {
    if (one.quantity === "chosen_at_runtime" || two.quantity === "chosen_at_runtime") {
      return { kind: "unknown", why: "a setting that the log does not show decides what it is" };
    }
    return different("another quantity", words(one.quantity), words(two.quantity));
  }
  if (one.over !== two.over) {
    if (one.over === "unknown" || two.over === "unknown") {
      return { kind: "unknown", why: "the log does not tell what it is averaged over" };
    }
    return different("averaged over something else", one.over, two.over);
  }
  const windows = [windowOf(one.window, isEveryStep(a)), windowOf(two.window, isEveryStep(b))];
  if (windows[0] !== windows[1]) return different("over another stretch", windows[0], windows[1]);
  return undefined;
}

/** Definitions of two frameworks with equal fields: what their sentences say may still differ. */
function acrossFrameworks(one: MetricDefinition, two: MetricDefinition): DefinitionRelation {
  if (AFTERWARDS.test(one.says) !== AFTERWARDS.test(two.says)) {
    return { kind: "different", why: "one is before a penalty or normalisation, the other after" };
  }
  if (PART_OF_ALL.test(one.says) !== PART_OF_ALL.test(two.says)) {
    return { kind: "different", why: "one is over a part of the samples, the other over all" };
  }
  if (one.quantity === "plain" && !PLAIN_EVERYWHERE.has(one.metric)) {
    return { kind: "unknown", why: "two frameworks may count differently what goes into it" };
  }
  return { kind: "same" };
}

/**
 * Whether two series of one canonical metric measure the same.
 *
 * @param a A series.
 * @param b One of another run.
 * @param options.isSameFramework True where one framework wrote both: then another sentence is another definition.
 */
export function definitionRelation(
  a: MeasuredSeries,
  b: MeasuredSeries,
  { isSameFramework }: { readonly isSameFramework: boolean },
): DefinitionRelation {
  const [one, two] = [a.definition, b.definition];
  const difference = fieldDifference(a, b);
  if (difference || one.says === two.says) return difference ?? { kind: "same" };
  return isSameFramework
    ? {
      kind: "unknown",
      why: "they are two keys of one framework, each with a definition of its own",
    }
    : acrossFrameworks(one, two);
}
