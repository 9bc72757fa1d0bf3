/** A small seeded stream of uniforms for the gym's tests (mulberry32; the project's own generator is tested elsewhere). */

/** Uniform numbers in [0, 1) that depend on the seed alone. */
export function seededUniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = state + 0x6d2b79f5 >>> 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
}
