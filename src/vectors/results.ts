/** RESULTS.json: what functions of a trainer gave for the vectors, written by anybody. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { requireSchema } from "../core/schema.ts";
import { jsonNumber, VECTORS_VERSION } from "./document.ts";

/** Functions in a file, and characters of a name: beyond that nobody wrote it by a harness. */
const MOST_FUNCTIONS = 1000;
const LONGEST_NAME = 200;

/** Depth of a list of lists: no output has more axes. */
const DEEPEST = 4;

const NAME = z.string().min(1).max(LONGEST_NAME);

/** An output: a number, or lists of lists of numbers, read in row-major order. Their shape is not looked at, their number is. */
export type NestedOutput =
  | number
  | "NaN"
  | "Infinity"
  | "-Infinity"
  | null
  | readonly NestedOutput[];

/** What a function of a trainer gave. */
export interface FunctionResults {
  /** The trainer's name of it. */
  readonly name: string;
  /** The family whose vectors it was given. */
  readonly family: string;
  /** That of the family's file. */
  readonly digest: string;
  /** Outputs by id of the vector and name. */
  readonly results: Readonly<Record<string, Readonly<Record<string, NestedOutput>>>>;
  /** What it raised, by id of the vector. */
  readonly errors?: Readonly<Record<string, string>> | undefined;
}

/** A file of results. */
export interface VectorResults {
  /** Version of the form. */
  readonly v: number;
  /** Name of the trainer. */
  readonly trainer?: string | undefined;
  /** One entry a function. */
  readonly functions: readonly FunctionResults[];
}

const nested: z.ZodType<NestedOutput> = z.lazy(() =>
  z.union([jsonNumber, z.null(), z.array(nested)])
)
  .meta({ id: "output" });

/** A function's results. */
const functionResultsSchema = z.object({
  name: NAME.describe("the trainer's name of the function, for the table"),
  family: NAME.describe("the family whose vectors it was given"),
  digest: NAME.describe("that of the family's file"),
  results: z.record(z.string(), z.record(z.string(), nested))
    .describe(
      "outputs by id of the vector and name; an output that the function lacks is left out",
    ),
  errors: z.record(z.string(), z.string()).optional()
    .describe("what the function raised, by id of the vector"),
}) satisfies z.ZodType<FunctionResults>;

/** The whole file. */
const resultsSchema = z.object({
  v: z.literal(VECTORS_VERSION).describe("version of the form"),
  trainer: NAME.optional(),
  functions: z.array(functionResultsSchema).min(1).max(MOST_FUNCTIONS),
}) satisfies z.ZodType<VectorResults>;

/** The schema of a file of results in JSON Schema's words. */
export function resultsJsonSchema(): object {
  return z.toJSONSchema(resultsSchema);
}

/** Refuses lists so deep that a schema, which goes by recursion, would end the stack. */
function requireShallow(value: unknown, source: string): void {
  let level: unknown[] = [value];
  // Results, function, vector, output, and the axes of an array.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 5 + DEEPEST) {
      throw new UserError(
        `Cannot use ${source}: it is nested deeper than results are, which end at lists of ${DEEPEST} axes`,
      );
    }
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const inner of Object.values(one)) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
}

/**
 * Holds a value to the schema of results.
 *
 * @param value Parsed JSON.
 * @param options.source What the sentence calls the file.
 * @throws {UserError} When it is something else.
 */
export function readResults(
  value: unknown,
  { source }: { readonly source: string },
): VectorResults {
  const version = typeof value === "object" && value !== null && "v" in value ? value.v : undefined;
  if (typeof version === "number" && version !== VECTORS_VERSION) {
    throw new UserError(
      `Cannot use ${source}: it has version ${version} of the form, but this program reads version ` +
        `${VECTORS_VERSION}; run the harness again with vectors that this program wrote`,
    );
  }
  requireShallow(value, source);
  return requireSchema(value, resultsSchema, { source });
}

/** An output as a flat list of numbers; null is NaN, as JSON writers put it. */
export function flatValues(output: NestedOutput): number[] {
  if (Array.isArray(output)) return output.flatMap((inner: NestedOutput) => flatValues(inner));
  return [output === null ? NaN : Number(output)];
}
