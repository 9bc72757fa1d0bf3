/** The file of a sweep: what varies and what does not, read from JSON or YAML and checked. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import { describeValue } from "../core/schema.ts";
import { readText } from "../files/read_file.ts";
import { axisValues, misplaced, requireObject } from "./axes.ts";
import {
  type CellSetting,
  type CellSettings,
  settingsSchema,
  SWEEP_COMMANDS,
  type SweepCommand,
} from "./sweep_folder.ts";

/** A file that people write; YAML of a megabyte takes a second. */
const MAX_BYTES = 2 ** 20;

/** A name that can be a folder's, a job's and a label's. */
const NAME = /^[A-Za-z0-9](?:[\w.-]{0,46}[A-Za-z0-9])?$/;

/** Every key of the file. */
export const sweepFileSchema = z.strictObject({
  name: z.string().optional(),
  command: z.enum(SWEEP_COMMANDS).default("train"),
  settings: settingsSchema.default({}),
  axes: z.record(z.string(), z.unknown()).default({}),
  together: z.array(z.array(z.string()).min(2)).default([]),
  seeds: z.unknown().optional(),
  conditions: z.record(z.string(), settingsSchema.nullable()).default({}),
});

/** A sweep as its file describes it. */
export interface SweepFile {
  /** What error sentences call the file. */
  readonly source: string;
  readonly name: string;
  readonly command: SweepCommand;
  readonly settings: CellSettings;
  /** The values of each axis, in the order of the file. */
  readonly axes: ReadonlyMap<string, readonly CellSetting[]>;
  /** Axes that move together, value by value; each axis is in one of these groups. */
  readonly groups: readonly (readonly string[])[];
  readonly seeds: readonly number[];
  /** The settings of each condition; empty where there are none. */
  readonly conditions: Readonly<Record<string, CellSettings>>;
}

/** How many seeds a number may stand for. */
const MAX_SEEDS = 100_000;

function seedsOf(value: unknown, source: string): readonly number[] {
  const place = { source, name: "seeds" };
  if (value === undefined) return [0];
  if (typeof value === "number") {
    if (Number.isInteger(value) && value >= 1 && value <= MAX_SEEDS) {
      return Array.from({ length: value }, (_, i) => i);
    }
    throw misplaced(place, `is ${value}, but must be a number of seeds, at least 1, or a list`);
  }
  const seeds = axisValues(value, place);
  const wrong = seeds.find((seed) =>
    typeof seed !== "number" || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32
  );
  if (wrong !== undefined) {
    throw misplaced(
      place,
      `holds ${JSON.stringify(wrong)}, but a seed is an integer from 0 to ${2 ** 32 - 1}`,
    );
  }
  return seeds as number[];
}

/** Groups of axes that move together, then every other axis alone; in the order of the file. */
function groupsOf(
  axes: SweepFile["axes"],
  { together, source }: { readonly together: readonly string[][]; readonly source: string },
): string[][] {
  const names = [...axes.keys()];
  const place = { source, name: "together" };
  const seen = new Set<string>();
  for (const group of together) {
    const [first = ""] = group;
    for (const name of group) {
      if (!axes.has(name)) {
        throw misplaced(
          place,
          `names "${name}", which is not an axis: ${suggestName(name, names)}`,
        );
      }
      if (seen.has(name)) throw misplaced(place, `names ${name} twice: an axis moves once`);
      seen.add(name);
      const [own, others] = [axes.get(name)?.length, axes.get(first)?.length];
      if (own !== others) {
        throw misplaced(
          place,
          `ties ${first} with ${others} values to ${name} with ${own}: give them as many values`,
        );
      }
    }
  }
  return names.flatMap((name) => {
    const group = together.find((one) => one.includes(name));
    if (group === undefined) return [[name]];
    return names.find((other) => group.includes(other)) === name ? [group] : [];
  });
}

