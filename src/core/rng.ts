/**
 * Counter-based randomness: a number is a function of (seed, stream, counters) alone, so it depends neither on what was
 * drawn before nor on who draws it. The WGSL twin is shaders/random.wgsl.
 */

const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24] as const;
/** Skein's key-schedule parity constant for 32-bit words. */
const PARITY = 0x1bd11bda;

/** Streams keep the uses of one seed apart. */
export const STREAM = {
  initialize: 0,
  sample: 1,
  tasks: 2,
  shuffle: 3,
  demonstrations: 4,
  evaluate: 5,
  experiment: 6,
} as const;

/**
 * Threefry-2x32 with 20 rounds: two words of key and two of counter give two random words.
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; held to its known-answer vectors.
 */
export function threefry(
  key: readonly [number, number],
  counter: readonly [number, number],
): [number, number] {
  const keys = [key[0] >>> 0, key[1] >>> 0, (key[0] ^ key[1] ^ PARITY) >>> 0];
  let x = (counter[0] + (keys[0] ?? 0)) >>> 0;
  let y = (counter[1] + (keys[1] ?? 0)) >>> 0;
  for (let round = 0; round < 20; round++) {
    const rotation = ROTATIONS[round % 8] ?? 0;
    x = (x + y) >>> 0;
    y = (((y << rotation) | (y >>> (32 - rotation))) ^ x) >>> 0;
    if (round % 4 === 3) {
      const injection = (round + 1) / 4;
      x = (x + (keys[injection % 3] ?? 0)) >>> 0;
      y = (y + (keys[(injection + 1) % 3] ?? 0) + injection) >>> 0;
    }
  }
  return [x, y];
}

/** A uniform in [0, 1) with 24 bits, exactly representable in f32. */
export function toUniform(word: number): number {
  return (word >>> 8) * 2 ** -24;
}

/** What names a sequence of random numbers. */
export interface RandomKey {
  /** An integer of 32 bits. */
  readonly seed: number;
  /** One of STREAM, or a number of your own. */
  readonly stream: number;
  /** The training step, or any number that the stream counts by (default 0). */
  readonly step?: number;
}

/** The two key words of a sequence. */
export function sequenceKey(key: RandomKey): [number, number] {
  return threefry([key.seed >>> 0, key.stream >>> 0], [(key.step ?? 0) >>> 0, 0]);
}

/** Draws of one sequence in order, for code that consumes numbers one after the other. */
export interface RandomSequence {
  /** A uniform in [0, 1). */
  uniform(): number;
  /** A standard normal (Box and Muller 1958). */
  normal(): number;
  /** An integer in [0, count). */
  integer(count: number): number;
  /** A seeded permutation of 0..count−1 (Fisher and Yates). */
  permutation(count: number): number[];
}

/** Opens a sequence at its beginning. */
export function randomSequence(key: RandomKey): RandomSequence {
  const words = sequenceKey(key);
  let index = 0;
  const uniform = () => {
    const [x] = threefry(words, [index >>> 0, Math.floor(index / 2 ** 32)]);
    index++;
    return toUniform(x);
  };
  const integer = (count: number) => Math.floor(uniform() * count);
  return {
    uniform,
    integer,
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    permutation(count) {
      const order = Array.from({ length: count }, (_, i) => i);
      for (let i = count - 1; i > 0; i--) {
        const j = integer(i + 1);
        [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
      }
      return order;
    },
  };
}
