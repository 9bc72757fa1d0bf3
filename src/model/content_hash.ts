/** The SHA-256 by which a reader of a safetensors file knows damage: what it is taken of, and where it stands. */
import { serializeSafetensors, type TensorFile } from "./safetensors.ts";

/** The metadata's name of the SHA-256. */
export const CONTENT_HASH = "content_sha256";

/** What the SHA-256 is taken of: the file that holds the same tensors and texts by name, and no SHA-256. */
export function hashedBytes({ tensors, metadata }: TensorFile): Uint8Array<ArrayBuffer> {
  const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
    a < b ? -1 : 1;
  return serializeSafetensors({
    tensors: new Map([...tensors].sort(byName)),
    metadata: Object.fromEntries(Object.entries(metadata).sort(byName)),
  });
}

/** The file with its SHA-256. @param hash Of {@linkcode hashedBytes}, as hexadecimal. */
export function withHash({ tensors, metadata }: TensorFile, hash: string): TensorFile {
  return { tensors, metadata: { ...metadata, [CONTENT_HASH]: hash } };
}
