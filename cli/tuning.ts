/** Measures which layout of the kernels is fastest on this adapter, and keeps the verdict. */
import { type Tuning, TUNING_CANDIDATES } from "../src/gpu/tuning.ts";
import { fastestLayout, probeLayouts, type ProbeRow } from "../src/tuning/probe.ts";
import { stderrProgress } from "../src/files/progress.ts";
import { writeTuning } from "../src/tuning/tuning_cache.ts";
import { describeLayout, type GpuFlags, openLayout, tuningPath } from "./gpu_layout.ts";

/** What was measured and chosen. */
export interface LayoutChoice {
  readonly rows: readonly ProbeRow[];
  /** The fastest layout. */
  readonly tuning: Tuning;
  /** Why it is not kept; undefined where it is. */
  readonly problem: string | undefined;
}

/**
 * Measures the layouts that may be chosen. One that computes other bits, or fails, is refused aloud.
 *
 * @param options.adapter The adapter's description.
 * @throws {UserError} When every layout was refused.
 */
export async function measureLayouts(
  flags: GpuFlags,
  { adapter, rounds }: { readonly adapter: string; readonly rounds: number },
): Promise<LayoutChoice> {
  const total = (rounds + 1) * TUNING_CANDIDATES.length;
  using progress = stderrProgress({ label: "tune", total, alreadyDone: 0 });
  const rows = await probeLayouts({
    candidates: TUNING_CANDIDATES,
    openGpu: (tuning) => openLayout(flags, { tuning }),
    rounds,
    onProgress: (done) => progress.update(done),
  });
  progress.update(total);
  for (const { tuning, refusal } of rows) {
    if (refusal !== undefined) {
      progress.log(`refused (${describeLayout(tuning)}): ${refusal}`);
    }
  }
  const tuning = fastestLayout(rows);
  const path = tuningPath();
  const problem = path === undefined
    ? "AGENTRL_TUNING names no file"
    : writeTuning(path, { adapter, tuning });
  return { rows, tuning, problem };
}
