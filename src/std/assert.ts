/**
 * The part of `@std/assert` that this project uses, built on what Deno ships (`node:assert`).
 *
 * deno.json maps the bare specifier `@std/assert` here; point it at `jsr:@std/assert@1` to use the published package:
 * the signatures are the same.
 */
import nodeAssert, { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";

export { AssertionError };

/** Asserts that `expression` is truthy. @throws {AssertionError} When it is not. */
export function assert(expression: unknown, message = ""): asserts expression {
  if (!expression) throw new AssertionError({ message: message || "Expected a truthy value" });
}

/** Asserts deep equality. @throws {AssertionError} When the two values differ. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, message);
}

/** Asserts that two values are not deeply equal. @throws {AssertionError} When they are. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  if (isDeepStrictEqual(actual, expected)) {
    throw new AssertionError({
      message: message ?? "Expected the values to differ",
      actual,
      expected,
    });
  }
}

/**
 * Asserts that `actual` is within `tolerance` of `expected` (default 1e-7 of `expected`). A NaN fails.
 * @throws {AssertionError} When it is not.
 */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance: number = Math.abs(expected) * 1e-7 || 1e-7,
  message?: string,
): void {
  if (Object.is(actual, expected)) return;
  if (!(Math.abs(actual - expected) <= tolerance)) {
    throw new AssertionError({
      message: `Expected ${actual} to be within ${tolerance} of ${expected}${
        message ? `: ${message}` : ""
      }`,
      actual,
      expected,
    });
  }
}

/** Asserts that `actual` contains `expected`. @throws {AssertionError} When it does not. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (!actual.includes(expected)) {
    throw new AssertionError({
      message: message ??
        `Expected ${JSON.stringify(actual)} to contain ${JSON.stringify(expected)}`,
      actual,
      expected,
    });
  }
}

/** Asserts that `actual` matches `pattern`. @throws {AssertionError} When it does not. */
export function assertMatch(actual: string, pattern: RegExp, message?: string): void {
  if (!pattern.test(actual)) {
    throw new AssertionError({
      message: message ?? `Expected ${JSON.stringify(actual)} to match ${pattern}`,
      actual,
    });
  }
}

// deno-lint-ignore no-explicit-any -- the published signature: any constructor of an error is allowed here.
type ErrorClass<E extends Error> = new (...args: any[]) => E;

function checkError<E extends Error>(
  error: unknown,
  ErrorClass: ErrorClass<E> | undefined,
  messageIncludes: string | undefined,
): E {
  if (!(error instanceof Error)) {
    throw new AssertionError({ message: `A non-Error was thrown: ${error}` });
  }
  if (ErrorClass && !(error instanceof ErrorClass)) {
    throw new AssertionError({
      message:
        `Expected ${ErrorClass.name}, but ${error.constructor.name} was thrown: ${error.message}`,
    });
  }
  if (messageIncludes !== undefined) assertStringIncludes(error.message, messageIncludes);
  return error as E;
}

/** Asserts that `fn` throws. @returns The error. @throws {AssertionError} When it does not throw, or something else. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass?: ErrorClass<E>,
  messageIncludes?: string,
): E {
  try {
    fn();
  } catch (error) {
    return checkError(error, ErrorClass, messageIncludes);
  }
  throw new AssertionError({ message: "Expected the function to throw" });
}

/** Asserts that the promise of `fn` rejects. @returns The error. @throws {AssertionError} When it resolves. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass?: ErrorClass<E>,
  messageIncludes?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return checkError(error, ErrorClass, messageIncludes);
  }
  throw new AssertionError({ message: "Expected the promise to reject" });
}
