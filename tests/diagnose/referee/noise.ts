/** Normal and uniform numbers by seed. */
export interface Noise {
  /** Standard normal. */
  (): number;
  /** 0 to 1. */
  uniform(): number;
}

export function makeNoise(seed: number): Noise {
  let state = (Math.imul(seed + 1, 2654435761) ^ 0x9e3779b9) | 1;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 16; i++) uniform();
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return Object.assign(normal, { uniform });
}
