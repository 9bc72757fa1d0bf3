/** Values held to a schema, with what it refuses said as a sentence instead of in zod's own words. */
import type { z } from "zod";
import { UserError } from "./errors.ts";

const NOUNS: Readonly<Record<string, string>> = {
  int: "an integer",
  number: "a finite number",
  string: "text",
  boolean: "a boolean",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** What a number, a text or a list is counted in. */
const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** What a value must be, as the end of a sentence that begins with its name. */
export function describeRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_big":
      return `must be ${issue.inclusive ? "at most" : "below"} ${issue.maximum}${
        UNITS[issue.origin] ?? ""
      }`;
    case "too_small":
      return `must be ${issue.inclusive ? "at least" : "above"} ${issue.minimum}${
        UNITS[issue.origin] ?? ""
      }`;
    case "invalid_type":
      return `must be ${NOUNS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.join(", ")}`;
    case "unrecognized_keys":
      return `has the unknown key ${JSON.stringify(issue.keys[0])}`;
    case "invalid_union":
      return "has none of the allowed forms";
    case "custom":
      return issue.message;
    default:
      return "does not have the allowed form";
  }
}

/** The value at a path; undefined where the path leads nowhere. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? Reflect.get(inner, key)
        : undefined,
    value,
  );
}

/** A found value as a part of a sentence, with its verb: short. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "is missing";
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value) ? "is a list" : "is an object";
  }
  // JSON has no NaN; a number of 400 digits parses as Infinity.
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return `is ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/**
 * Holds a value to a schema.
 *
 * @param value The value, from outside.
 * @param schema What is required.
 * @param options.source What the sentence calls the place that the value comes from.
 * @returns The value as the schema makes it.
 * @throws {UserError} When it is something else; the sentence names the first key that is not as required.
 */
export function requireSchema<T>(
  value: unknown,
  schema: z.ZodType<T>,
  { source }: { readonly source: string },
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw new UserError(`Cannot use ${source}`);
  const name = issue.path.map(String).join(".") || "its content";
  const found = describeValue(valueAt(value, issue.path));
  throw new UserError(
    issue.code === "custom" || issue.code === "unrecognized_keys" || issue.code === "invalid_union"
      ? `Cannot use ${source}: ${name} ${describeRule(issue)}`
      : `Cannot use ${source}: ${name} ${found}, but ${describeRule(issue)}`,
  );
}
