/** The one check that every reference op makes on its inputs: does an array hold what its axes say? */

import { at } from "./element.ts";
/** An array together with the length of each of its axes, outermost first. */
export type SizedArray = readonly [
  array: ArrayLike<number>,
  axes: Readonly<Record<string, number>>,
];

/**
 * Checks that every array holds exactly the product of its axes.
 *
 * @param operation Name of the calling function, for the sentence.
 * @param arrays Array name (ending in its axes) to the array and its axes, e.g. `{ x_ND: [x_ND, { N: 4, D: 32 }] }`.
 * @throws {RangeError} When an axis is not an integer of at least 0, or an array holds another number of elements.
 */
export function requireSizes(
  operation: string,
  arrays: Readonly<Record<string, SizedArray>>,
): void {
  for (const [name, [array, axes]] of Object.entries(arrays)) {
    let required = 1;
    for (const size of Object.values(axes)) required *= size;
    const valid = Object.values(axes).every((size) => Number.isInteger(size) && size >= 0);
    if (valid && array.length === required) continue;
    const shape = Object.entries(axes).map(([axis, size]) => `${axis}=${size}`).join(", ");
    throw new RangeError(
      valid
        ? `Cannot compute ${operation}: ${name} holds ${array.length} elements but (${shape}) needs ${required}`
        : `Cannot compute ${operation}: ${name} has axes (${shape}), which must be integers of at least 0`,
    );
  }
}

/**
 * Checks that every index of an array lies in [0, limit).
 *
 * @param operation Name of the calling function, for the sentence.
 * @param check The array's name, the indices, and the first index that is out of range.
 * @throws {RangeError} When an index is not an integer of that range.
 */
export function requireIndices(
  operation: string,
  check: { readonly name: string; readonly indices: ArrayLike<number>; readonly limit: number },
): void {
  for (let i = 0; i < check.indices.length; i++) {
    const index = at(check.indices, i);
    if (Number.isInteger(index) && index >= 0 && index < check.limit) continue;
    throw new RangeError(
      `Cannot compute ${operation}: ${check.name}[${i}] is ${index} but must be an integer in [0, ${check.limit})`,
    );
  }
}
