/** What a family of vectors is: cases of one function of a trainer, the dialects in use, and what common mistakes would give. */
import type { Arrays, Tolerance, Values } from "./values.ts";

/** One call of the function. */
export interface VectorCase {
  /** Unique in its family. */
  readonly id: string;
  /** What it is there for. */
  readonly about: string;
  /** Arguments that are arrays; every value is a float32, so that all languages begin with the same numbers. */
  readonly inputs: Arrays;
  /** Arguments that are numbers, such as a clip. */
  readonly config: Readonly<Record<string, number>>;
  /** An input at which right trainers differ or fail (an empty batch, overflow, NaN under the mask): told apart from the others. */
  readonly isEdge?: true;
  /** Another case of the family of which the outputs must be the same, up to how they are laid out. */
  readonly sameAs?: string;
}

/** Computes the outputs of a case. */
export type Compute = (vectorCase: VectorCase) => Arrays;

/** A definition in use. */
export interface Dialect {
  /** Its name, unique in the family. */
  readonly name: string;
  /** The definition, as a clause. */
  readonly sentence: string;
  /** Frameworks and papers that have it; with a date where that changed. */
  readonly usedBy: readonly string[];
  /** The outputs, in float64. */
  readonly compute: Compute;
}

/** A common mistake. */
export interface Mistake {
  /** Its name, unique in the family. */
  readonly name: string;
  /** What such a trainer does, as the end of "as a trainer would that …". */
  readonly sentence: string;
  /** What such a trainer gives where the dialect's gives `right`; undefined where the mistake cannot be made. */
  readonly compute: (
    vectorCase: VectorCase,
    right: Compute,
    dialect: string,
  ) => Arrays | undefined;
}

/** A family. */
export interface Family {
  /** Its name, which is the stem of its file. */
  readonly name: string;
  /** What the function does. */
  readonly sentence: string;
  /** What each input is. */
  readonly inputs: Readonly<Record<string, string>>;
  /** What each number of the configuration is. */
  readonly config: Readonly<Record<string, string>>;
  /** What each output is. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Outputs that mean something only beside others: a gradient of both, where one of them is not computed. */
  readonly beside?: Readonly<Record<string, readonly string[]>>;
  /** How far a trainer's float32 may be off. */
  readonly tolerance: Tolerance;
  /** The vectors. */
  readonly cases: readonly VectorCase[];
  /** The definitions in use. */
  readonly dialects: readonly Dialect[];
  /** Common mistakes. */
  readonly mistakes: readonly Mistake[];
}

/** An input of a case. @throws {RangeError} When it has none of that name. */
export function input({ id, inputs }: VectorCase, name: string): Values {
  const found = inputs[name];
  if (found === undefined) throw new RangeError(`Cannot compute ${id}: it has no input ${name}`);
  return found;
}

/** A number of a case's configuration. @throws {RangeError} When it has none of that name. */
export function setting({ id, config }: VectorCase, name: string): number {
  const found = config[name];
  if (found === undefined) throw new RangeError(`Cannot compute ${id}: it has no ${name}`);
  return found;
}

/** The case with an input replaced. */
export function withInput(
  vectorCase: VectorCase,
  name: string,
  change: (values: Values) => Values,
): VectorCase {
  const { inputs } = vectorCase;
  return { ...vectorCase, inputs: { ...inputs, [name]: change(input(vectorCase, name)) } };
}

/** The case with two inputs exchanged. */
export function withSwapped(vectorCase: VectorCase, a: string, b: string): VectorCase {
  const { inputs } = vectorCase;
  return {
    ...vectorCase,
    inputs: { ...inputs, [a]: input(vectorCase, b), [b]: input(vectorCase, a) },
  };
}

/** The case with numbers of its configuration replaced. */
export function withConfig(
  vectorCase: VectorCase,
  config: Readonly<Record<string, number>>,
): VectorCase {
  return { ...vectorCase, config: { ...vectorCase.config, ...config } };
}

/** Outputs with each value replaced. */
export function mapOutputs(
  outputs: Arrays,
  change: (value: number, name: string) => number,
): Arrays {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { shape, values }]) => [
      name,
      { shape, values: values.map((value) => change(value, name)) },
    ]),
  );
}

/** A mistake in how the function is called: the case with something changed, given to the right trainer. */
export function inputMistake(
  name: string,
  sentence: string,
  change: (vectorCase: VectorCase) => VectorCase,
): Mistake {
  return { name, sentence, compute: (vectorCase, right) => right(change(vectorCase)) };
}

/** A mistake in what becomes of the outputs. */
export function outputMistake(
  name: string,
  sentence: string,
  change: (outputs: Arrays, vectorCase: VectorCase) => Arrays,
): Mistake {
  return {
    name,
    sentence,
    compute: (vectorCase, right) => change(right(vectorCase), vectorCase),
  };
}

/**
 * Numbers that look like nothing: multiples of 1/64, which are exact in float32 and short in decimal.
 *
 * @param count How many.
 * @param options.seed Another one, other numbers.
 * @param options.low The least, a multiple of 1/64.
 * @param options.high The most.
 */
export function lattice(
  count: number,
  { seed, low, high }: { readonly seed: number; readonly low: number; readonly high: number },
): number[] {
  const steps = Math.round((high - low) * 64) + 1;
  let state = (seed * 2654435761 + 12345) >>> 0;
  return Array.from({ length: count }, () => {
    // The generator of Numerical Recipes; its upper bits are good enough for numbers that need only differ.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + (state >>> 8) % steps / 64;
  });
}

/** A mistake that multiplies every output by a factor. */
export function scaled(
  name: string,
  sentence: string,
  factor: (vectorCase: VectorCase) => number,
): Mistake {
  return outputMistake(
    name,
    sentence,
    (outputs, vectorCase) => mapOutputs(outputs, (value) => value * factor(vectorCase)),
  );
}
