// product_weights: the inner loop of dW = dyᵀ x for 16 outputs o and 8 inner columns k, over rows n ascending:
// weight_block[2o + c] holds columns 4c..4c+3 of output o, bias_block[o / 4] the column sums of dy.
// The kernel defines load_dy(at: vec2u) and load_x(at: vec2u).
var<private> weight_block: array<vec4f, 32>;
var<private> bias_block: array<vec4f, 4>;

fn accumulate_weights(first_row: u32, end_row: u32, dy_width4: u32, dy_column4: u32, x_width4: u32, x_column4: u32) {
  weight_block[0] = vec4f(0.0);
  weight_block[1] = vec4f(0.0);
  weight_block[2] = vec4f(0.0);
  weight_block[3] = vec4f(0.0);
  weight_block[4] = vec4f(0.0);
  weight_block[5] = vec4f(0.0);
  weight_block[6] = vec4f(0.0);
  weight_block[7] = vec4f(0.0);
  weight_block[8] = vec4f(0.0);
  weight_block[9] = vec4f(0.0);
  weight_block[10] = vec4f(0.0);
  weight_block[11] = vec4f(0.0);
  weight_block[12] = vec4f(0.0);
  weight_block[13] = vec4f(0.0);
  weight_block[14] = vec4f(0.0);
  weight_block[15] = vec4f(0.0);
  weight_block[16] = vec4f(0.0);
  weight_block[17] = vec4f(0.0);
  weight_block[18] = vec4f(0.0);
  weight_block[19] = vec4f(0.0);
  weight_block[20] = vec4f(0.0);
  weight_block[21] = vec4f(0.0);
  weight_block[22] = vec4f(0.0);
  weight_block[23] = vec4f(0.0);
  weight_block[24] = vec4f(0.0);
  weight_block[25] = vec4f(0.0);
  weight_block[26] = vec4f(0.0);
  weight_block[27] = vec4f(0.0);
  weight_block[28] = vec4f(0.0);
  weight_block[29] = vec4f(0.0);
  weight_block[30] = vec4f(0.0);
  weight_block[31] = vec4f(0.0);
  bias_block[0] = vec4f(0.0);
  bias_block[1] = vec4f(0.0);
  bias_block[2] = vec4f(0.0);
  bias_block[3] = vec4f(0.0);
  for (var n = first_row; n < end_row; n++) {
    let x_at = operand_row(n, x_width4) + vec2u(x_column4, 0u);
    let dy_at = operand_row(n, dy_width4);
    let x0 = load_x(x_at);
    let x1 = load_x(x_at + vec2u(1u, 0u));
    let dy0 = load_dy(dy_at + vec2u(min(dy_column4 + 0u, dy_width4 - 1u), 0u));
    bias_block[0] += dy0;
    weight_block[0] = fma(vec4f(dy0.x), x0, weight_block[0]);
    weight_block[1] = fma(vec4f(dy0.x), x1, weight_block[1]);
    weight_block[2] = fma(vec4f(dy0.y), x0, weight_block[2]);
    weight_block[3] = fma(vec4f(dy0.y), x1, weight_block[3]);
    weight_block[4] = fma(vec4f(dy0.z), x0, weight_block[4]);
    weight_block[5] = fma(vec4f(dy0.z), x1, weight_block[5]);
    weight_block[6] = fma(vec4f(dy0.w), x0, weight_block[6]);
    weight_block[7] = fma(vec4f(dy0.w), x1, weight_block[7]);
    let dy1 = load_dy(dy_at + vec2u(min(dy_column4 + 1u, dy_width4 - 1u), 0u));
    bias_block[1] += dy1;
    weight_block[8] = fma(vec4f(dy1.x), x0, weight_block[8]);
    weight_block[9] = fma(vec4f(dy1.x), x1, weight_block[9]);
    weight_block[10] = fma(vec4f(dy1.y), x0, weight_block[10]);
    weight_block[11] = fma(vec4f(dy1.y), x1, weight_block[11]);
    weight_block[12] = fma(vec4f(dy1.z), x0, weight_block[12]);
    weight_block[13] = fma(vec4f(dy1.z), x1, weight_block[13]);
    weight_block[14] = fma(vec4f(dy1.w), x0, weight_block[14]);
    weight_block[15] = fma(vec4f(dy1.w), x1, weight_block[15]);
    let dy2 = load_dy(dy_at + vec2u(min(dy_column4 + 2u, dy_width4 - 1u), 0u));
    bias_block[2] += dy2;
    weight_block[16] = fma(vec4f(dy2.x), x0, weight_block[16]);
    weight_block[17] = fma(vec4f(dy2.x), x1, weight_block[17]);
    weight_block[18] = fma(vec4f(dy2.y), x0, weight_block[18]);
    weight_block[19] = fma(vec4f(dy2.y), x1, weight_block[19]);
    weight_block[20] = fma(vec4f(dy2.z), x0, weight_block[20]);
    weight_block[21] = fma(vec4f(dy2.z), x1, weight_block[21]);
    weight_block[22] = fma(vec4f(dy2.w), x0, weight_block[22]);
    weight_block[23] = fma(vec4f(dy2.w), x1, weight_block[23]);
    let dy3 = load_dy(dy_at + vec2u(min(dy_column4 + 3u, dy_width4 - 1u), 0u));
    bias_block[3] += dy3;
    weight_block[24] = fma(vec4f(dy3.x), x0, weight_block[24]);
    weight_block[25] = fma(vec4f(dy3.x), x1, weight_block[25]);
    weight_block[26] = fma(vec4f(dy3.y), x0, weight_block[26]);
    weight_block[27] = fma(vec4f(dy3.y), x1, weight_block[27]);
    weight_block[28] = fma(vec4f(dy3.z), x0, weight_block[28]);
    weight_block[29] = fma(vec4f(dy3.z), x1, weight_block[29]);
    weight_block[30] = fma(vec4f(dy3.w), x0, weight_block[30]);
    weight_block[31] = fma(vec4f(dy3.w), x1, weight_block[31]);
  }
}

