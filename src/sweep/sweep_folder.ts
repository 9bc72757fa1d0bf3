/** The folder of a sweep: its plan in sweep.json, and where the run of each cell and what is known of it lie. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { writeFilePartsAtomic } from "../files/atomic_file.ts";
import { readJson } from "../files/json.ts";
import { sweepPaths } from "./sweep_paths.ts";

/** The commands that a sweep can repeat. */
export const SWEEP_COMMANDS = ["train", "faults", "eval", "lab"] as const;

/** One of {@linkcode SWEEP_COMMANDS}. */
export type SweepCommand = typeof SWEEP_COMMANDS[number];

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What a setting may hold: text, a number, true or false, null, or a list of those. */
export const settingSchema = z.union([scalarSchema, z.array(scalarSchema)]);

/** Settings by name: keys of the configuration, or flags of the command in camelCase. */
export const settingsSchema: z.ZodType<CellSettings> = z.record(z.string(), settingSchema);

type Scalar = z.infer<typeof scalarSchema>;

/** What a setting holds. */
export type CellSetting = Scalar | readonly Scalar[];

/** Settings by name. */
export type CellSettings = Readonly<Record<string, CellSetting>>;

/** The name of a cell: the first 16 hexadecimal digits of the SHA-256 of its settings. */
const ID = /^[0-9a-f]{16}$/;

/** Content of sweep.json. What all cells share stands once. */
const sweepSchema = z.object({
  version: z.literal(1),
  name: z.string().min(1),
  command: z.enum(SWEEP_COMMANDS),
  file: z.string().describe("what it was planned from, as it was given"),
  settings: settingsSchema.describe("settings of every cell"),
  axes: z.array(z.string()).describe("the settings that vary"),
  conditions: z.record(z.string(), settingsSchema).describe("the settings of each condition"),
  cells: z.array(z.object({
    id: z.string().regex(ID).describe("the name of its folder: a hash of all its settings"),
    seed: z.int().min(0),
    condition: z.string().nullable().describe("null: the sweep has none"),
    values: settingsSchema.describe("its value on each axis"),
  })),
});

/** The JSON Schema of sweep.json. */
export function sweepJsonSchema() {
  return z.toJSONSchema(sweepSchema);
}

/** A cell before it has a place: what one run of the sweep is made of. */
export interface PlannedCell {
  /** The first 16 hexadecimal digits of the SHA-256 of its settings. */
  readonly id: string;
  readonly seed: number;
  /** The named condition that it belongs to; null where the sweep has none. */
  readonly condition: string | null;
  /** Its value on each axis. */
  readonly values: CellSettings;
}

/** A plan: every cell of a sweep, in the order in which they are begun. */
export interface SweepPlan {
  readonly name: string;
  readonly command: SweepCommand;
  /** The file that it was planned from, as it was given. */
  readonly file: string;
  /** Settings that all cells share, unless an axis or a condition says otherwise. */
  readonly settings: CellSettings;
  /** Names of the settings that vary, in the order of the file. */
  readonly axes: readonly string[];
  /** The settings of each condition; empty where there are none. */
  readonly conditions: Readonly<Record<string, CellSettings>>;
  readonly cells: readonly PlannedCell[];
}

/** One run of a sweep. */
export interface SweepCell extends PlannedCell {
  readonly command: SweepCommand;
  /** All its settings but the seed: shared ones, those of its condition, its values on the axes. */
  readonly settings: CellSettings;
  /** The folder of its run: FOLDER/runs/ID. Missing until it has begun. */
  readonly folder: string;
}

/** A sweep as it is read back. */
export interface Sweep extends Omit<SweepPlan, "cells"> {
  /** Its folder. */
  readonly path: string;
  readonly cells: readonly SweepCell[];
}

/** All settings of a cell but its seed. */
export function settingsOfCell(
  { settings, conditions }: Pick<SweepPlan, "settings" | "conditions">,
  { condition, values }: Pick<PlannedCell, "condition" | "values">,
): CellSettings {
  const own = condition === null ? {} : conditions[condition];
  return { ...settings, ...values, ...own };
}

/**
 * Reads the plan of a sweep.
 *
 * @param path The sweep's folder.
 * @returns Its cells, each with all its settings and the folder of its run.
 * @throws {UserError} When there is no plan, or one that this version does not read.
 */
export function readSweep(path: string): Sweep {
  const source = sweepPaths(path).plan;
  const { version: _, cells, ...plan } = requireSchema(readJson(source), sweepSchema, { source });
  const { runs } = sweepPaths(path);
  return {
    ...plan,
    path,
    cells: cells.map((cell) => {
      if (cell.condition !== null && !Object.hasOwn(plan.conditions, cell.condition)) {
        throw new UserError(
          `Cannot use ${source}: cell ${cell.id} has the condition "${cell.condition}", which is not among its conditions`,
        );
      }
      return {
        ...cell,
        command: plan.command,
        settings: settingsOfCell(plan, cell),
        folder: `${runs}/${cell.id}`,
      };
    }),
  };
}

/** Cells whose lines are encoded at once. */
const LINES_AT_ONCE = 1000;

/** The text of sweep.json, a cell a line, piece by piece: a hundred thousand cells are not one string. */
function* planParts(plan: SweepPlan): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const { cells, ...shared } = plan;
  const head = JSON.stringify({ version: 1, ...shared }, null, 2);
  yield encoder.encode(`${head.slice(0, head.lastIndexOf("\n"))},\n  "cells": [`);
  for (let begin = 0; begin < cells.length; begin += LINES_AT_ONCE) {
    const lines = cells.slice(begin, begin + LINES_AT_ONCE).map((
      { id, seed, condition, values },
    ) => `\n    ${JSON.stringify({ id, seed, condition, values })}`);
    yield encoder.encode(`${begin === 0 ? "" : ","}${lines.join(",")}`);
  }
  yield encoder.encode("\n  ]\n}\n");
}

/**
 * Writes the plan of a sweep, whole or not at all.
 *
 * @param path The sweep's folder, which exists.
 * @throws {UserError} When it cannot be written.
 */
export function writeSweep(path: string, plan: SweepPlan): void {
  writeFilePartsAtomic(sweepPaths(path).plan, planParts(plan));
}
