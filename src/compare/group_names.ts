/** Puts runs into groups by their settings, and gives each group the shortest name that tells it from the others. */
import { withDigits } from "../core/digits.ts";
import type { RunRecord, Settings } from "./run_record.ts";

/** Runs of one method. */
export interface NamedGroup {
  readonly name: string;
  /** Settings that all of its runs share. */
  readonly settings: Settings;
  readonly runs: readonly RunRecord[];
}

/** Settings in an order that does not depend on how they were written. */
function keyOf({ method, group }: RunRecord): string {
  return JSON.stringify([group ?? null, Object.entries(method).sort(([a], [b]) => a < b ? -1 : 1)]);
}

/** A value as it stands in a name. */
export function settingText(value: Settings[string] | undefined): string {
  if (value === undefined || value === null) return "none";
  // 3e-4 as a sum of others is 0.00030000000000000003.
  return typeof value === "number" ? withDigits(value, 12) : String(value);
}

/** Names of settings that differ between some groups: axes first, then in the order of the configuration. */
export function differingSettings(
  groups: readonly Pick<NamedGroup, "runs" | "settings">[],
): string[] {
  const axes = groups.flatMap(({ runs }) => runs.flatMap((run) => run.axes));
  const names = [...axes, ...groups.flatMap(({ settings }) => Object.keys(settings))];
  return [...new Set(names)].filter((name) =>
    new Set(groups.map(({ settings }) => JSON.stringify(settings[name] ?? null))).size > 1
  );
}

/** As many of the differing settings as tell all groups apart: all axes that differ, others only where they are needed. */
function namingSettings(groups: readonly Pick<NamedGroup, "runs" | "settings">[]): string[] {
  const axes = new Set(groups.flatMap(({ runs }) => runs.flatMap((run) => run.axes)));
  const chosen: string[] = [];
  const different = () =>
    new Set(
      groups.map(({ settings }) => JSON.stringify(chosen.map((name) => settings[name] ?? null))),
    ).size;
  for (const name of differingSettings(groups)) {
    const before = different();
    if (before === groups.length && !axes.has(name)) break;
    chosen.push(name);
    if (!axes.has(name) && different() === before) chosen.pop();
  }
  return chosen;
}

/**
 * Groups runs: those with equal settings apart from seed and environment are one group, in the order of their first runs.
 *
 * @param runs All runs.
 */
export function groupRuns(runs: readonly RunRecord[]): NamedGroup[] {
  const groups = Array.from(Map.groupBy(runs, keyOf).values(), (members) => ({
    settings: members[0].method,
    given: members[0].group,
    runs: members,
  }));
  const naming = namingSettings(groups);
  const nameOf = ({ settings, given }: typeof groups[number]) => {
    if (given !== undefined) return given;
    if (naming.length === 0) return "all runs";
    // A text such as `grpo` tells what it is a value of, a number does not.
    return naming.map((name) =>
      typeof settings[name] === "string" || naming.length === 1
        ? settingText(settings[name])
        : `${name}=${settingText(settings[name])}`
    ).join(" ");
  };
  const names = groups.map(nameOf);
  return groups.map(({ settings, runs: members }, i) => ({
    // Groups that were given one name and differ in settings stay apart.
    name: names.filter((name) => name === names[i]).length > 1
      ? `${names[i]} (${names.slice(0, i + 1).filter((name) => name === names[i]).length})`
      : names[i],
    settings,
    runs: members,
  }));
}
