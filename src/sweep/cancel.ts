/** A sweep is stopped wherever it runs by a file in its folder: pools that see a new one save what runs and end. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { readJson, writeJson } from "../files/json.ts";
import { sweepPaths } from "./sweep_paths.ts";

const cancelSchema = z.object({ token: z.string() });

/** What the file says; undefined: there is none, or it is no such file. */
function readToken(sweep: string): string | undefined {
  try {
    return cancelSchema.safeParse(readJson(sweepPaths(sweep).cancel)).data?.token;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Asks every pool that works on a sweep to stop. Those that begin later do not mind. @throws {UserError} When it cannot be written. */
export function cancelSweep(sweep: string, { time }: { readonly time: string }): void {
  writeJson(sweepPaths(sweep).cancel, { token: crypto.randomUUID(), time });
}

/**
 * Watches for a wish to stop that is newer than the watch.
 *
 * @returns Asked as often as one likes: whether the sweep is to stop. It looks once a second.
 */
export function watchCancel(sweep: string, nowMs: () => number): () => boolean {
  const before = readToken(sweep);
  let [isCancelled, lookedMs] = [false, nowMs()];
  return () => {
    if (isCancelled || nowMs() - lookedMs < 1000) return isCancelled;
    lookedMs = nowMs();
    const now = readToken(sweep);
    return isCancelled = now !== undefined && now !== before;
  };
}
