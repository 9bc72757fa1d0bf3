/** Lists of small numbers in which neighbours are mostly equal, such as roles, kept in a few numbers. */

/** The same as a Uint8Array: each value, and the index after its last token. */
export interface ByteRuns {
  readonly values: readonly number[];
  readonly ends: readonly number[];
}

/** Packs a list. */
export function packRuns(list: Uint8Array): ByteRuns {
  const values: number[] = [];
  const ends: number[] = [];
  for (const [i, value] of list.entries()) {
    if (i > 0 && value === list[i - 1]) continue;
    if (i > 0) ends.push(i);
    values.push(value);
  }
  if (list.length > 0) ends.push(list.length);
  return { values, ends };
}

/** The list that was packed. */
export function unpackRuns({ values, ends }: ByteRuns): Uint8Array {
  const list = new Uint8Array(ends.at(-1) ?? 0);
  for (const [run, value] of values.entries()) list.fill(value, ends[run - 1] ?? 0, ends[run]);
  return list;
}
