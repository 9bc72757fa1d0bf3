/** Values of weights between the storages that checkpoints have. */

/** bf16 to f32, exactly. */
export function widenBf16(values: Uint16Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return new Float32Array(Uint32Array.from(values, (bits) => bits << 16).buffer);
}

/** f16 to f32, exactly; infinities and NaN become large numbers, and are refused before. */
export function widenF16(values: Uint16Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return Float32Array.from(values, (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
    return exponent === 0
      ? sign * mantissa * 2 ** -24
      : sign * (1024 + mantissa) * 2 ** (exponent - 25);
  });
}

/** f32 to bf16, rounded to nearest, ties to even. */
export function roundToBf16(values: Float32Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (word) => (word + 0x7fff + ((word >>> 16) & 1)) >>> 16);
}
