// product_outputs: block += dy W over rows of W (the output features o), o ascending.
// The kernel defines load_dy(at: vec2u) and load_w(at: vec2u).
// column4 is the first of the four vec4 columns. Beyond output_count dy holds zeros and the last row of W repeats.
fn accumulate_outputs(output_count: u32, column4: u32, offset4: u32, width4: u32) {
  let last = output_count - 1u;
  for (var o4 = 0u; o4 < (output_count + 3u) / 4u; o4++) {
    let step = vec2u(o4, 0u);
    let w_a = offset4 + min(4u * o4 + 0u, last) * width4 + column4;
    let w_b = offset4 + min(4u * o4 + 1u, last) * width4 + column4;
    let w_c = offset4 + min(4u * o4 + 2u, last) * width4 + column4;
    let w_d = offset4 + min(4u * o4 + 3u, last) * width4 + column4;
    let dy0 = load_dy(row_at[0] + step);
    let dy1 = load_dy(row_at[1] + step);
    let dy2 = load_dy(row_at[2] + step);
    let dy3 = load_dy(row_at[3] + step);
    let w0 = mat4x4f(
      load_w(operand_flat(w_a)),
      load_w(operand_flat(w_b)),
      load_w(operand_flat(w_c)),
      load_w(operand_flat(w_d)),
    );
    block[0] = fold(block[0], dy0, w0);
    block[4] = fold(block[4], dy1, w0);
    block[8] = fold(block[8], dy2, w0);
    block[12] = fold(block[12], dy3, w0);
    let w1 = mat4x4f(
      load_w(operand_flat(w_a + 1u)),
      load_w(operand_flat(w_b + 1u)),
      load_w(operand_flat(w_c + 1u)),
      load_w(operand_flat(w_d + 1u)),
    );
    block[1] = fold(block[1], dy0, w1);
    block[5] = fold(block[5], dy1, w1);
    block[9] = fold(block[9], dy2, w1);
    block[13] = fold(block[13], dy3, w1);
    let w2 = mat4x4f(
      load_w(operand_flat(w_a + 2u)),
      load_w(operand_flat(w_b + 2u)),
      load_w(operand_flat(w_c + 2u)),
      load_w(operand_flat(w_d + 2u)),
    );
    block[2] = fold(block[2], dy0, w2);
    block[6] = fold(block[6], dy1, w2);
    block[10] = fold(block[10], dy2, w2);
    block[14] = fold(block[14], dy3, w2);
    let w3 = mat4x4f(
      load_w(operand_flat(w_a + 3u)),
      load_w(operand_flat(w_b + 3u)),
      load_w(operand_flat(w_c + 3u)),
      load_w(operand_flat(w_d + 3u)),
    );
    block[3] = fold(block[3], dy0, w3);
    block[7] = fold(block[7], dy1, w3);
    block[11] = fold(block[11], dy2, w3);
    block[15] = fold(block[15], dy3, w3);
  }
}
