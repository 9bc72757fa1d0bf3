/** Reading an element that must be there: a mistaken index ends in a sentence, where `values[index]` gives undefined, then NaN. */

/**
 * The element at an index.
 *
 * @param values An array of any kind without holes.
 * @param index From 0.
 * @throws {RangeError} When there is no such element.
 */
export function at<T>(values: ArrayLike<T>, index: number): T {
  const value = values[index];
  if (value === undefined) {
    throw new RangeError(
      `Cannot read element ${index}: there are ${values.length}, from 0 to ${values.length - 1}`,
    );
  }
  return value;
}
