/** What each run of the catalogue must show, as data: the signature by which its failure is known. */
import { withDigits } from "../core/digits.ts";
import { largest, mean, smallest } from "../core/statistics.ts";
import type { CatalogueName } from "./catalogue.ts";
import { HEALTHY_RANGES } from "./healthy_ranges.ts";
import type { MetricName, MetricsRow } from "../rl/metrics.ts";
import { summarizeRun } from "../rl/run_summary.ts";

/** The metrics of the runs of one seed, by name; a run that was not made is missing. */
export type CatalogueRows = Readonly<Partial<Record<CatalogueName, readonly MetricsRow[]>>>;

/** A run as signatures look at it. */
interface Observed {
  readonly rows: readonly MetricsRow[];
  /** Mean over the first four steps; NaN where the metric was not measured. */
  readonly first: (name: MetricName) => number;
  /** Mean over the last four. */
  readonly last: (name: MetricName) => number;
  /** The last held-out pass rate. */
  readonly heldOut: number;
}

/** A claim about a run, and its control where it is compared with one. */
interface Signature {
  readonly run: CatalogueName;
  /** The run that it is compared with (default itself). */
  readonly control?: CatalogueName;
  /** What it says, where a gap is to be of some size: with what rounding alone may make of one, in nats. */
  readonly claim: string | ((rounding: number) => string);
  /** @returns The measured numbers, and whether they are as claimed. */
  readonly test: (run: Observed, control: Observed, rounding: number) => {
    readonly measured: string;
    readonly holds: boolean;
  };
}

/** The outcome of a signature. */
export interface SignatureResult {
  readonly run: CatalogueName;
  readonly claim: string;
  readonly measured: string;
  readonly holds: boolean;
}

function observe(rows: readonly MetricsRow[]): Observed {
  const { first4, last4, evalPass } = summarizeRun(rows);
  return {
    rows,
    first: (name) => first4[name] ?? NaN,
    last: (name) => last4[name] ?? NaN,
    heldOut: evalPass ?? NaN,
  };
}

const show = (value: number) => withDigits(value, 2);

function valuesOf({ rows }: Observed, name: MetricName): number[] {
  return rows.map((row) => row[name] ?? NaN);
}

/** Whether a metric's mean over a run lies inside its healthy range. */
function isInRange(run: Observed, name: MetricName): boolean {
  const [low, high] = HEALTHY_RANGES[name] ?? [NaN, NaN];
  const value = mean(valuesOf(run, name));
  return value >= low && value <= high;
}

const UPDATE_METRICS = ["logp_gap", "ratio_min", "ratio_max", "clip_frac", "grad_norm"] as const;

