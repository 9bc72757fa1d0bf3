/** The catalogue of failures: runs as pairs of a failure and its control. */
import { lastSteps } from "../core/run_ends.ts";
import { z } from "zod";
import { mean, sampleVariance } from "../core/statistics.ts";
import { CATALOGUE, type CatalogueName, type CatalogueRun } from "../faults/catalogue.ts";
import type { FaultName } from "../faults/faults.ts";
import type { MetricName } from "../rl/metrics.ts";
import type { Point } from "./downsample.ts";
import { type RunData, runOfRows } from "./run_data.ts";

/** The ten failures of the dashboard, in its order, each with the metric that exposes it. */
export const TEN_FAILURES = {
  mask_shift: "logp_gap",
  stale_old_logp: "clip_frac",
  entropy_sign: "entropy",
  sign_flip: "turns",
  accum_local: "grad_norm",
  sampler_temp: "logp_gap",
  ref_is_policy: "kl_ref",
  lr_high: "malformed",
  length_bias: "length_fail",
  public_reward: "hardcode",
} as const satisfies Partial<Record<FaultName, MetricName>>;

/** Failures that no metric exposes; only a test of the gradient does. The dashboard shows a metric all the same. */
export const EXPOSED_BY_NO_METRIC: ReadonlySet<Failure> = new Set(["accum_local"]);

/** One of the ten. */
export type Failure = keyof typeof TEN_FAILURES;

/** The catalogue's runs. */
export interface FaultsData {
  readonly path: string;
  readonly seed: number;
  /** By name; not all need be there. */
  readonly runs: ReadonlyMap<CatalogueName, RunData>;
  /** SHA-256 of each run's last weights. */
  readonly weightsHashes: Readonly<Record<string, string>>;
  /** What each failure was expected to show, and whether it did. */
  readonly signatures: z.infer<typeof signaturesSchema>;
}

/** What a summary says of the signatures. */
export const signaturesSchema = z.array(z.object({
  run: z.string(),
  claim: z.string(),
  measured: z.string(),
  holds: z.boolean(),
})).default([]);

/** What the lab's experiment `catalogue` keeps: the rows of every run. */
const labSchema = z.object({
  seed: z.number(),
  runs: z.record(z.string(), z.array(z.record(z.string(), z.unknown())).min(1)),
  signatures: signaturesSchema,
});

/**
 * The catalogue in the data of the lab's experiment; undefined where they hold none.
 *
 * @param path The experiment's file.
 */
export function faultsOfLab(data: unknown, path: string): FaultsData | undefined {
  const result = labSchema.safeParse(data);
  if (!result.success) return undefined;
  const { seed, runs, signatures } = result.data;
  const names = (Object.keys(CATALOGUE) as CatalogueName[])
    .filter((name) => Object.hasOwn(runs, name));
  return {
    path,
    seed,
    runs: new Map(names.map((name) => [name, runOfRows(runs[name], { name, path })])),
    weightsHashes: {},
    signatures,
  };
}

/** A failure beside its matched healthy run. */
export interface FailurePair {
  readonly name: Failure;
  readonly controlName: CatalogueName;
  readonly faulty: RunData;
  readonly control: RunData;
  readonly metric: MetricName;
}

/** The pairs whose two runs are there, in the dashboard's order. */
export function failurePairs({ runs }: FaultsData): FailurePair[] {
  return (Object.keys(TEN_FAILURES) as Failure[]).flatMap((name) => {
    const { control }: CatalogueRun = CATALOGUE[name];
    const controlName = control as CatalogueName;
    const [faulty, healthy] = [runs.get(name), runs.get(controlName)];
    if (!faulty || !healthy) return [];
    return [{ name, controlName, faulty, control: healthy, metric: TEN_FAILURES[name] }];
  });
}

/** The steps of `points` that a shorter run has as well. */
export function untilStep(points: readonly Point[], lastStep: number): readonly Point[] {
  return points.filter(([step]) => step <= lastStep);
}

/** Mean of a metric over a run's last four steps; NaN where it was not measured. */
export function lastMean(run: RunData, name: string, lastStep = Infinity): number {
  const values = lastSteps(untilStep(run.metrics.get(name) ?? [], lastStep)).map(([, y]) => y);
  return values.length === 0 ? NaN : mean(values);
}

/** What the reward curve alone says about a failure. */
export interface RewardVerdict {
  readonly faulty: number;
  readonly control: number;
  /** hidden: inside the noise of a step; beyond it better, or worse and still rising, or worse. */
  readonly verdict: "hidden" | "better" | "slower" | "worse";
}

/**
 * Whether somebody who looks at the reward curve sees the failure: the means of the last four steps differ by more than
 * twice the noise of one step, which is taken from the healthy run's changes from step to step (their standard deviation / √2).
 */
export function judgeReward({ faulty, control }: FailurePair): RewardVerdict {
  const lastStep = faulty.metrics.get("reward")?.at(-1)?.[0] ?? 0;
  const rewards = (control.metrics.get("reward") ?? []).map(([, y]) => y);
  const changes = rewards.slice(1).map((reward, i) => reward - rewards[i]);
  const noise = changes.length < 2 ? 0 : Math.sqrt(sampleVariance(changes) / 2);
  const start = faulty.metrics.get("reward")?.[0]?.[1] ?? 0;
  const ours = lastMean(faulty, "reward");
  const healthy = lastMean(control, "reward", lastStep);
  const isBeyond = (difference: number) => difference > 2 * noise;
  const verdict = isBeyond(ours - healthy)
    ? "better"
    : !isBeyond(healthy - ours)
    ? "hidden"
    : isBeyond(ours - start)
    ? "slower"
    : "worse";
  return { faulty: ours, control: healthy, verdict };
}
