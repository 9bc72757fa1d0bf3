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
 * What is wrong with a value.
 *
 * @param value The value, from outside.
 * @param issue The first thing that its schema refuses.
 * @returns Key, what was found and what is required: the end of a sentence.
 */
function describeIssue(value: unknown, issue: z.core.$ZodIssue): string {
  const name = issue.path.map(String).join(".") || "its content";
  return issue.code === "custom" || issue.code === "unrecognized_keys" ||
      issue.code === "invalid_union"
    ? `${name} ${describeRule(issue)}`
    : `${name} ${describeValue(valueAt(value, issue.path))}, but ${describeRule(issue)}`;
}

/** A value that a schema takes, or what is wrong with it. */
export type Held<T> = { readonly value: T } | { readonly problem: string };

/**
 * Holds a value to a schema, for sentences of the caller's.
 *
 * @param value The value, from outside.
 * @param schema What is required.
 * @returns The value as the schema makes it, or what is wrong with the first key that is not as required.
 */
export function holdToSchema<T>(value: unknown, schema: z.ZodType<T>): Held<T> {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data };
  const [issue] = result.error.issues;
  return { problem: issue === undefined ? "its content is wrong" : describeIssue(value, issue) };
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
  const held = holdToSchema(value, schema);
  if ("value" in held) return held.value;
  throw new UserError(`Cannot use ${source}: ${held.problem}`);
}
