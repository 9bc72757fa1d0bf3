/** Bisecting: which of many versions is the first bad one, by any test, in the fewest tests. */

import { at } from "../core/element.ts";
/** One test that was made. */
export interface BisectTest<T> {
  /** Place of the version in the list. */
  readonly index: number;
  /** The version itself. */
  readonly version: T;
  /** What the test said. */
  readonly isGood: boolean;
}

/** What was found. */
export interface BisectResult<T> {
  /** The first bad version; the one before it is good. */
  readonly firstBad: T;
  /** Its place in the list. */
  readonly index: number;
  /** The tests in their order: at most ⌈log2(versions − 1)⌉. */
  readonly tests: readonly BisectTest<T>[];
}

/**
 * Searches the first bad version by halving. That the first is good and the last bad is taken as known, and so is that
 * badness stays once it has come: with a test that wavers (a training run inside its seed spread) the answer means nothing.
 *
 * @param versions In the order of their making, two at least.
 * @param isGood The test, for instance whether all invariants hold.
 * @returns The first bad version and the tests that found it.
 * @throws {RangeError} When there are fewer than two versions. Whatever the test throws ends the search.
 * @example
 * ```ts
 * import { bisect } from "agentrl";
 * const { firstBad, tests } = await bisect(["a", "b", "c", "d"], (version) => version < "c");
 * console.log(firstBad, tests.length); // c 2
 * ```
 */
export async function bisect<T>(
  versions: readonly T[],
  isGood: (version: T) => Promise<boolean> | boolean,
): Promise<BisectResult<T>> {
  if (versions.length < 2) {
    throw new RangeError(
      `Cannot bisect ${versions.length} versions: a good and a later bad one are needed`,
    );
  }
  const tests: BisectTest<T>[] = [];
  let good = 0;
  let bad = versions.length - 1;
  while (bad - good > 1) {
    const index = Math.floor((good + bad) / 2);
    const version = at(versions, index);
    const passed = await isGood(version);
    tests.push({ index, version, isGood: passed });
    if (passed) good = index;
    else bad = index;
  }
  return { firstBad: at(versions, bad), index: bad, tests };
}
