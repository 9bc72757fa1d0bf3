/** The documents of verdicts: one schema each for what commands and the lab write and what pages and triage read. */
import { z } from "zod";
import { CHECK_LACKS, CHECK_VERDICTS, type CheckResult } from "./invariant.ts";

/** A verdict. A value that is not a number is null in JSON. */
export const checkSchema = z.object({
  id: z.int().min(1),
  name: z.string(),
  value: z.number().nullable(),
  relation: z.enum(["<=", ">"]),
  bound: z.number(),
  /** Texts that files of earlier versions may lack. */
  boundReason: z.string().default(""),
  verdict: z.enum(CHECK_VERDICTS),
  reason: z.string().default(""),
  lack: z.enum(CHECK_LACKS).optional(),
}) satisfies z.ZodType<CheckResult>;

/** The document of `check --json`: the verdicts about a trainer with a fault on purpose, or with `none`. */
export const faultChecksSchema = z.object({ bug: z.string(), checks: z.array(checkSchema) });

/** The document of `check --matrix --json`: the faults of the tutorial, then the others. */
export const matrixSchema = z.object({
  rows: z.array(faultChecksSchema).min(1),
  further: z.array(faultChecksSchema).default([]),
});

/** What the lab's experiment `matrix` keeps: all faults in one list. */
export const labMatrixSchema = z.object({
  rows: z.array(z.object({
    fault: z.string(),
    checks: z.array(checkSchema),
    /** Ids of the violated ones. */
    caughtBy: z.array(z.int()),
  })).min(1),
});

/** The verdicts for one fault, or for none. */
export type FaultChecks = z.infer<typeof faultChecksSchema>;

/** The verdicts for every fault. */
export type MatrixData = z.infer<typeof matrixSchema>;

/** The verdicts for every fault, as the lab keeps them. */
export type LabMatrixData = z.infer<typeof labMatrixSchema>;
