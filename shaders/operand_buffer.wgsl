// operand_buffer: where operands lie in storage buffers (the lowered form): x is the index of a vec4, y is unused.
fn operand_row(n: u32, width4: u32) -> vec2u {
  return vec2u(n * width4, 0u);
}

fn operand_flat(i: u32) -> vec2u {
  return vec2u(i, 0u);
}
