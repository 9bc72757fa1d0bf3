// product_outputs: block += dy W over rows of W (the output features o), o ascending.
// The kernel defines load_dy(at: vec2u) and load_w(at: vec2u).
// column4 is the first of the block's vec4 columns. Beyond output_count dy holds zeros and the last row of W repeats.
fn accumulate_outputs(output_count: u32, column4: u32, offset4: u32, width4: u32) {
  let last = output_count - 1u;
  for (var o4 = 0u; o4 < (output_count + 3u) / 4u; o4++) {
    let w_a = offset4 + min(4u * o4 + 0u, last) * width4 + column4;
    let w_b = offset4 + min(4u * o4 + 1u, last) * width4 + column4;
    let w_c = offset4 + min(4u * o4 + 2u, last) * width4 + column4;
    let w_d = offset4 + min(4u * o4 + 3u, last) * width4 + column4;
    var dy: array<vec4f, BLOCK_ROWS>;
    for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
      dy[r] = load_dy(row_at[r] + vec2u(o4, 0u));
    }
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let w = mat4x4f(
        load_w(operand_flat(w_a + c)),
        load_w(operand_flat(w_b + c)),
        load_w(operand_flat(w_c + c)),
        load_w(operand_flat(w_d + c)),
      );
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        block[BLOCK_COLUMNS4 * r + c] = fold(block[BLOCK_COLUMNS4 * r + c], dy[r], w);
      }
    }
  }
}
