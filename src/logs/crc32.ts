/** The two checksums of binary logs: CRC-32 (W&B) and CRC-32C (TensorBoard), both reflected, with tables of 256 entries. */

function makeTable(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value;
  });
}

/** A stretch of bytes. */
export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

function checksum(table: Uint32Array, bytes: Uint8Array, { start, end }: ByteRange): number {
  let value = 0xffff_ffff;
  for (let i = start; i < end; i++) value = table[(value ^ bytes[i]) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffff_ffff) >>> 0;
}

/** The polynomial of zlib and PNG (ISO 3309). */
const CRC32_TABLE = makeTable(0xedb8_8320);
/** Castagnoli's polynomial (RFC 3720, appendix B.4). */
const CRC32C_TABLE = makeTable(0x82f6_3b78);

/** CRC-32 of a stretch of bytes. */
export function crc32(bytes: Uint8Array, range: ByteRange): number {
  return checksum(CRC32_TABLE, bytes, range);
}

/** CRC-32C of a stretch of bytes, as TensorFlow's records keep it: rotated by 15 bits and shifted by a constant. */
export function maskedCrc32c(bytes: Uint8Array, range: ByteRange): number {
  const value = checksum(CRC32C_TABLE, bytes, range);
  return (((value >>> 15) | (value << 17)) + 0xa282_ead8) >>> 0;
}
