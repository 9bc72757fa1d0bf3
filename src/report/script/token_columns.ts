/** Unpacks the arrays of a token page: constants, base64 of 32-bit numbers, runs of equal values. src/report/token_payload.ts packs them. */

/** The bytes of a text of base64. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * Numbers of 32 bits.
 *
 * @param column A number that all are equal to, or base64 of the numbers in little-endian order.
 * @param count How many.
 */
export function unpackFloats(column: number | string, count: number): Float32Array {
  if (typeof column === "number") return new Float32Array(count).fill(column);
  const view = new DataView(bytesOf(column).buffer);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true));
}

/** Whole numbers of 32 bits without a sign, from base64 of them in little-endian order. */
export function unpackIds(text: string, count: number): Uint32Array {
  const view = new DataView(bytesOf(text).buffer);
  return Uint32Array.from({ length: count }, (_, i) => view.getUint32(4 * i, true));
}

/**
 * Whole numbers from their runs: value and length in turn.
 *
 * @param options.slope What is added from one to the next within a run: 0 for equal values, 1 for positions.
 */
export function unpackRuns(
  runs: readonly number[],
  { count, slope = 0 }: { readonly count: number; readonly slope?: 0 | 1 },
): Int32Array {
  const values = new Int32Array(count);
  let next = 0;
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = 0; n < runs[i + 1]; n++) values[next++] = runs[i] + slope * n;
  }
  return values;
}
