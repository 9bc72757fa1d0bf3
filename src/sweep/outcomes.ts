/** What became of a cell: done or failed, after how many attempts, and what it printed. */
import { z } from "zod";
import { requireSchema } from "../core/schema.ts";
import { readJson, writeJson } from "../files/json.ts";
import { exists } from "../files/paths.ts";
import { sweepPaths } from "./sweep_paths.ts";

const outcomeSchema = z.object({
  state: z.enum(["done", "failed"]),
  /** How often the cell was begun and came to an end of its own. */
  attempts: z.int().min(1),
  exitCode: z.int(),
  /** The last line that a failed cell wrote on standard error, or what ended it; null where it is done. */
  problem: z.string().nullable(),
  host: z.string(),
  /** When it ended, in UTC: `2026-01-31T12:00:00.000Z`. */
  ended: z.string(),
  /** Milliseconds of the last attempt. */
  durationMs: z.number(),
  /** The document that its command printed, where that is small; null elsewhere. */
  result: z.unknown(),
});

/** How a cell ended. */
export type Outcome = z.infer<typeof outcomeSchema>;

/** Where the outcome of a cell stands. */
export function outcomePath(sweep: string, id: string): string {
  return `${sweepPaths(sweep).outcomes}/${id}.json`;
}

/** The id in the name of an outcome's file; undefined: it is another file. */
export function outcomeId(name: string): string | undefined {
  return /^([0-9a-f]{16})\.json$/.exec(name)?.[1];
}

/** The outcome of a cell; undefined: it has none. @throws {UserError} When it cannot be read. */
export function readOutcome(sweep: string, id: string): Outcome | undefined {
  const path = outcomePath(sweep, id);
  if (!exists(path)) return undefined;
  return requireSchema(readJson(path), outcomeSchema, { source: path });
}

/** Writes the outcome of a cell, whole or not at all. @throws {UserError} When it cannot be written. */
export function writeOutcome(sweep: string, { id, outcome }: {
  readonly id: string;
  readonly outcome: Outcome;
}): void {
  writeJson(outcomePath(sweep, id), outcome);
}
