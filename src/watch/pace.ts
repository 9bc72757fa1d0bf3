/** How fast a run is and when it will be done, as far as its files tell. */
import { exists } from "../files/paths.ts";
import { lastRows } from "../files/file_tail.ts";
import type { RunView } from "../producers/run_view.ts";
import type { Pace } from "../report/watch_data.ts";

/** Rows of timing.jsonl that a pace is taken from, and bytes that they surely fit into. */
const TIMED_STEPS = 32;
const TIMING_BYTES = 16 * 2 ** 10;

/** A pause of a run that was stopped and taken up again: so many times the median step. */
const PAUSE_FACTOR = 10;

/** Steps and the moments at which they were there. */
interface Moment {
  readonly step: number;
  readonly atMs: number;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Milliseconds that a step takes, evaluations included and pauses left out; undefined: too few moments. */
export function stepMs(moments: readonly Moment[]): number | undefined {
  const gaps = moments.slice(1).flatMap(({ step, atMs }, i) => {
    const steps = step - moments[i].step;
    return steps > 0 && atMs > moments[i].atMs ? [{ steps, ms: atMs - moments[i].atMs }] : [];
  });
  if (gaps.length === 0) return undefined;
  const usual = median(gaps.map(({ steps, ms }) => ms / steps));
  const going = gaps.filter(({ steps, ms }) => ms / steps <= PAUSE_FACTOR * usual);
  const steps = going.reduce((sum, gap) => sum + gap.steps, 0);
  return steps === 0 ? undefined : going.reduce((sum, { ms }) => sum + ms, 0) / steps;
}

/**
 * The pace of a run of ours.
 *
 * @param timing Its timing.jsonl, which may be missing.
 * @param options.doneSteps Steps that it has made.
 * @param options.plannedSteps Steps of its configuration, as far as it is known.
 */
export function ownPace(
  timing: string,
  { doneSteps, plannedSteps }: {
    readonly doneSteps: number;
    readonly plannedSteps: number | undefined;
  },
): Pace {
  const rows = exists(timing) ? lastRows(timing, { maxBytes: TIMING_BYTES }) : [];
  const timed = rows.slice(-TIMED_STEPS);
  const rate = timed.map((row) => row.tokens_per_second).filter((value) =>
    typeof value === "number"
  ).at(-1);
  const moments = timed.flatMap(({ step, time }) =>
    typeof step === "number" && typeof time === "string" ? [{ step, atMs: Date.parse(time) }] : []
  ).filter(({ atMs }) => Number.isFinite(atMs));
  const ms = stepMs(moments);
  const stepsLeft = plannedSteps === undefined ? 0 : plannedSteps - doneSteps;
  return {
    ...(plannedSteps !== undefined && { plannedSteps }),
    ...(rate !== undefined && { tokensPerSecond: { value: rate, from: "of the last step" } }),
    ...(ms !== undefined && stepsLeft > 0 && {
      left: { durationMs: ms * stepsLeft, from: `by the last ${moments.length} steps` },
    }),
  };
}

/**
 * The pace of another trainer's run.
 *
 * @param view Its log.
 * @param seen When which step was first seen here, ascending.
 */
export function foreignPace(view: RunView, seen: readonly Moment[]): Pace {
  const rate = view.all("throughput").find(({ definition }) => definition.unit === "tokens/s");
  const value = rate?.values[rate.values.length - 1];
  const plannedSteps = view.settings.plannedSteps?.value;
  const last = view.steps[view.steps.length - 1];
  const stepsLeft = plannedSteps === undefined ? 0 : plannedSteps - last;
  const ms = stepMs(seen);
  return {
    ...(plannedSteps !== undefined && { plannedSteps }),
    ...(rate && value !== undefined && Number.isFinite(value) &&
      { tokensPerSecond: { value, from: rate.key } }),
    ...(ms !== undefined && stepsLeft > 0 &&
      { left: { durationMs: ms * stepsLeft, from: "as fast as it went while it was watched" } }),
  };
}
