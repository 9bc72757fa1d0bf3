/**
 * Which layout of the kernels is fastest here: one value after the other is tried beside the best layout so far, in rounds that
 * interleave, and kept where it is faster. A layout whose bits differ is refused.
 */
import { median } from "../core/statistics.ts";
import type { Gpu } from "../gpu/device.ts";
import { isKnownTuning, type Tuning, TUNING_VALUES } from "../gpu/tuning.ts";
import type { CompiledGym } from "../gym/compiled.ts";
import {
  type Measurement,
  type Part,
  prepareMeasurement,
  probeGym,
  type ProbeSize,
} from "./measure.ts";

/** A part of the layout that is searched, and the work that it speeds up. */
export interface SearchStep {
  readonly name: keyof Tuning;
  readonly part: Part;
}

/** What is searched, by how much it moves. What is missing does not matter to the work that is timed. */
const STEPS: readonly SearchStep[] = [
  { name: "blockColumns", part: "update" },
  { name: "blockRows", part: "update" },
  { name: "productLanes", part: "update" },
  { name: "tiles", part: "update" },
  { name: "weightOutputs", part: "update" },
  { name: "weightColumns", part: "update" },
  { name: "weightLanes", part: "update" },
  { name: "rowLanes", part: "update" },
  { name: "flatLanes", part: "update" },
  { name: "groupSlots", part: "rollout" },
  { name: "transposedWeights", part: "rollout" },
  { name: "decoderLanes", part: "rollout" },
  { name: "decoderColumns", part: "rollout" },
  { name: "decoderRows", part: "rollout" },
  { name: "slotCount", part: "rollout" },
];

/** What is searched on an adapter: the memory of operands only where a CPU plays the GPU. */
export function searchSteps(isSoftware: boolean): readonly SearchStep[] {
  const memory = (["update", "rollout"] as const).map((part): SearchStep => ({
    name: "operandMemory",
    part,
  }));
  return isSoftware ? [...STEPS, ...memory.slice(0, 1)] : STEPS;
}

/** Fewer invocations than a warp leave lanes of a GPU idle. */
const WARP = 32;

/** A value is kept that takes at most this share of the time before: rounds alone differ by a little. */
const WORTH = 0.97;

/** How to search. */
export interface SearchOptions {
  /** Where the search begins. */
  readonly start: Tuning;
  readonly isSoftware: boolean;
  /** Opens a device; one is kept as long as it works. */
  readonly openGpu: () => Promise<Gpu>;
  /** Counted rounds of each comparison; one more comes first and warms up. */
  readonly rounds: number;
  /** What is searched (default {@linkcode searchSteps}). */
  readonly steps?: readonly SearchStep[];
  readonly size?: ProbeSize;
  /** Called with each value that was tried. */
  readonly onProbe?: (probe: Probe) => void;
}

/** A value that was tried. */
export interface Probe extends SearchStep {
  readonly from: Tuning[keyof Tuning];
  readonly to: Tuning[keyof Tuning];
  /** The whole layout. */
  readonly tuning: Tuning;
  /** Medians of the best layout before and of this one; NaN where it was refused. */
  readonly bestMs: number;
  readonly ms: number;
  readonly isKept: boolean;
  /** Why it must not be used; undefined where it may. */
  readonly refusal: string | undefined;
}

/** A part of the work before and after the search. */
export interface PartTimes {
  readonly startMs: number;
  readonly ms: number;
}

/** What was found. */
export interface SearchResult {
  readonly start: Tuning;
  readonly tuning: Tuning;
  readonly probes: readonly Probe[];
  /** What was searched for: the first layout beside the last, in interleaved rounds. */
  readonly times: Readonly<Partial<Record<Part, PartTimes>>>;
}

/** Layouts with the next value of a step in one direction: what that value requires of other parts is changed with it. */
export function nextTuning(
  tuning: Tuning,
  options: { readonly name: keyof Tuning; readonly by: 1 | -1; readonly isSoftware: boolean },
): Tuning | undefined {
  const { name, by, isSoftware } = options;
  const values = TUNING_VALUES[name] as readonly Tuning[keyof Tuning][];
  const value = values[values.indexOf(tuning[name]) + by];
  if (value === undefined) return undefined;
  if (!isSoftware && name.endsWith("Lanes") && Number(value) < WARP) return undefined;
  const next: Tuning = { ...tuning, [name]: value };
  const fitted = { ...next, decoderRows: Math.min(next.decoderRows, next.groupSlots) };
  return isKnownTuning(fitted) && fitted[name] === value ? fitted : undefined;
}

