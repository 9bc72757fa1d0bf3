// operand_texture: where operands lie in storage textures (the form that the kernels are written in).
// An activation operand [N, 4·width4] has one texture row per row n; beyond 8,192 rows it goes on in the next strip.
fn operand_row(n: u32, width4: u32) -> vec2u {
  return vec2u((n >> 13u) * width4, n & 8191u);
}

// A flat operand (all parameters of a model) has 1,024 vec4 per texture row.
fn operand_flat(i: u32) -> vec2u {
  return vec2u(i & 1023u, i >> 10u);
}
