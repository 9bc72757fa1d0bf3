/** Bytes from base64, by the browser's own function where it has one: the other way takes a tenth of a second for an agent. */

/** What older browsers lack. */
interface Decoding {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

/** The bytes of a base64 text. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 }: Decoding = Uint8Array;
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
