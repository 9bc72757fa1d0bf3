/** What a rule about a log is, and what all rules share: the curves, what the user can turn, whether the run learns. */
import { type LogSettings, roundingErrorOf } from "../../logs/run_log.ts";
import type { CanonicalMetric, Knob, Need } from "../../producers/definition.ts";
import type { MeasuredSeries, RunView, Wanted } from "../../producers/run_view.ts";
import type { Finding } from "../finding.ts";
import { type Change, changeOf, type Curve, curveOf, decimalsSeen, intervalOf } from "./curve.ts";

/** A metric that a rule needs, with the definitions that it can use. */
export interface Needed extends Wanted {
  readonly metric: CanonicalMetric;
}

/** What rules see of a run. */
export interface Context {
  readonly view: RunView;
  /** The first curve of a metric whose definition fits and that has a finite value. */
  curve(metric: CanonicalMetric, wanted?: Wanted): Curve | undefined;
  /** All of them. */
  curves(metric: CanonicalMetric, wanted?: Wanted): readonly Curve[];
  /** A setting's value; undefined where nobody told it. */
  setting<K extends keyof LogSettings>(name: K): LogSettings[K];
  /** What a knob is called in the user's framework, for example `max_completion_length`. */
  knob(name: Knob, otherwise: string): string;
  /** The reward and how it moves; undefined where there is none, or too little of it. */
  readonly reward: Curve | undefined;
  readonly rewardChange: Change | undefined;
  /** True where the reward is surely higher at the end than in the beginning. */
  readonly isLearning: boolean;
  /** Decimals that no number of the log exceeds, where they are few: what a form without text cannot show otherwise. */
  readonly decimals: number | undefined;
  /** Steps from a row to the next on the log's first axis. */
  readonly interval: number;
  /** True where the first row is of the beginning of the training, as far as the log tells. */
  readonly hasStart: boolean;
}

/** One rule: what it needs, and what it says of a run that has it. */
export interface Rule {
  /** The findings that it can make. */
  readonly ids: readonly string[];
  /** All of these must be in the log, or it is silent. */
  readonly needs: readonly Needed[];
  /** What cannot be said without them, and how a producer switches them on: then it is not silent. */
  readonly without?: { readonly sentence: string; readonly need: Need };
  /** @param curves One for each of `needs`. */
  judge(context: Context, ...curves: readonly Curve[]): readonly Finding[];
}

/** How sure a trend of the reward must be: four standard errors, a chance of 1 in 30,000 of noise. */
export const SURE = 4;

/** Standard errors above a change below which it truly lies, 95 times in a hundred. */
const ONE_SIDED = 1.64;

/** A rise below this share of how far the reward ranges anyway is none worth the name; where its 0 lies means nothing. */
const WORTH_THE_NAME = 0.3;

/**
 * How the rewards stand at the end. `unclear`: too noisy to tell, so that nothing may be concluded from their not rising.
 * `same`: a rise worth the name would have shown.
 */
export type RewardOutcome = "better" | "same" | "worse" | "unclear" | "unknown";

/** How a change of the reward is read. */
export function outcomeOf(change: Change | undefined): RewardOutcome {
  if (!change) return "unknown";
  const { head, tail, error, z, range } = change;
  if (z > SURE) return "better";
  if (z < -SURE) return "worse";
  const most = tail - head + ONE_SIDED * error;
  return z < 1 && most <= WORTH_THE_NAME * range ? "same" : "unclear";
}

/** How epochs are rounded in a console. */
const EPOCH_ROUNDING = 0.01;

/** Whether a log begins where the training did: by its first step; where rows are only counted, by its first epoch. */
function beginsAtStart(view: RunView, interval: number, epoch: Curve | undefined): boolean {
  const [first] = view.steps;
  if (first === undefined || first > Math.max(2, 2 * interval)) return false;
  if (view.log.axes[0] !== "row" || !epoch || epoch.values.length < 2) return true;
  const { values } = epoch;
  const perRow = (values[values.length - 1] - values[0]) / (values.length - 1);
  return values[0] <= 2 * Math.max(0, perRow) + EPOCH_ROUNDING;
}

/** Prepares what the rules look at. */
export function contextOf(view: RunView): Context {
  const known = new Map<string, Curve>();
  const curveOnce = (series: MeasuredSeries): Curve => {
    const curve = known.get(series.key) ?? curveOf(series);
    known.set(series.key, curve);
    return curve;
  };
  const curves = (metric: CanonicalMetric, wanted?: Wanted) =>
    view.all(metric, wanted).map(curveOnce).filter(({ values }) => values.length > 0);
  const [reward] = curves("reward");
  const rewardChange = reward && changeOf(reward);
  const interval = intervalOf(view.steps);
  return {
    view,
    curves,
    curve: (metric, wanted) => curves(metric, wanted)[0],
    setting: (name) => view.settings[name]?.value as LogSettings[typeof name],
    knob: (name, otherwise) => {
      const known = view.producer?.knobs[name];
      return known === undefined ? otherwise : known;
    },
    reward,
    rewardChange,
    isLearning: rewardChange !== undefined && rewardChange.z > SURE,
    decimals: decimalsSeen(Array.from(view.log.columns.values(), ({ values }) => values)),
    interval,
    hasStart: beginsAtStart(view, interval, curves("epoch")[0]),
  };
}

/** What a finding says of a curve by itself. */
export function about({ series }: Curve): Pick<Finding, "metric" | "key"> {
  return { metric: series.definition.metric, key: series.key };
}

/** A number below it is 0 for every purpose of a rule. */
const NOTHING = 1e-6;

/** True where a value of 0 is 0 and no rounded small number. */
export function isExact({ decimals }: Context, { series }: Curve): boolean {
  const rounding = series.rounding ?? (decimals === undefined ? undefined : { decimals });
  return roundingErrorOf(rounding, 0) < NOTHING;
}

/** `step 12`, or `steps 12 to 20`. */
export function stepsText(from: number, to: number): string {
  return from === to ? `step ${from}` : `steps ${from} to ${to}`;
}

/** A share as a percentage: whole per cents except near 0 and 100. */
export function percent(share: number): string {
  const hundred = share * 100;
  if (hundred === 0 || hundred === 100) return `${hundred} %`;
  return hundred < 1 || hundred > 99 ? `${hundred.toFixed(1)} %` : `${Math.round(hundred)} %`;
}
