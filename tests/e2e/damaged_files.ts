/** Golden files with one thing changed each, for tests of what commands refuse. */
import {
  parseSafetensors,
  serializeSafetensors,
  type Tensor,
} from "../../src/model/safetensors.ts";
import { golden } from "./command_line.ts";

/** Writes a copy of tests/golden/NAME.safetensors whose tensors `change` has edited, and returns its path. */
export function changedCopy(
  folder: string,
  name: "model" | "batch",
  change: (tensors: Map<string, Tensor>) => void,
): string {
  const { tensors, metadata } = parseSafetensors(
    Deno.readFileSync(golden(`${name}.safetensors`)),
    name,
  );
  const copies = new Map(
    Array.from(
      tensors,
      ([key, tensor]) => [key, { ...tensor, data: tensor.data.slice() } as Tensor],
    ),
  );
  change(copies);
  return write(folder, serializeSafetensors({ tensors: copies, metadata }));
}

/** Changes one number of a tensor. */
export function setEntry(name: string, index: number, value: number) {
  return (tensors: Map<string, Tensor>): void => {
    const tensor = tensors.get(name);
    if (!tensor || index >= tensor.data.length) {
      throw new RangeError(`no entry ${index} of ${name}`);
    }
    tensor.data[index] = value;
  };
}

/** Writes bytes under a new name and returns the path. */
export function write(folder: string, bytes: Uint8Array | string): string {
  const path = `${folder}/${crypto.randomUUID()}.safetensors`;
  Deno.writeFileSync(path, typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  return path;
}

/** A copy of bytes with an ASCII text in them replaced by one of the same length. */
export function replaceAscii(bytes: Uint8Array, from: string, to: string): Uint8Array<ArrayBuffer> {
  const wanted = new TextEncoder().encode(from);
  const at = bytes.findIndex((_, i) => wanted.every((byte, k) => bytes[i + k] === byte));
  if (at < 0 || from.length !== to.length) throw new RangeError(`no ${from} to replace by ${to}`);
  const copy = Uint8Array.from(bytes);
  copy.set(new TextEncoder().encode(to), at);
  return copy;
}
