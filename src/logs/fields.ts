/** Keys and values of one row as its file has them, and the numbers among them. */
import { type LogField, numberOf, parseDict } from "./literal.ts";
import type { LogEntry, LogSink } from "./run_log_builder.ts";

/** Objects within objects that are flattened; deeper ones are skipped. */
const MAX_DEPTH = 8;

function addFields(
  fields: LogField[],
  object: object,
  { prefix, depth }: { readonly prefix: string; readonly depth: number },
): void {
  for (const [name, value] of Object.entries(object)) {
    const key = prefix + name;
    if (typeof value !== "object" || value === null) fields.push({ key, value });
    else if (Array.isArray(value) || depth === MAX_DEPTH) fields.push({ key, value: undefined });
    else addFields(fields, value, { prefix: `${key}/`, depth: depth + 1 });
  }
}

/**
 * The fields of a line of JSON. Bare NaN and Infinity are allowed, as Python writes them; of a key that stands twice in an object
 * the later value counts.
 *
 * @returns Undefined where the line is not one object.
 */
export function jsonFields(line: string): readonly LogField[] | undefined {
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    const fields: LogField[] = [];
    addFields(fields, JSON.parse(line), { prefix: "", depth: 0 });
    return fields;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const dict = parseDict(line, line.indexOf("{"));
  if (typeof dict === "string" || line.slice(dict.end).trim() !== "") return undefined;
  return dict.fields;
}

/**
 * The numbers among fields: numbers, null, and texts that are numbers (transformers 5 writes '1.244e+04', W&B "NaN").
 *
 * @param sink Hears of what is skipped.
 */
export function numbersOf(fields: readonly LogField[], sink: LogSink): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const { key, value, written } of fields) {
    if (typeof value === "number") entries.push([key, value, written]);
    else if (value === null) entries.push([key, null]);
    else if (typeof value === "string") {
      const number = numberOf(value);
      if (number === undefined) sink.ignore("values that are text", `${key}: ${value}`);
      else entries.push([key, number, written ?? `"${value}"`]);
    } else if (typeof value === "boolean") sink.ignore("values that are true or false", key);
    else sink.ignore("values that are lists or nested too deeply", key);
  }
  return entries;
}
