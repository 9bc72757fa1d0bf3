/** Hashes of token ids and of texts, by which equal sequences of two dumps find each other without either being kept. */

/** FNV-1a's, for two lanes that begin and go on differently. */
const LANES = [
  { offset: 0x811c9dc5, prime: 0x01000193 },
  { offset: 0x9747b28c, prime: 0x85ebca6b },
] as const;

/**
 * 64 bits of a sequence of ids and its length. Among 10 million sequences two different ones share a hash with a chance of
 * 3 in a million.
 */
export function hashOfIds(ids: Uint32Array): string {
  const words = LANES.map(({ offset, prime }) => {
    let hash = Math.imul(offset ^ ids.length, prime);
    for (let i = 0; i < ids.length; i++) {
      hash = Math.imul(hash ^ ids[i], prime);
      hash ^= hash >>> 15;
    }
    return (hash >>> 0).toString(16).padStart(8, "0");
  });
  return words.join("");
}

/** The same of a text. */
export function hashOfText(text: string): string {
  return hashOfIds(Uint32Array.from({ length: text.length }, (_, i) => text.charCodeAt(i)));
}
