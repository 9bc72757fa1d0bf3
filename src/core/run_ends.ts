/** Both ends of a run: one step of 64 episodes is noisy, so what a run begins and ends with is taken over four. */

/** Steps of an end. */
export const END_STEPS = 4;

/** The first four steps, or as many as there are. */
export function firstSteps<T>(steps: readonly T[]): readonly T[] {
  return steps.slice(0, END_STEPS);
}

/** The last four steps, or as many as there are. */
export function lastSteps<T>(steps: readonly T[]): readonly T[] {
  return steps.slice(-END_STEPS);
}
