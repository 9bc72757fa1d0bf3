/** Protocol buffers and checksums written the slow and plain way, so that readers are not held to bytes of our own writer. */

/** Joins pieces. */
export function bytesOf(...pieces: (readonly number[] | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => Array.from(piece)));
}

/** A number of 64 bits in groups of 7 bits. */
export function varint(value: number | bigint): Uint8Array {
  const groups: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    groups.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(groups);
}

/** A field that holds a number. */
export function numberField(field: number, value: number | bigint): Uint8Array {
  return bytesOf(varint(field * 8), varint(value));
}

/** A field that holds bytes, a text or a message. */
export function bytesField(field: number, content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return bytesOf(varint(field * 8 + 2), varint(bytes.length), bytes);
}

/** A field that holds a float. */
export function float32Field(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return bytesOf(varint(field * 8 + 5), bytes);
}

/** A field that holds a double. */
export function float64Field(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytesOf(varint(field * 8 + 1), bytes);
}

/** A number of 16, 32 or 64 bits, its low byte first. */
export function littleEndian(value: number | bigint, byteCount: number): Uint8Array {
  return Uint8Array.from(
    { length: byteCount },
    (_, i) => Number((BigInt(value) >> BigInt(8 * i)) & 255n),
  );
}

/** A reflected checksum, bit by bit: polynomial 0xEDB88320 is CRC-32, 0x82F63B78 is CRC-32C. */
export function slowCrc(bytes: Uint8Array, polynomial: bigint): bigint {
  let value = 0xffffffffn;
  for (const byte of bytes) {
    value ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
  }
  return value ^ 0xffffffffn;
}

/** TensorFlow's masked CRC-32C. */
export function slowMaskedCrc(bytes: Uint8Array): bigint {
  const value = slowCrc(bytes, 0x82f63b78n);
  return BigInt.asUintN(32, ((value >> 15n) | (value << 17n)) + 0xa282ead8n);
}

/** TensorFlow's frame around data. */
export function frame(data: Uint8Array): Uint8Array {
  const length = littleEndian(data.length, 8);
  return bytesOf(
    length,
    littleEndian(slowMaskedCrc(length), 4),
    data,
    littleEndian(slowMaskedCrc(data), 4),
  );
}

/** A framed event with one value. */
export function scalarEvent(step: number, tag: string, value: number): Uint8Array {
  const scalar = bytesOf(bytesField(1, tag), float32Field(2, value));
  const stepField = step === 0 ? [] : numberField(2, step);
  return frame(bytesOf(float64Field(1, 1.5e9), stepField, bytesField(5, bytesField(1, scalar))));
}
