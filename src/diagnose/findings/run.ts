/** Rules about the run as a whole: restarts, what the file has lost, an early end, too few rows. */
import type { Seam } from "../../logs/run_log.ts";
import { setting } from "../../core/mention.ts";
import type { Finding } from "../finding.ts";
import { type Curve, lastQuarter, LEAST_FOR_TREND, middle, say } from "./curve.ts";
import { about, type Context, percent, type Rule, stepsText, SURE } from "./rule.ts";

/** Rows on each side of a seam that are compared. */
const SIDE = 8;

/** Medians of a curve before and after a step, with the spread on both sides. */
function aroundStep({ steps, values }: Curve, step: number) {
  let at = steps.findIndex((one) => one >= step);
  if (at < 0) at = steps.length;
  const before = values.subarray(Math.max(0, at - SIDE), at),
    after = values.subarray(at, at + SIDE);
  if (before.length < 3 || after.length < 3) return undefined;
  const spreadOf = (part: Float64Array) => {
    const center = middle(part);
    return 1.4826 * middle(part.map((value) => Math.abs(value - center)));
  };
  return {
    before: middle(before),
    after: middle(after),
    last: values[at - 1],
    first: values[at],
    noise: Math.max(spreadOf(before), spreadOf(after)),
    key: steps[at],
  };
}

/** What jumps at a restart, in words; empty where nothing does. */
function jumpsAt(
  context: Context,
  step: number,
): { readonly curve: Curve; readonly text: string; readonly value: number }[] {
  const jumps: { curve: Curve; text: string; value: number }[] = [];
  const rate = context.curve("learning_rate");
  const rates = rate?.series.axis === 0 ? aroundStep(rate, step) : undefined;
  // A schedule moves by little from a row to the next; one that starts over jumps up, or back into its warm-up.
  if (rate && rates && rates.last > 0) {
    const factor = rates.first / rates.last;
    const top = rate.values.reduce((most, value) => Math.max(most, value), 0);
    const isLarge = Math.abs(rates.first - rates.last) > 0.1 * top;
    if (isLarge && (factor > 1.5 || factor < 1 / 3)) {
      jumps.push({
        curve: rate,
        text: `${rate.key} jumps from ${say(rates.last)} to ${say(rates.first)}`,
        value: rates.first,
      });
    }
  }
  for (const metric of ["reward", "gap"] as const) {
    const curve = context.curve(metric);
    const sides = curve?.series.axis === 0 ? aroundStep(curve, step) : undefined;
    if (!curve || !sides) continue;
    const { before, after, noise } = sides;
    const isWorse = metric === "reward"
      ? before - after > SURE * noise && before - after > 0.2 * Math.abs(before)
      : after > 3 * before && after - before > SURE * noise;
    if (isWorse) {
      jumps.push({
        curve,
        text: `${curve.key} goes from ${say(before)} to ${say(after)}`,
        value: after,
      });
    }
  }
  return jumps;
}

/** Of many restarts the first few are named. */
const MOST_SEAMS = 3;

function seamFinding(context: Context, { lastStep, nextStep, row }: Seam): Finding {
  const { rows, source } = context.view.log;
  const overlap = lastStep - nextStep + context.interval;
  const jumps = jumpsAt(context, nextStep);
  const place = `${source.files[rows.files[row]] ?? source.path}`;
  const [first] = jumps;
  const again = overlap > 0
    ? `steps ${say(nextStep)} to ${say(lastStep)} are in the log twice, and the later ones count`
    : "no step is lost or repeated";
  return {
    id: "restart_seam",
    class: first ? "suspect" : "note",
    ...(first ? about(first.curve) : {}),
    step: nextStep,
    ...(first ? { value: first.value } : {}),
    ...(first ? { boundFrom: "a resumed run continues where it stopped" } : {}),
    sentence: `The run was restarted: after step ${say(lastStep)} the log continues at step ${
      say(nextStep)
    } (${again})${first ? `, and ${jumps.map(({ text }) => text).join(" and ")} there` : ""}.`,
    ...(first
      ? {
        alternatives: [
          "the optimizer, the schedule or the sampler's weights were not restored",
          "settings were changed on purpose at the restart",
        ],
        next: `Compare the state that ${
          context.knob("resume", "resuming")
        } restores with what was saved: optimizer, schedule, data position, the sampler's weights.`,
      }
      : {}),
    at: { file: place, row: rows.lines[row] },
  };
}

