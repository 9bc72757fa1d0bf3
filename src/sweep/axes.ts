/** The axes of a sweep: lists, ranges, logarithmic ranges and random draws, as the values that they stand for. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import { randomSequence } from "../core/rng.ts";
import { describeRule, describeValue } from "../core/schema.ts";
import { type CellSetting, settingSchema } from "./sweep_folder.ts";

/** A hundred thousand values of an axis are a mistake in a count, not an axis. */
const MAX_VALUES = 100_000;

/** Beside the streams of src/core/rng.ts: what a sweep draws is drawn by nothing else. */
const SWEEP_STREAM = 0x5357;

/** Settings are read by people: a drawn learning rate has no more digits than anybody would type. */
const DIGITS = 6;

/** Sums of steps are rounded here, so that 0.1 + 2 × 0.1 is 0.3. */
const EXACT_DIGITS = 12;

const pair = z.tuple([z.number(), z.number()]);
const count = z.int().min(1).max(MAX_VALUES);

/** The forms of an axis other than a list, by the key that tells them apart. */
export const AXIS_FORMS = {
  range: z.strictObject({ range: pair, step: z.number().positive() }),
  logRange: z.strictObject({
    logRange: pair,
    count: count.min(2),
    integer: z.boolean().default(false),
  }),
  random: z.strictObject({
    random: pair,
    count,
    seed: z.int().min(0).max(2 ** 32 - 1).default(0),
    scale: z.enum(["linear", "log"]).default("linear"),
    integer: z.boolean().default(false),
  }),
} as const;

/** What a setting may be, for error sentences. */
const SETTING_FORMS = "a number, text, true, false, null or a list of those";

/** Where a value stands, for error sentences. */
export interface Place {
  /** What the sentence calls the file. */
  readonly source: string;
  /** The value's name in it: `axes.lr`. */
  readonly name: string;
}

/** An error about a value of a sweep's file. */
export function misplaced({ source, name }: Place, what: string): UserError {
  return new UserError(`Cannot use ${source}: ${name} ${what}`);
}

/** The value at a path below another one. */
function below(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  );
}

/**
 * Holds an object of a sweep's file to its schema.
 *
 * @throws {UserError} With the first key that is not as required; an unknown one with the nearest that is known.
 */
export function requireObject<T extends z.ZodRawShape>(
  value: unknown,
  schema: z.ZodObject<T>,
  place: Place,
): z.infer<z.ZodObject<T>> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { source, name } = place;
  const full = (path: readonly PropertyKey[]) =>
    [...(name === "" ? [] : [name]), ...path.map(String)].join(".");
  const issues = result.error.issues;
  const unknown = issues.find(({ code }) => code === "unrecognized_keys");
  if (unknown?.code === "unrecognized_keys") {
    const [key = ""] = unknown.keys;
    const known = Object.keys(schema.shape);
    throw new UserError(
      `Cannot use ${source}: unknown key "${full([...unknown.path, key])}": ${
        suggestName(key, known)
      }`,
    );
  }
  const [issue] = issues;
  const path = issue?.path ?? [];
  const rule = issue === undefined || issue.code === "invalid_union"
    ? `must be ${SETTING_FORMS}`
    : describeRule(issue);
  throw misplaced(
    { source, name: full(path) || "its content" },
    rule.startsWith("must") ? `${describeValue(below(value, path))}, but ${rule}` : rule,
  );
}

const rounded = (value: number, digits: number) => Number(value.toPrecision(digits));

function requireAscending([low, high]: readonly [number, number], place: Place): void {
  if (low < high) return;
  throw misplaced(place, `goes from ${low} to ${high}, but must go up: write the lower end first`);
}

function rangeValues(value: unknown, place: Place): number[] {
  const { range, step } = requireObject(value, AXIS_FORMS.range, place);
  requireAscending(range, place);
  const [low, high] = range;
  const steps = (high - low) / step;
  const whole = Math.round(steps);
  if (whole + 1 > MAX_VALUES) {
    throw misplaced(place, `has ${whole + 1} values; at most ${MAX_VALUES} are allowed`);
  }
  const at = (i: number) => rounded(low + i * step, EXACT_DIGITS);
  if (Math.abs(steps - whole) > 1e-9 * Math.max(1, steps)) {
    const last = at(Math.floor(steps));
    throw misplaced(
      place,
      `has a step of ${step}, which does not lead from ${low} to ${high}: the last value would be ${last}; ` +
        `write "range": [${low}, ${last === low ? at(1) : last}], or another step`,
    );
  }
  return Array.from({ length: whole + 1 }, (_, i) => i === whole ? high : at(i));
}

/** Values of a scale that has only those above 0. */
function requirePositive([low]: readonly [number, number], place: Place): void {
  if (low > 0) return;
  throw misplaced(place, `begins at ${low}, but a logarithmic scale begins above 0`);
}

