/** checks.json: the verdicts of the invariants before a run's first step. */
import { z } from "zod";
import { requireSchema } from "../core/schema.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import { readJson, writeJson } from "../files/json.ts";

const checksSchema = z.object({
  checks: z.array(z.object({
    id: z.int().min(1),
    name: z.string(),
    value: z.number().nullable(),
    relation: z.enum(["<=", ">"]),
    bound: z.number(),
    bound_reason: z.string(),
    verdict: z.enum(["holds", "violated", "not-applicable"]),
    reason: z.string(),
    lack: z.enum(["setting", "batch"]).optional(),
  })),
});

/**
 * Writes checks.json, whole or not at all. A value that is no number becomes null; its verdict is `violated`.
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
