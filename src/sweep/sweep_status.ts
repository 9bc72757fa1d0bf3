/** How a sweep stands: each cell's state, from the folders alone. */
import { type FoundClaim, isLocked, listClaims } from "./claims.ts";
import type { Sweep, SweepCell } from "./sweep_folder.ts";
import { sweepPaths } from "./sweep_paths.ts";
import { type KnownCell, lookAtCells } from "./sweep_index.ts";

/** `left`: nobody has begun it, or it is half done and waits. */
export type CellState = "done" | "failed" | "running" | "left";

/** A cell and what is known of it. */
export interface CellStatus {
  readonly cell: SweepCell;
  readonly state: CellState;
  /** Where it has ended. */
  readonly known: KnownCell | undefined;
  /** Where it runs. */
  readonly claim: FoundClaim | undefined;
}

/** A sweep and its cells. */
export interface SweepStatus {
  readonly cells: readonly CellStatus[];
  readonly counts: Readonly<Record<CellState, number>>;
}

/**
 * Looks at a sweep.
 *
 * @param options.host This machine's name: claims of its processes that were killed do not count.
 * @param options.rebuild True: the index is not believed but made again from the folders.
 * @throws {UserError} When a folder cannot be read.
 */
export function sweepStatus(
  sweep: Sweep,
  { host, ...options }: { readonly rebuild?: boolean; readonly host?: string } = {},
): SweepStatus {
  const claims = listClaims(sweepPaths(sweep.path).claims);
  const known = lookAtCells(sweep, options);
  const counts = { done: 0, failed: 0, running: 0, left: 0 };
  const cells = sweep.cells.map((cell) => {
    const [ended, found] = [known.get(cell.id), claims.get(cell.id)];
    // Of this machine it is known that its owner was killed; of others only how long nothing was heard.
    const isDead = found !== undefined && found.content?.host === host &&
      isLocked(found.path) === false;
    const claim = isDead ? undefined : found;
    const state: CellState = ended?.state === "done" ? "done" : claim !== undefined
      ? "running" // A cell that failed and is claimed is being tried again.
      : ended?.state ?? "left";
    counts[state]++;
    return { cell, state, known: ended, claim };
  });
  return { cells, counts };
}
