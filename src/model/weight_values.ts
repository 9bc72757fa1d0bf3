/** Values of weights between the storages that checkpoints have. Loops, since `from` of a typed array goes value by value. */

/** bf16 to f32, exactly. */
export function widenBf16(values: Uint16Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const words = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) words[i] = (values[i] ?? 0) << 16;
  return new Float32Array(words.buffer);
}

/** f16 to f32, exactly; infinities and NaN become large numbers, and are refused before. */
export function widenF16(values: Uint16Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const widened = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const bits = values[i] ?? 0;
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
    widened[i] = exponent === 0
      ? sign * mantissa * 2 ** -24
      : sign * (1024 + mantissa) * 2 ** (exponent - 25);
  }
  return widened;
}

/** f32 to bf16, rounded to nearest, ties to even. */
export function roundToBf16(values: Float32Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const rounded = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    rounded[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return rounded;
}