/** Every claim. */
export const SIGNATURES: readonly Signature[] = [
  {
    run: "healthy",
    claim: (rounding) =>
      rounding === 0
        ? "logp_gap exactly 0 at every step"
        : `logp_gap at most ${rounding}, the rounding of this adapter, at every step`,
    test: (run, _, rounding) => ({
      measured: `largest ${show(largest(valuesOf(run, "logp_gap_max")))}, held-out ${
        show(run.heldOut)
      }`,
      holds: valuesOf(run, "logp_gap_max").every((gap) => gap <= rounding),
    }),
  },
  {
    run: "mask_shift",
    control: "healthy",
    claim: "logp_gap > 1 from step 0; first grad_norm at least 2 × healthy",
    test: (run, control) => {
      const gap = smallest(valuesOf(run, "logp_gap"));
      const ratio = run.first("grad_norm") / control.first("grad_norm");
      return {
        measured: `smallest gap ${show(gap)}, grad_norm × ${show(ratio)}`,
        holds: gap > 1 && ratio >= 2,
      };
    },
  },
  {
    run: "stale_old_logp",
    claim: "clip_frac 0 and ratios 1 exactly at every step",
    test: (run) => ({
      measured: `clip_frac ≤ ${show(largest(valuesOf(run, "clip_frac")))}, ratios ${
        smallest(valuesOf(run, "ratio_min"))
      } to ${largest(valuesOf(run, "ratio_max"))}`,
      holds: run.rows.every(({ clip_frac, ratio_min, ratio_max }) =>
        clip_frac === 0 && ratio_min === 1 && ratio_max === 1
      ),
    }),
  },
  {
    run: "entropy_sign",
    claim: "last entropy < 0.1, reads < 0.1, held-out at most 0.35",
    test: (run) => ({
      measured: `entropy ${show(run.last("entropy"))}, reads ${show(run.last("reads"))}, held-out ${
        show(run.heldOut)
      }`,
      holds: run.last("entropy") < 0.1 && run.last("reads") < 0.1 && run.heldOut <= 0.35,
    }),
  },
  {
    run: "sign_flip",
    claim: "last reward < 0.06, turns rise",
    test: (run) => ({
      measured: `reward ${show(run.last("reward"))}, turns ${show(run.first("turns"))} to ${
        show(run.last("turns"))
      }`,
      holds: run.last("reward") < 0.06 && run.last("turns") > run.first("turns"),
    }),
  },
  {
    run: "accum_local",
    claim: "logp_gap, ratios, clip_frac and grad_norm on average inside three seeds' healthy range",
    test: (run) => {
      const outside = UPDATE_METRICS.filter((name) => !isInRange(run, name));
      return {
        measured: outside.length === 0
          ? `all inside, ratio_max ${show(mean(valuesOf(run, "ratio_max")))}`
          : `outside: ${outside.join(", ")}`,
        holds: outside.length === 0,
      };
    },
  },
  {
    run: "sampler_temp",
    control: "healthy",
    claim: "first logp_gap > 0.01; reads vanish (< 0.1) or the reward stays below half of healthy",
    test: (run, control) => ({
      measured: `gap ${show(run.first("logp_gap"))}, reads ${show(run.last("reads"))}, reward ${
        show(run.last("reward"))
      } of ${show(control.last("reward"))}`,
      holds: run.first("logp_gap") > 0.01 &&
        (run.last("reads") < 0.1 || run.last("reward") < control.last("reward") / 2),
    }),
  },
  {
    run: "ref_is_policy",
    control: "healthy",
    claim: "kl_ref exactly 0; every reward and grad_norm that of the run without KL",
    test: (run, control) => {
      const equal =
        run.rows.filter(({ reward, grad_norm }, i) =>
          reward === control.rows[i]?.reward && grad_norm === control.rows[i]?.grad_norm
        ).length;
      return {
        measured: `kl_ref ≤ ${show(largest(valuesOf(run, "kl_ref")))}, ` +
          `${equal} of ${run.rows.length} steps equal`,
        holds: equal === run.rows.length && valuesOf(run, "kl_ref").every((kl) => kl === 0),
      };
    },
  },
  {
    run: "lr_high",
    control: "healthy",
    claim: "approx_kl of step 0 at least 20 × healthy; last malformed at least 5 × healthy",
    test: (run, control) => {
      const kl = valuesOf(run, "approx_kl")[0] / valuesOf(control, "approx_kl")[0];
      return {
        measured: `approx_kl × ${show(kl)}, malformed ${show(run.last("malformed"))} against ${
          show(control.last("malformed"))
        }`,
        holds: kl >= 20 && run.last("malformed") >= 5 * control.last("malformed"),
      };
    },
  },
  {
    run: "length_bias",
    control: "healthy_12_turns",
    claim: "last failures at least 1.8 × as long as the control's",
    test: (run, control) => {
      const [ours, healthy] = [run.last("length_fail"), control.last("length_fail")];
      return {
        measured: `${show(ours)} against ${show(healthy)} tokens`,
        holds: ours >= 1.8 * healthy,
      };
    },
  },
  {
    run: "public_reward",
    claim: "last reward at least 0.9, hidden pass rate at most 0.1",
    test: (run) => ({
      measured: `reward ${show(run.last("reward"))}, hidden pass ${show(run.last("pass_rate"))}, ` +
        `hardcode ${show(run.last("hardcode"))}, held-out ${show(run.heldOut)}`,
      holds: run.last("reward") >= 0.9 && run.last("pass_rate") <= 0.1,
    }),
  },
  {
    run: "stale_sampler",
    claim: (rounding) =>
      rounding === 0
        ? "logp_gap 0 at step 0 and above 0 at every later one"
        : `logp_gap at most ${rounding}, the rounding of this adapter, at step 0 and above it later`,
    test: (run, _, rounding) => {
      const [first, ...later] = valuesOf(run, "logp_gap");
      return {
        measured: `${show(first)}, then at least ${show(smallest(later))}`,
        holds: first !== undefined && first <= rounding && later.every((gap) => gap > rounding),
      };
    },
  },
  {
    run: "mask_end_call",
    claim: "fewer trained tokens than the policy wrote, at every step",
    test: (run) => ({
      measured: `${show(run.first("loss_tokens"))} of ${show(run.first("length"))} tokens`,
      holds: run.rows.every(({ loss_tokens, length }) => loss_tokens < length),
    }),
  },
  {
    run: "sampler_logp_temp",
    control: "healthy",
    claim: "first logp_gap > 0.01; every reward that of the healthy run",
    test: (run, control) => ({
      measured: `gap ${show(run.first("logp_gap"))}`,
      holds: run.first("logp_gap") > 0.01 &&
        run.rows.every(({ reward }, i) => reward === control.rows[i]?.reward),
    }),
  },
  {
    run: "denominator",
    control: "healthy",
    claim: "first grad_norm at most half of healthy",
    test: (run, control) => {
      const ratio = run.first("grad_norm") / control.first("grad_norm");
      return { measured: `grad_norm × ${show(ratio)}`, holds: ratio <= 0.5 };
    },
  },
];

/**
 * Tests every signature whose runs are there.
 *
 * @param runs The runs of one seed.
 * @param options.rounding What rounding alone may change in a log-prob on their adapter, in nats (default 0).
 * @returns Results in the order of the catalogue.
 */
export function testSignatures(
  runs: CatalogueRows,
  { rounding = 0 }: { readonly rounding?: number } = {},
): SignatureResult[] {
  return SIGNATURES.flatMap(({ run, control = run, claim, test }) => {
    const [rows, controlRows] = [runs[run], runs[control]];
    if (!rows || !controlRows) return [];
    const said = typeof claim === "string" ? claim : claim(rounding);
    return [{ run, claim: said, ...test(observe(rows), observe(controlRows), rounding) }];
  });
}
