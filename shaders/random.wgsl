// random: Threefry-2x32 with 20 rounds; the twin of src/core/rng.ts, held to the same known answers.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
fn threefry_round(x: vec2u, rotation: u32) -> vec2u {
  let sum = x.x + x.y;
  return vec2u(sum, ((x.y << rotation) | (x.y >> (32u - rotation))) ^ sum);
}

fn threefry_even(x: vec2u) -> vec2u {
  return threefry_round(threefry_round(threefry_round(threefry_round(x, 13u), 15u), 26u), 6u);
}

fn threefry_odd(x: vec2u) -> vec2u {
  return threefry_round(threefry_round(threefry_round(threefry_round(x, 17u), 29u), 16u), 24u);
}

fn threefry(key: vec2u, counter: vec2u) -> vec2u {
  let last = key.x ^ key.y ^ 0x1bd11bdau;
  var x = threefry_even(counter + key) + vec2u(key.y, last + 1u);
  x = threefry_odd(x) + vec2u(last, key.x + 2u);
  x = threefry_even(x) + vec2u(key.x, key.y + 3u);
  x = threefry_odd(x) + vec2u(key.y, last + 4u);
  return threefry_even(x) + vec2u(last, key.x + 5u);
}

// A uniform in [0, 1) with 24 bits.
fn uniform_of(word: u32) -> f32 {
  return f32(word >> 8u) * 5.9604644775390625e-8;
}