/** A layout with the values of the first one in all steps of a part. */
export function takeBack(
  tuning: Tuning,
  options: { readonly start: Tuning; readonly steps: readonly SearchStep[]; readonly part: Part },
): Tuning {
  const { start, steps, part } = options;
  const names = steps.filter((step) => step.part === part).map(({ name }) => name);
  return { ...tuning, ...Object.fromEntries(names.map((name) => [name, start[name]])) };
}

/** What it takes to compare layouts. */
class Comparison {
  readonly #options: SearchOptions;
  readonly #gym: CompiledGym = probeGym();
  readonly #hashes = new Map<string, string>();
  #gpu: Gpu | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** The same device with another layout; a fresh one behind a failure, whose later errors would be taken for others'. */
  async #gpuWith(tuning: Tuning): Promise<Gpu> {
    this.#gpu ??= await this.#options.openGpu();
    return { ...this.#gpu, tuning };
  }

  close(): void {
    this.#gpu?.device.destroy();
    this.#gpu = undefined;
  }

  /** Medians of two layouts, in turn. Throws where one fails, or where its bits are not those of the first layout of all. */
  async run(part: Part, tunings: readonly [Tuning, Tuning]): Promise<readonly [number, number]> {
    const { rounds, size = {} } = this.#options;
    const measurements: Measurement[] = [];
    try {
      const times = tunings.map((): number[] => []);
      for (const tuning of tunings) {
        const gpu = await this.#gpuWith(tuning);
        measurements.push(prepareMeasurement(gpu, { part, gym: this.#gym, size }));
      }
      for (let round = 0; round <= rounds; round++) {
        for (const [i, measurement] of measurements.entries()) {
          const { ms, hash } = await measurement.run(round);
          const key = `${part} ${part === "rollout" ? round : 0}`;
          const right = this.#hashes.get(key) ?? hash;
          this.#hashes.set(key, right);
          if (hash !== right) throw new Error("other bits than the first layout");
          if (round > 0) times[i]?.push(ms);
        }
      }
      measurements.forEach(({ destroy }) => destroy());
      return [median(times[0] ?? []), median(times[1] ?? [])];
    } catch (error) {
      this.close();
      throw error;
    }
  }
}

/**
 * Tries the values of every step in both directions, as long as they are faster.
 *
 * @returns The fastest layout, and everything that was tried.
 * @throws {RangeError} When there is no round; {Error} When the first layout itself cannot compute.
 */
export async function searchTuning(options: SearchOptions): Promise<SearchResult> {
  const { start, isSoftware, rounds, onProbe } = options;
  if (rounds < 1) throw new RangeError(`Cannot search in ${rounds} rounds: at least 1`);
  const { steps = searchSteps(isSoftware) } = options;
  const parts = [...new Set(steps.map(({ part }) => part))];
  const comparison = new Comparison(options);
  const probes: Probe[] = [];
  let best = start;
  const tryNext = async ({ name, part }: SearchStep, by: 1 | -1): Promise<boolean> => {
    const tuning = nextTuning(best, { name, by, isSoftware });
    if (tuning === undefined) return false;
    const tried = { name, part, from: best[name], to: tuning[name], tuning };
    let probe: Probe;
    try {
      const [bestMs, ms] = await comparison.run(part, [best, tuning]);
      probe = { ...tried, bestMs, ms, isKept: ms <= WORTH * bestMs, refusal: undefined };
    } catch (error) {
      const refusal = error instanceof Error ? error.message : String(error);
      probe = { ...tried, bestMs: NaN, ms: NaN, isKept: false, refusal };
    }
    probes.push(probe);
    onProbe?.(probe);
    if (probe.isKept) best = tuning;
    return probe.isKept;
  };
  try {
    // A layout that cannot compute is not the fault of what would be compared with it.
    for (const part of parts) await comparison.run(part, [start, start]);
    for (const step of steps) {
      let isFaster = false;
      while (await tryNext(step, 1)) isFaster = true;
      if (!isFaster) { while (await tryNext(step, -1)); }
    }
    const times: Partial<Record<Part, PartTimes>> = {};
    for (const part of parts) {
      const [startMs, ms] = await comparison.run(part, [start, best]);
      // What only seemed faster in rounds that something else disturbed is taken back.
      const isWorse = ms > startMs;
      if (isWorse) best = takeBack(best, { start, steps, part });
      times[part] = { startMs, ms: isWorse ? startMs : ms };
    }
    return { start, tuning: best, probes, times };
  } finally {
    comparison.close();
  }
}