function requireWhole(ends: readonly number[], { integer, place }: {
  readonly integer: boolean;
  readonly place: Place;
}): void {
  const end = ends.find((value) => integer && !Number.isInteger(value));
  if (end !== undefined) {
    throw misplaced(place, `has the end ${end}, but integer: true needs ends that are integers`);
  }
}

function logValues(value: unknown, place: Place): number[] {
  const { logRange, count, integer } = requireObject(value, AXIS_FORMS.logRange, place);
  requirePositive(logRange, place);
  requireAscending(logRange, place);
  requireWhole(logRange, { integer, place });
  const [low, high] = logRange;
  return Array.from({ length: count }, (_, i) => {
    if (i === 0) return low;
    if (i === count - 1) return high;
    const between = low * (high / low) ** (i / (count - 1));
    return integer ? Math.round(between) : rounded(between, DIGITS);
  });
}

/** A number for each name, so that axes of one seed draw apart (FNV-1a). */
function streamStep(name: string): number {
  return Array.from(new TextEncoder().encode(name)).reduce(
    (hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0,
    0x811c9dc5,
  );
}

function randomValues(value: unknown, place: Place): number[] {
  const { name } = place;
  if (typeof value === "object" && value !== null && !Object.hasOwn(value, "count")) {
    throw misplaced(
      place,
      'is random and has no count: say how many values to draw, such as "count": 8',
    );
  }
  const { random, count, seed, scale, integer } = requireObject(value, AXIS_FORMS.random, place);
  if (scale === "log") requirePositive(random, place);
  requireAscending(random, place);
  requireWhole(random, { integer, place });
  const [low, high] = random;
  if (integer && high - low + 1 < count) {
    throw misplaced(
      place,
      `draws ${count} different integers from ${low} to ${high}, where there are only ${
        high - low + 1
      }`,
    );
  }
  const sequence = randomSequence({ seed, stream: SWEEP_STREAM, step: streamStep(name) });
  const draw = () => {
    const share = sequence.uniform();
    // An integer's share of the scale reaches half a step around it.
    const [from, to] = integer ? [low - 0.5 * Number(scale === "linear"), high + 0.5] : random;
    const drawn = scale === "log" ? from * (to / from) ** share : from + (to - from) * share;
    return integer
      ? Math.min(high, Math.max(low, Math.round(drawn)))
      : Math.min(high, Math.max(low, rounded(drawn, DIGITS)));
  };
  // A value that was drawn already would be the same run again.
  const values = new Set<number>();
  for (let tries = 0; values.size < count; tries++) {
    if (tries > 1000 * count) {
      throw misplaced(place, `draws ${count} different values, but finds only ${values.size}`);
    }
    values.add(draw());
  }
  return [...values];
}

function listValues(list: readonly unknown[], place: Place): CellSetting[] {
  if (list.length === 0) {
    throw misplaced(place, "is empty: give it at least one value, or leave it out");
  }
  return list.map((value, i) => {
    const found = settingSchema.safeParse(value);
    if (found.success) return found.data;
    throw misplaced(
      { ...place, name: `${place.name}.${i}` },
      `${describeValue(value)}, but must be ${SETTING_FORMS}`,
    );
  });
}

function valuesOf(value: unknown, place: Place): readonly CellSetting[] {
  if (Array.isArray(value)) return listValues(value, place);
  if (typeof value === "object" && value !== null) {
    if (Object.hasOwn(value, "logRange")) return logValues(value, place);
    if (Object.hasOwn(value, "random")) return randomValues(value, place);
    if (Object.hasOwn(value, "range")) return rangeValues(value, place);
    const [key = ""] = Object.keys(value);
    throw misplaced(
      place,
      `has the unknown form "${key}": ${suggestName(key, Object.keys(AXIS_FORMS))}`,
    );
  }
  throw misplaced(
    place,
    `${describeValue(value)}, but must be a list of values, or one of ${
      Object.keys(AXIS_FORMS).join(", ")
    }; a setting that does not vary stands under settings`,
  );
}

/**
 * The values of an axis, in the order of the file.
 *
 * @param value A list; `{range: [low, high], step}`, both ends included; `{logRange: [low, high], count}`; or
 * `{random: [low, high], count, seed, scale}`, whose first values stay where the count grows.
 * @param place Where it stands.
 * @throws {UserError} When it has none of these forms, is empty, or holds a value twice.
 */
export function axisValues(value: unknown, place: Place): readonly CellSetting[] {
  const values = valuesOf(value, place);
  const seen = new Set<string>();
  for (const one of values) {
    const text = JSON.stringify(one);
    if (seen.has(text)) throw misplaced(place, `holds ${text} twice: each value once`);
    seen.add(text);
  }
  return values;
}
