// rotary: rotates two pairs (a, b) of a query or key by their position's angles.
// Inside this project a rotated head is stored with its pairs interleaved, (a0, b0, a1, b1, …), so that a vec4 holds
// whole pairs; pair p of a head is elements p and p + K/2 of the natural (half-split) order.
// pairs: (a0, b0, a1, b1); angles: (cos 0, sin 0, cos 1, sin 1).
fn rotate_pairs(pairs: vec4f, angles: vec4f) -> vec4f {
  return vec4f(
    fma(pairs.x, angles.x, -(pairs.y * angles.y)),
    fma(pairs.y, angles.x, pairs.x * angles.y),
    fma(pairs.z, angles.z, -(pairs.w * angles.w)),
    fma(pairs.w, angles.z, pairs.z * angles.w),
  );
}

// The natural index, inside one head of width k, of interleaved element e.
fn natural_index(e: u32, k: u32) -> u32 {
  return (e >> 1u) + (e & 1u) * (k >> 1u);
}

// The interleaved index of natural element e: the inverse of natural_index.
fn interleaved_index(e: u32, k: u32) -> u32 {
  let half = k >> 1u;
  return select(2u * (e - half) + 1u, 2u * e, e < half);
}