// Hands every output of the block that exists to the kernel's store_weight(output, columns 0..3, columns 4..7).
fn store_weights(output0: u32, output_count: u32) {
  if (output0 + 0u < output_count) { store_weight(output0 + 0u, weight_block[0], weight_block[1]); }
  if (output0 + 1u < output_count) { store_weight(output0 + 1u, weight_block[2], weight_block[3]); }
  if (output0 + 2u < output_count) { store_weight(output0 + 2u, weight_block[4], weight_block[5]); }
  if (output0 + 3u < output_count) { store_weight(output0 + 3u, weight_block[6], weight_block[7]); }
  if (output0 + 4u < output_count) { store_weight(output0 + 4u, weight_block[8], weight_block[9]); }
  if (output0 + 5u < output_count) { store_weight(output0 + 5u, weight_block[10], weight_block[11]); }
  if (output0 + 6u < output_count) { store_weight(output0 + 6u, weight_block[12], weight_block[13]); }
  if (output0 + 7u < output_count) { store_weight(output0 + 7u, weight_block[14], weight_block[15]); }
  if (output0 + 8u < output_count) { store_weight(output0 + 8u, weight_block[16], weight_block[17]); }
  if (output0 + 9u < output_count) { store_weight(output0 + 9u, weight_block[18], weight_block[19]); }
  if (output0 + 10u < output_count) { store_weight(output0 + 10u, weight_block[20], weight_block[21]); }
  if (output0 + 11u < output_count) { store_weight(output0 + 11u, weight_block[22], weight_block[23]); }
  if (output0 + 12u < output_count) { store_weight(output0 + 12u, weight_block[24], weight_block[25]); }
  if (output0 + 13u < output_count) { store_weight(output0 + 13u, weight_block[26], weight_block[27]); }
  if (output0 + 14u < output_count) { store_weight(output0 + 14u, weight_block[28], weight_block[29]); }
  if (output0 + 15u < output_count) { store_weight(output0 + 15u, weight_block[30], weight_block[31]); }
}
