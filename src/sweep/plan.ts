/** From the file of a sweep to its cells: every one checked before the first begins. */
import { createHash } from "node:crypto";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import type { SweepFile } from "./sweep_file.ts";
import {
  type CellSetting,
  type CellSettings,
  type PlannedCell,
  settingsOfCell,
  type SweepPlan,
} from "./sweep_folder.ts";

/** The most cells of a sweep: twice what has been measured. */
export const MAX_CELLS = 200_000;

/** What a command says of the cells that repeat it. */
export interface CellRules {
  /** The settings that it takes. */
  readonly keys: readonly string[];
  /**
   * Checks settings, once for all seeds.
   *
   * @returns All that decides what the run of a seed computes, defaults included.
   * @throws {UserError} When no run can have these settings.
   */
  complete(settings: CellSettings): (seed: number) => Readonly<Record<string, unknown>>;
}

/** The same text for the same values, whatever the order of their keys. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}

/** Sixty-four bits: among 200,000 cells, two share a name by chance once in a billion sweeps. */
const ID_DIGITS = 16;

/**
 * The name of a cell.
 *
 * @param settings All that decides what it computes.
 * @returns The first 16 hexadecimal digits of the SHA-256 of their canonical JSON.
 */
export function cellId(settings: Readonly<Record<string, unknown>>): string {
  return createHash("sha256").update(canonical(settings)).digest("hex").slice(0, ID_DIGITS);
}

/** A cell for people: `healthy, lr=0.01, seed 3`. */
export function cellLabel(
  { condition, values, seed }: Pick<PlannedCell, "condition" | "values" | "seed">,
): string {
  const shown = (value: CellSetting) => typeof value === "string" ? value : JSON.stringify(value);
  return [
    ...(condition === null ? [] : [condition]),
    ...Object.entries(values).map(([name, value]) => `${name}=${shown(value)}`),
    `seed ${seed}`,
  ].join(", ");
}

/** Every combination of the axes' values; axes of a group move together. */
function* combinations(file: SweepFile): Generator<CellSettings> {
  const sizes = file.groups.map(([first = ""]) => file.axes.get(first)?.length ?? 0);
  const total = sizes.reduce((product, size) => product * size, 1);
  for (let index = 0; index < total; index++) {
    const chosen = new Map<string, CellSetting>();
    let rest = index;
    // The last axis moves fastest.
    for (let g = sizes.length - 1; g >= 0; g--) {
      const size = sizes[g] ?? 1;
      for (const name of file.groups[g] ?? []) {
        chosen.set(name, file.axes.get(name)?.[rest % size] ?? null);
      }
      rest = Math.floor(rest / size);
    }
    yield Object.fromEntries([...file.axes.keys()].map((name) => [name, chosen.get(name) ?? null]));
  }
}

function requireKnownSettings(file: SweepFile, { keys }: CellRules): void {
  const given: readonly (readonly [string, readonly string[]])[] = [
    ["settings", Object.keys(file.settings)],
    ["axes", [...file.axes.keys()]],
    ...Object.entries(file.conditions).map(([name, own]) =>
      [`conditions.${name}`, Object.keys(own)] as const
    ),
  ];
  for (const [name, own] of given) {
    const unknown = own.find((key) => !keys.includes(key));
    if (unknown !== undefined) {
      throw new UserError(
        `Cannot use ${file.source}: unknown key "${name}.${unknown}": ${
          suggestName(unknown, keys)
        }`,
      );
    }
  }
}

function requireSize(file: SweepFile): void {
  const lengths = file.groups.map(([first = ""]) => file.axes.get(first)?.length ?? 0);
  const conditions = Math.max(1, Object.keys(file.conditions).length);
  const total = [...lengths, conditions, file.seeds.length].reduce((a, b) => a * b, 1);
  if (total <= MAX_CELLS) return;
  throw new UserError(
    `Cannot use ${file.source}: it has ${total.toLocaleString("en")} cells, and at most ${
      MAX_CELLS.toLocaleString("en")
    } are allowed: draw some at random, or sweep in parts`,
  );
}

/** The sentence about a cell that cannot run, without the command's own beginning. */
function asCellError(error: unknown, file: SweepFile, cell: Omit<PlannedCell, "id">): unknown {
  if (!(error instanceof UserError)) return error;
  const reason = error.message.replace(/^Cannot train: /, "");
  const advice = reason.includes("has no effect")
    ? "; settings that only some cells read stand under conditions"
    : "";
  return new UserError(`Cannot use ${file.source}: cell ${cellLabel(cell)}: ${reason}${advice}`);
}

/**
 * The cells of a sweep: all settings with the first seed, then all with the next, so that half a sweep compares all settings.
 *
 * @param file The sweep's file.
 * @param rules What its command says of a cell.
 * @throws {UserError} When a setting is unknown, a cell cannot run, two cells would be the same run, or there are too many.
 */
export function planSweep(file: SweepFile, rules: CellRules): SweepPlan {
  requireKnownSettings(file, rules);
  requireSize(file);
  const { name, command, settings, conditions, source } = file;
  const names = Object.keys(conditions);
  const [firstSeed = 0] = file.seeds;
  const checked = (names.length === 0 ? [null] : names).flatMap((condition) =>
    Array.from(combinations(file), (values) => {
      try {
        const own = settingsOfCell({ settings, conditions }, { condition, values });
        return { condition, values, ofSeed: rules.complete(own) };
      } catch (error) {
        throw asCellError(error, file, { seed: firstSeed, condition, values });
      }
    })
  );
  const cells = new Map<string, PlannedCell>();
  for (const seed of file.seeds) {
    for (const { condition, values, ofSeed } of checked) {
      const cell = { seed, condition, values };
      const id = cellId({ command, settings: ofSeed(seed) });
      const twin = cells.get(id);
      if (twin !== undefined) {
        throw new UserError(
          `Cannot use ${source}: cells ${cellLabel(twin)} and ${
            cellLabel(cell)
          } would be the same run: ` +
            "leave one of them out",
        );
      }
      cells.set(id, { id, ...cell });
    }
  }
  return {
    name,
    command,
    file: source,
    settings,
    axes: [...file.axes.keys()],
    conditions,
    cells: [...cells.values()],
  };
}
