/** checks.json: the verdicts of the invariants before a run's first step. */
import { z } from "zod";
import { requireSchema } from "../core/schema.ts";
import { checkSchema } from "../diagnose/check_schema.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import { readJson, writeJson } from "../files/json.ts";

/** A file of ours: its keys are written with underscores. */
const checksSchema = z.object({
  checks: z.array(checkSchema.omit({ boundReason: true }).extend({ bound_reason: z.string() })),
});

/**
 * Writes checks.json, whole or not at all. A value that is not a number becomes null; its verdict is `violated`.
 *
 * @param path The file.
 * @param results The verdicts.
 * @throws {UserError} When it cannot be written.
 */
export function writeChecks(path: string, results: readonly CheckResult[]): void {
  const checks = results.map(({ boundReason, ...result }) => ({
    ...result,
    bound_reason: boundReason,
  }));
  writeJson(path, { checks });
}

/**
 * Reads checks.json.
 *
 * @param path The file.
 * @returns The verdicts.
 * @throws {UserError} When it cannot be read, or holds something else.
 */
export function readChecks(path: string): CheckResult[] {
  const { checks } = requireSchema(readJson(path), checksSchema, { source: path });
  return checks.map(({ bound_reason: boundReason, lack, ...check }) => ({
    ...check,
    boundReason,
    ...(lack && { lack }),
  }));
}