/** `sweeps/lr.yaml` → `lr`; characters that no name may have become dashes. */
function stemOf(path: string): string {
  const stem = (path.split(/[\\/]/).at(-1) ?? "").replace(/\.(?:json|ya?ml)$/i, "");
  const name = stem.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return NAME.test(name) ? name : "sweep";
}

function requireOwnNames(file: z.infer<typeof sweepFileSchema>, source: string): void {
  const given = [
    ["settings", file.settings],
    ["axes", file.axes],
    ...Object.entries(file.conditions).map(([name, own]) =>
      [`conditions.${name}`, own ?? {}] as const
    ),
  ] as const;
  for (const [name, own] of given) {
    if (Object.hasOwn(own, "seed")) {
      throw misplaced({ source, name: `${name}.seed` }, "is not allowed: seeds stand under seeds");
    }
    const axis = Object.keys(own).find((key) => Object.hasOwn(file.axes, key));
    if (name !== "axes" && name !== "settings" && axis !== undefined) {
      throw misplaced(
        { source, name: `${name}.${axis}` },
        `would override the axis ${axis}, and its cells would be the same: leave one of them out`,
      );
    }
  }
}

/** A key of this name is dropped without a word by what copies objects. */
function refusePrototype(value: unknown, source: string): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) {
    throw new UserError(`Cannot use ${source}: unknown key "__proto__": leave it out`);
  }
  for (const inner of Object.values(value)) refusePrototype(inner, source);
}

/**
 * Checks the content of a sweep's file.
 *
 * @param value What the file holds.
 * @param source Its name, for error sentences and as the sweep's own where it gives none.
 * @throws {UserError} When a key is unknown or an axis is not one: a sentence that says what is allowed.
 */
export function parseSweepFile(value: unknown, source: string): SweepFile {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(
      `Cannot use ${source}: its content ${
        describeValue(value)
      }, but must be an object with axes and seeds, such as {"axes": {"lr": [0.001, 0.002]}, "seeds": 3}`,
    );
  }
  refusePrototype(value, source);
  const file = requireObject(value, sweepFileSchema, { source, name: "" });
  const { name = stemOf(source), command, settings, together } = file;
  if (!NAME.test(name)) {
    throw misplaced(
      { source, name: "name" },
      `is ${
        JSON.stringify(name)
      }, but must be 1 to 48 letters, digits, dots, dashes and underscores`,
    );
  }
  requireOwnNames(file, source);
  const axes = new Map(
    Object.entries(file.axes).map(([key, axis]) =>
      [key, axisValues(axis, { source, name: `axes.${key}` })] as const
    ),
  );
  return {
    source,
    name,
    command,
    settings,
    axes,
    groups: groupsOf(axes, { together, source }),
    seeds: seedsOf(file.seeds, source),
    conditions: Object.fromEntries(
      Object.entries(file.conditions).map(([key, own]) => [key, own ?? {}]),
    ),
  };
}

/** The value that a text in YAML holds. @throws {UserError} When it is not valid. */
async function parseYaml(text: string, source: string): Promise<unknown> {
  // Loaded here: nobody else waits for it.
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  const refusal = (message: string) =>
    new UserError(
      `Cannot use ${source}: it is not valid YAML (${
        message.split("\n", 1)[0]?.replace(/:$/, "")
      })`,
    );
  if (problem !== undefined) throw refusal(problem.message);
  try {
    return document.toJS();
  } catch (error) {
    // Aliases without end.
    if (error instanceof Error) throw refusal(error.message);
    throw error;
  }
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `Cannot use ${source}: it is not valid JSON (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
}

/**
 * Reads a sweep's file: YAML where its name ends in .yaml or .yml, JSON elsewhere.
 *
 * @param path The file.
 * @throws {UserError} When it cannot be read, is larger than 1 MiB, is not valid, or as {@linkcode parseSweepFile} does.
 */
export async function readSweepFile(path: string): Promise<SweepFile> {
  const text = readText(path, { maxBytes: MAX_BYTES });
  const value = /\.ya?ml$/i.test(path) ? await parseYaml(text, path) : parseJson(text, path);
  return parseSweepFile(value, path);
}
