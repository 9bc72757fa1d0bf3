/** later_checks.jsonl: the verdicts of invariants on the batches of later steps, one row each. */
import { z } from "zod";
import { requireSchema } from "../core/schema.ts";
import { checkSchema } from "../diagnose/check_schema.ts";
import type { LaterCheck } from "../diagnose/triage/evaluate.ts";
import { rowsOf } from "../files/journal.ts";

/** A row of ours: its keys are written with underscores. */
const rowSchema = checkSchema.omit({ boundReason: true }).extend({
  step: z.int().min(0),
  bound_reason: z.string().default(""),
});

/**
 * Reads later_checks.jsonl.
 *
 * @param path The file.
 * @returns The verdicts in the order of the steps.
 * @throws {UserError} When it cannot be read, or a row holds something else.
 */
export function readLaterChecks(path: string): LaterCheck[] {
  return Array.from(rowsOf(path), (row, i) => {
    const { bound_reason: boundReason, lack, ...check } = requireSchema(row, rowSchema, {
      source: `${path}, row ${i + 1}`,
    });
    return { ...check, boundReason, ...(lack && { lack }) };
  });
}
