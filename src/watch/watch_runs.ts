/** Follows several runs until it is told to stop, and says whenever one of them is another than before. */
import { wait } from "../core/wait.ts";
import type { WatchedRun } from "../report/watch_data.ts";
import { FollowedRun, type RunReading } from "./follow_run.ts";

/** How often files are looked at, and the least rest between two looks as a multiple of the time that one takes. */
const POLL_MS = 1000, REST_PER_LOOK = 5;

/**
 * Names by which runs can be told apart: the ends of their paths, as long as they must be.
 *
 * @param paths As they were given; equal ones are numbered.
 */
export function distinctNames(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.replace(/\/+$/, "").split("/"));
  const longest = Math.max(...parts.map(({ length }) => length));
  for (let count = 1; count <= longest; count++) {
    const names = parts.map((names) => names.slice(-count).join("/") || "/");
    if (new Set(names).size === names.length) return names;
  }
  return paths.map((path, i) => `${path} (${i + 1})`);
}

/** How runs are watched. */
export interface WatchOptions extends RunReading {
  readonly signal: AbortSignal;
  /** Told when a run is another than before; not before every run was looked at once. */
  readonly onChange: (runs: readonly WatchedRun[]) => void;
  /** Milliseconds between two looks (default: 1000). */
  readonly pollMs?: number;
}

/**
 * Watches runs. It only reads: ending it ends nothing else.
 *
 * @param paths Folders or files, which need not be there yet.
 * @returns The runs as they were at the end.
 */
export async function watchRuns(
  paths: readonly string[],
  { signal, onChange, pollMs = POLL_MS, ...reading }: WatchOptions,
): Promise<readonly WatchedRun[]> {
  const names = distinctNames(paths);
  const runs = paths.map((path, i) => new FollowedRun(path, { ...reading, name: names[i] }));
  const states = () => runs.map(({ state }) => state);
  for (const run of runs) if (!signal.aborted) await run.look();
  onChange(states());
  const follow = async (run: FollowedRun) => {
    let restMs = pollMs;
    while (!signal.aborted) {
      await wait(restMs, signal);
      if (signal.aborted) return;
      const startMs = performance.now();
      if (await run.look()) onChange(states());
      restMs = Math.max(pollMs, REST_PER_LOOK * (performance.now() - startMs));
    }
  };
  await Promise.all(runs.map(follow));
  return states();
}