function seams(context: Context): readonly Finding[] {
  const found = context.view.log.seams.filter(({ axis }) => axis === 0).map((seam) =>
    seamFinding(context, seam)
  );
  const shown = [
    ...found.filter((finding) => finding.class === "suspect"),
    ...found.filter((finding) => finding.class === "note"),
  ].slice(0, MOST_SEAMS);
  const rest = found.length - shown.length;
  return rest === 0
    ? shown
    : shown.map((finding, i) =>
      i + 1 < shown.length
        ? finding
        : { ...finding, sentence: `${finding.sentence} There are ${rest} more restarts.` }
    );
}

function pastErased(context: Context): readonly Finding[] {
  const [first] = context.view.steps;
  if (first === undefined || context.hasStart) return [];
  const isCounted = context.view.log.axes[0] === "row";
  const where = isCounted
    ? `in the middle of a run (epoch ${
      say(context.curve("epoch")?.values[0] ?? NaN)
    }; its rows state no step and are counted instead)`
    : `at step ${say(first)}`;
  return [{
    id: "past_erased",
    class: "note",
    step: first,
    sentence:
      `The log begins ${where}: what came before is not in it, so nothing here is compared with the start.`,
    alternatives: ["a restart overwrote the file", "an export without its first part"],
    next: "Keep one file per start, or append to it; give the earlier part as well if you have it.",
  }];
}

function endedEarly(context: Context): readonly Finding[] {
  const { view, interval } = context;
  const planned = context.setting("plannedSteps");
  const last = view.steps[view.steps.length - 1];
  if (
    planned === undefined || last === undefined ||
    last + Math.max(interval, 0.02 * planned) >= planned
  ) {
    return [];
  }
  return [{
    id: "ended_early",
    class: "note",
    step: last,
    value: last,
    bound: planned,
    boundFrom: view.settings.plannedSteps?.from === "flag"
      ? [setting("plannedSteps")]
      : "the log's own plan",
    sentence: `The log ends at step ${say(last)} of ${
      say(planned)
    }: the run is still going, was stopped, or has crashed.`,
    next: "If it should have finished, look at the end of its console output.",
  }];
}

function tooLittle(context: Context): readonly Finding[] {
  const count = context.reward?.values.length ?? context.view.steps.length;
  if (count >= LEAST_FOR_TREND) return [];
  return [{
    id: "too_little",
    class: "note",
    value: count,
    bound: LEAST_FOR_TREND,
    boundFrom: "two windows of five rows",
    sentence:
      `There ${
        count === 1 ? "is 1 row" : `are ${count} rows`
      } to judge, too few to tell a trend from noise: ` +
      "trends are not judged.",
    next: `Give more of the log: trends are judged from ${LEAST_FOR_TREND} rows on.`,
  }];
}

function rolloutsFail(_context: Context, errors: Curve): readonly Finding[] {
  const { floor } = errors.series.definition;
  const end = lastQuarter(errors);
  const share = middle(end.values);
  const look = floor?.look ?? 0.05;
  if (errors.values.length < 5 || !(share > look)) return [];
  // Above a half most of what is trained on, or left out, has nothing to do with the policy.
  const isMost = share > 0.5;
  return [{
    id: "rollouts_fail",
    class: isMost ? "suspect" : "note",
    ...about(errors),
    step: end.step,
    value: share,
    bound: isMost ? 0.5 : look,
    boundFrom: isMost ? "half of the rollouts" : floor?.from ?? "one in twenty rollouts",
    sentence: `${
      percent(share)
    } of the rollouts fail for a reason other than the policy (${errors.key}, ${
      stepsText(end.step, end.lastStep)
    }); whatever reward they get says nothing about the policy.`,
    alternatives: ["time limits, crashes of the environment, or aborted requests"],
    next:
      "Group the errors by kind, and leave failed rollouts out of the groups instead of giving them a reward of 0.",
  }];
}

/** In the order in which they are tried. */
export const RUN_RULES: readonly Rule[] = [
  { ids: ["restart_seam"], needs: [], judge: seams },
  { ids: ["rollouts_fail"], needs: [{ metric: "errors" }], judge: rolloutsFail },
  { ids: ["past_erased"], needs: [], judge: pastErased },
  { ids: ["ended_early"], needs: [], judge: endedEarly },
  { ids: ["too_little"], needs: [], judge: tooLittle },
];
