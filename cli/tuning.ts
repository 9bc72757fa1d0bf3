/** Searches the layout of the kernels that is fastest on this adapter, and keeps the verdict. */
import { UserError } from "../src/core/errors.ts";
import { defaultTuning, type Tuning } from "../src/gpu/tuning.ts";
import { remark } from "../src/files/terminal.ts";
import { type Probe, type SearchResult, searchTuning } from "../src/tuning/search.ts";
import { writeTuning } from "../src/tuning/tuning_cache.ts";
import { type GpuFlags, openLayout, PART_NAMES, tuningPath } from "./gpu_layout.ts";

/** What was measured and chosen. */
export interface LayoutChoice extends SearchResult {
  /** Why it is not kept; undefined where it is. */
  readonly problem: string | undefined;
}

/** How much faster: `1.25×`. */
export function speedup(beforeMs: number, afterMs: number): string {
  return `${(beforeMs / afterMs).toFixed(2)}×`;
}

function probeLine({ name, part, from, to, bestMs, ms, isKept, refusal }: Probe): string {
  const what = `tune: ${PART_NAMES[name]} ${from} → ${to}`;
  if (refusal !== undefined) return `${what}: refused, ${refusal}`;
  const verdict = isKept ? "kept" : "not worth it";
  return `${what}: ${part} ${bestMs.toFixed(2)} → ${ms.toFixed(2)} ms, ${
    speedup(bestMs, ms)
  }, ${verdict}`;
}

/**
 * Tries the values that a layout may have, each beside the best one so far. One that computes other bits, or fails, is refused
 * aloud. A line a value goes to stderr.
 *
 * @param options.adapter The adapter's description.
 * @param options.start Where to begin (default the adapter's default).
 * @throws {UserError} When not even the first layout computes.
 */
export async function measureLayouts(
  flags: GpuFlags,
  options: {
    readonly adapter: string;
    readonly isSoftware: boolean;
    readonly rounds: number;
    readonly start?: Tuning;
  },
): Promise<LayoutChoice> {
  const { adapter, isSoftware, rounds, start = defaultTuning(isSoftware) } = options;
  let result: SearchResult;
  try {
    result = await searchTuning({
      start,
      isSoftware,
      rounds,
      openGpu: () => openLayout(flags, { tuning: start }),
      onProbe: (probe) => remark(`${probeLine(probe)}\n`),
    });
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`Cannot compute here: the default layout does not run (${reason})`, 1);
  }
  const path = tuningPath();
  const problem = path === undefined
    ? "AGENTRL_TUNING names no file"
    : writeTuning(path, { adapter, tuning: result.tuning });
  return { ...result, problem };
}
