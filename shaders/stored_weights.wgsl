// stored_weights: weights as a checkpoint stores them, in texels of 16 bytes: four f32, or eight values of bf16 or f16.
// All three are widened to f32 without rounding, so that the storage of a value changes no bit of any result.
// The kernel defines load_texel(at: vec2u) -> vec4u; rows are a multiple of 8 values.
const STORED_F32 = 0u;
const STORED_BF16 = 1u;
const STORED_F16 = 2u;
const STORAGE = 0u;

// bf16 is the upper half of an f32.
fn widen_bf16(words: vec2u) -> vec4f {
  let low = words << vec2u(16u);
  let high = words & vec2u(0xffff0000u);
  return bitcast<vec4f>(vec4u(low.x, high.x, low.y, high.y));
}

// f16 by its bits: unpack2x16float may flush numbers below 2⁻¹⁴, multiples of 2⁻²⁴. Infinities are not stored.
fn widen_f16(words: vec2u) -> vec4f {
  let halves = vec4u(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
  let magnitude = halves & vec4u(0x7fffu);
  let normal = bitcast<vec4f>((magnitude << vec4u(13u)) + vec4u(0x38000000u));
  let small = vec4f(magnitude) * 5.9604644775390625e-8;
  let value = select(normal, small, magnitude < vec4u(0x400u));
  return bitcast<vec4f>(bitcast<vec4u>(value) | ((halves & vec4u(0x8000u)) << vec4u(16u)));
}

fn widen(words: vec2u) -> vec4f {
  if (STORAGE == STORED_BF16) { return widen_bf16(words); }
  return widen_f16(words);
}

// Texels of a row of 8·width8 values.
fn row_texels(width8: u32) -> u32 {
  return select(width8, 2u * width8, STORAGE == STORED_F32);
}

// Values 4k..4k+3 of the row that starts at a texel.
fn weight_vec4(row: u32, k: u32) -> vec4f {
  if (STORAGE == STORED_F32) { return bitcast<vec4f>(load_texel(operand_flat(row + k))); }
  let texel = load_texel(operand_flat(row + k / 2u));
  return widen(select(texel.xy, texel.zw, vec2<bool>(k % 2u == 1u)));
}
