/** `stale_weights`: whether the gap between sampler and trainer begins at a step, or grows with the age of the sampler's weights. */
import type { ClusteredMean, Estimate } from "../../core/streaming_statistics.ts";
import type { Finding } from "../finding.ts";
import type { EngineBounds } from "./engine_bounds.ts";
import { greatest, notCheckable, shownBy, SURE, type Witness } from "./token_check.ts";
import { countOf, say } from "./words.ts";

const ID = "stale_weights";

/** A gap three times what it was has another cause than the rounding that was there before. */
const TIMES = 3;
/** Where the engines' own difference has no bound, a jump must at least reach what is usual there. */
const LEAST_JUMP_NATS = 0.1;

/** The gap of tokens of one step that one version of the weights drew. */
export interface GapCell {
  readonly mean: ClusteredMean;
  /** Where it is largest. */
  worst: Witness | undefined;
}

interface Cell extends Estimate {
  readonly worst: Witness | undefined;
  readonly step: number | null;
  readonly version: number | null;
}

function cellsOf(cells: ReadonlyMap<string, GapCell>): Cell[] {
  return Array.from(cells, ([key, { mean, worst }]): Cell => {
    const [step, version] = JSON.parse(key) as [number | null, number | null];
    return { step, version, worst, ...mean.estimate };
  }).filter(({ count }) => count > 0).toSorted((a, b) =>
    (a.step ?? 0) - (b.step ?? 0) || (a.version ?? 0) - (b.version ?? 0)
  );
}

/** The mean of several, weighted by their tokens. */
function pooled(parts: readonly Estimate[]): Estimate {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const mean = parts.reduce((sum, part) => sum + part.mean * part.count, 0) / count;
  const variance = parts.reduce((sum, part) => sum + (part.error * part.count / count) ** 2, 0);
  return { count, mean, error: Math.sqrt(variance) };
}

/** True where a gap is surely one that is worth a look, and surely a multiple of another that does not. */
function jumps(from: Estimate, to: Estimate, { look = LEAST_JUMP_NATS }: EngineBounds): boolean {
  const least = to.mean - SURE * to.error;
  const most = from.mean + SURE * from.error;
  return least > look && most <= Math.max(look, LEAST_JUMP_NATS) && least > TIMES * from.mean;
}

/** By how many versions the weights that drew a token are behind the newest of its step. */
function byAge(cells: readonly Cell[], bounds: EngineBounds): Finding | undefined {
  const newest = new Map<number | null, number>();
  for (const { step, version } of cells) {
    if (version !== null) newest.set(step, Math.max(version, newest.get(step) ?? -Infinity));
  }
  const ages = new Map<number, Cell[]>();
  for (const cell of cells) {
    if (cell.version === null) continue;
    const age = (newest.get(cell.step) ?? cell.version) - cell.version;
    ages.set(age, [...ages.get(age) ?? [], cell]);
  }
  const [first, ...older] = [...ages].toSorted(([a], [b]) => a - b);
  if (!first || older.length === 0) return undefined;
  const fresh = pooled(first[1]), stale = pooled(older.flatMap(([, parts]) => parts));
  if (!jumps(fresh, stale, bounds)) return undefined;
  const said = older.map(([age, parts]) =>
    `${countOf(age, "version")} old: ${say(pooled(parts).mean)}`
  );
  return {
    id: ID,
    class: "note",
    metric: "gap",
    value: stale.mean,
    bound: fresh.mean,
    boundFrom: "tokens drawn by the newest weights of their step",
    sentence: `The gap between sampler and trainer follows the age of the weights: ${
      say(fresh.mean)
    } nats where they are the newest, else ${said.join(", ")}.`,
    next: "Where this is intended (asynchronous rollouts), bound the age and correct by the ratio.",
  };
}

/** Steps in order; a jump between the first ones and a later one. */
function byStep(cells: readonly Cell[], bounds: EngineBounds): Finding | undefined {
  const steps = new Map<number, Cell[]>();
  for (const cell of cells) {
    if (cell.step !== null) steps.set(cell.step, [...steps.get(cell.step) ?? [], cell]);
  }
  const ordered = Array.from(steps, ([step, parts]) => ({ step, parts, ...pooled(parts) }));
  for (let i = 1; i < ordered.length; i++) {
    const before = pooled(ordered.slice(0, i));
    if (!jumps(before, ordered[i], bounds)) continue;
    const { step, mean, parts } = ordered[i];
    const after = pooled(ordered.slice(i)).mean;
    return {
      id: ID,
      class: "suspect",
      metric: "gap",
      ...shownBy(greatest(parts.flatMap(({ worst }) => worst ?? []))),
      step,
      value: mean,
      bound: before.mean,
      boundFrom: "the steps before",
      sentence: `The gap between sampler and trainer jumps at step ${step}, from ${
        say(before.mean)
      } to ${say(mean)} nats per token${
        i + 1 < ordered.length ? ` (${say(after)} from there on)` : ""
      }: engines round alike at every step, so the sampler's weights are no longer the trainer's.`,
      alternatives: [
        "rollouts that are asynchronous on purpose",
        "another setting of the sampler from that step on",
      ],
      next: "Compare a checksum of one layer in both engines after the weights were handed over.",
    };
  }
  return undefined;
}

/**
 * Whether older weights explain the gap.
 *
 * @param means Mean |difference| of tokens by `[step, version]`, as JSON.
 * @returns Findings, and whether the dump itself states the versions that explain the gap.
 */
export function staleWeights(
  means: ReadonlyMap<string, GapCell>,
  bounds: EngineBounds,
): { readonly findings: readonly Finding[]; readonly isStated: boolean } {
  const cells = cellsOf(means);
  const aged = byAge(cells, bounds);
  if (aged) return { findings: [aged], isStated: true };
  const jump = byStep(cells, bounds);
  if (jump) return { findings: [jump], isStated: false };
  const steps = new Set(cells.map(({ step }) => step)).size;
  const versions = new Set(cells.map(({ version }) => version)).size;
  if (steps < 2 && versions < 2) {
    const lacking = notCheckable(
      ID,
      "whether the sampler's weights are the trainer's",
      "second step and no versions of weights",
    );
    return { findings: [lacking], isStated: false };
  }
  return {
    findings: [{
      id: ID,
      class: "holds",
      sentence: `The gap between sampler and trainer has the same size in ${
        steps > 1 ? countOf(steps, "step") : countOf(versions, "version")
      }.`,
    }],
    isStated: false,
  };
}
