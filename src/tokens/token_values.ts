/** Numbers of tokens: parts of them, and numbers that are the same for every token. */
import type { TokenValues } from "./token_batch.ts";

/** The first index of a sorted list whose value is at least `least`. */
function lowerBound(sorted: readonly number[], least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Values of the tokens from `begin` to before `end`; shares their memory. */
export function sliceValues({ values, nonFinite }: TokenValues, begin: number, end: number) {
  const within = nonFinite.slice(lowerBound(nonFinite, begin), lowerBound(nonFinite, end));
  return {
    values: values.subarray(begin, end),
    nonFinite: within.map((i) => i - begin),
  } satisfies TokenValues;
}

/** The same values, where those at some tokens are fillers and say nothing. */
export function withoutFillers(
  { values, nonFinite }: TokenValues,
  isFiller: (value: number, token: number) => boolean,
): TokenValues {
  return {
    values: values.map((value, token) => isFiller(value, token) ? NaN : value),
    nonFinite: nonFinite.filter((token) => !isFiller(values[token], token)),
  };
}

/** No token has a log-prob without one before it: writers put a filler at index 0. */
export function withoutFirst(values: TokenValues): TokenValues {
  return withoutFillers(values, (_, token) => token === 0);
}

/** One value for each of so many tokens. */
export function filled(value: number, length: number): TokenValues {
  const isFinite = Number.isFinite(value);
  return {
    values: new Float64Array(length).fill(value),
    nonFinite: isFinite ? [] : Array.from({ length }, (_, token) => token),
  };
}

/** The fields that are there, as optional properties want them. */
export function present<T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
