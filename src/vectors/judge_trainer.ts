/** Vectors for trainers in TypeScript: a function goes in, a verdict comes out. */
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import { familyNamed, VECTOR_FAMILIES } from "./families.ts";
import { type JudgedFunction, judgeFunction } from "./judge.ts";
import { familyDigest } from "./predictions.ts";
import type { FunctionResults } from "./results.ts";
import type { Values } from "./values.ts";

/** What the function of a trainer is called with. */
export interface VectorCall {
  /** Arrays by name, in row-major order. */
  readonly inputs: Readonly<Record<string, Values>>;
  /** Numbers by name, such as a clip. */
  readonly config: Readonly<Record<string, number>>;
}

/** An output: a scalar, or numbers in row-major order. */
export type VectorOutput = number | ArrayLike<number>;

/** A function of a trainer: outputs by name, those that it has. */
export type VectorFunction = (
  call: VectorCall,
) => Readonly<Record<string, VectorOutput>> | Promise<Readonly<Record<string, VectorOutput>>>;

/**
 * Calls a function with every vector of a family.
 *
 * @param name The family.
 * @param run The function. Where it throws, the vector has no result and the message is kept.
 * @param options.name What it is called in the verdict (default: the family).
 * @throws {UserError} When there is no such family.
 */
export async function runVectors(
  name: string,
  run: VectorFunction,
  options: { readonly name?: string } = {},
): Promise<FunctionResults> {
  const family = familyNamed(name);
  if (family === undefined) {
    const names = VECTOR_FAMILIES.map(({ name }) => name);
    throw new UserError(`There is no family of vectors "${name}": ${suggestName(name, names)}`);
  }
  const results: Record<string, Record<string, number | number[]>> = {};
  const errors: Record<string, string> = {};
  for (const { id, inputs, config } of family.cases) {
    // A function that writes into its arguments must not change what others are given.
    const own = Object.entries(inputs).map(([key, { shape, values }]) =>
      [key, { shape: [...shape], values: [...values] }] as const
    );
    try {
      const outputs = await run({ inputs: Object.fromEntries(own), config: { ...config } });
      results[id] = Object.fromEntries(
        Object.entries(outputs).map(([key, output]) => [
          key,
          typeof output === "number" ? output : Array.from(output),
        ]),
      );
    } catch (error) {
      errors[id] = error instanceof Error ? error.message : String(error);
    }
  }
  return {
    name: options.name ?? name,
    family: name,
    digest: familyDigest(family),
    results,
    errors,
  };
}

/**
 * Judges a function of a trainer by a family of vectors: which dialect it is, or which mistake explains the differences.
 *
 * @param family The family, one of {@linkcode VECTOR_FAMILIES}.
 * @param run The function.
 * @param options.name What it is called in the verdict (default: the family).
 * @throws {UserError} When there is no such family.
 *
 * @example
 * ```ts
 * import { judgeTrainerFunction } from "agentrl";
 *
 * const { verdict } = await judgeTrainerFunction("aggregation", () => ({ loss: 0 }));
 * console.log(verdict); // unknown
 * ```
 */
export async function judgeTrainerFunction(
  family: string,
  run: VectorFunction,
  options: { readonly name?: string } = {},
): Promise<JudgedFunction> {
  return judgeFunction(await runVectors(family, run, options));
}
