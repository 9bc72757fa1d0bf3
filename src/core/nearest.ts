/** The nearest known name to a mistyped one, for error sentences that end in "did you mean …?". */

/** Levenshtein distance: the fewest insertions, deletions and replacements that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Longer texts are not names: comparing them would cost time and mean nothing. */
const MAX_NAME_LENGTH = 64;

/**
 * Finds the known name that most resembles `name`, without regard to case.
 *
 * @param name What the user wrote.
 * @param known The allowed names; among equally near ones the first wins.
 * @returns The name at the smallest edit distance, or undefined where more than half of the longer of the two would change.
 * @example
 * ```ts
 * import { nearestName } from "agentrl";
 * console.log(nearestName("grop", ["reinforce", "grpo"])); // grpo
 * ```
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let smallest = Infinity;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.max(name.length, candidate.length) / 2;
    if (distance < smallest && distance <= allowed) {
      nearest = candidate;
      smallest = distance;
    }
  }
  return nearest;
}

/**
 * The end of an error sentence about an unknown name: a guess where one is near, else the whole list.
 *
 * @param name What the user wrote.
 * @param known The allowed names.
 * @returns `did you mean "grpo"?` or `choose one of a, b, c`.
 */
export function suggestName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `choose one of ${known.join(", ")}` : `did you mean "${nearest}"?`;
}
