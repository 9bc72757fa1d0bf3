/** The interquartile mean over seeds and strata, with its stratified bootstrap interval (Agarwal et al. 2021). */
import { at } from "../core/element.ts";
import { quantile } from "../core/statistics.ts";
import { normalShare, studentQuantile } from "./distributions.ts";
import { type Interval, leastSeeds, type Resamples, type Strata } from "./strata.ts";

/** Share of the scores that is left out at either end. */
const TRIMMED = 0.25;

/** Mean of the middle half of weights that sum to 1, over ascending values. */
function middleMean(values: Float64Array, weights: ArrayLike<number>): number {
  let passed = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const next = passed + (weights[i] ?? NaN);
    const inside = Math.min(next, 1 - TRIMMED) - Math.max(passed, TRIMMED);
    if (inside > 0) sum += inside * (values[i] ?? NaN);
    passed = next;
  }
  return sum / (1 - 2 * TRIMMED);
}

/** The scores of all strata in ascending order, each with the stratum and the seed that it is of. */
function ascending(strata: Strata) {
  return strata.flatMap((scores, stratum) =>
    scores.map((score, seed) => ({
      score,
      stratum,
      seed,
      weight: 1 / (strata.length * scores.length),
    }))
  ).sort((a, b) => a.score - b.score);
}

/**
 * Mean of the middle half of the scores. A score on the border counts with the share of it that is inside, so that it is the
 * middle half for every number of seeds; where that is a multiple of 4 it is what SciPy's `trim_mean(scores, 0.25)` says.
 *
 * @param strata Scores of seeds, at least one in each; every stratum has the same weight.
 */
export function interquartileMean(strata: Strata): number {
  const sorted = ascending(strata);
  return middleMean(
    Float64Array.from(sorted, ({ score }) => score),
    sorted.map(({ weight }) => weight),
  );
}

/**
 * The interquartile mean with its interval: seeds are drawn again within each stratum, and the ends are percentiles of what
 * comes out. The percentiles are those of Student's t for n − 1 in place of the normal's, Φ(∓t), since a bootstrap of few
 * seeds is too narrow by that much (Hesterberg 2015, "What teachers should know about the bootstrap").
 *
 * @param strata Scores of seeds.
 * @param options.resamples The draws.
 * @param options.level 0 to 1 (default 0.95).
 * @returns Undefined where a stratum has fewer than two seeds, or all resamples agree.
 */
export function interquartileMeanInterval(
  strata: Strata,
  { resamples, level = 0.95 }: { readonly resamples: Resamples; readonly level?: number },
): Interval | undefined {
  if (strata.length === 0 || leastSeeds(strata) < 2) return undefined;
  const sorted = ascending(strata);
  const values = Float64Array.from(sorted, ({ score }) => score);
  // Of each score the draws of its stratum, and where in a row of them its own count stands.
  const places = sorted.map(({ stratum, seed, weight }) => {
    const size = at(strata, stratum).length;
    return { counts: resamples.countsOf(stratum, size), size, seed, weight };
  });
  const weights = new Float64Array(sorted.length);
  const drawn = new Float64Array(resamples.count);
  for (let b = 0; b < resamples.count; b++) {
    let i = 0;
    for (const { counts, size, seed, weight } of places) {
      weights[i++] = weight * (counts[b * size + seed] ?? NaN);
    }
    drawn[b] = middleMean(values, weights);
  }
  // Two quantiles follow, each of which orders a copy: what is in order already takes little.
  drawn.sort();
  const t = studentQuantile(level, leastSeeds(strata) - 1);
  const [low, high] = [quantile(drawn, normalShare(-t)), quantile(drawn, normalShare(t))];
  if (!(high > low)) return undefined;
  return { estimate: middleMean(values, sorted.map(({ weight }) => weight)), low, high };
}
