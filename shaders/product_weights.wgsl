// product_weights: the inner loop of dW = dyᵀ x for 16 outputs o and 8 inner columns k, over rows n ascending:
// weight_block[2o + c] holds columns 4c..4c+3 of output o, bias_block[o / 4] the column sums of dy.
// The kernel defines load_dy(at: vec2u) and load_x(at: vec2u).
var<private> weight_block: array<vec4f, 32>;
var<private> bias_block: array<vec4f, 4>;

// Rows that an iteration adds to each sum, one after the other, so that a sum moves between registers and memory once
// for all of them. Rows beyond the end repeat the last one with a weight of 0.
const ROW_STEP = 2u;

fn accumulate_weights(first_row: u32, end_row: u32, dy_width4: u32, dy_column4: u32, x_width4: u32, x_column4: u32) {
  for (var i = 0u; i < 32u; i++) { // unrolled
    weight_block[i] = vec4f(0.0);
  }
  for (var o = 0u; o < 4u; o++) { // unrolled
    bias_block[o] = vec4f(0.0);
  }
  for (var n = first_row; n < end_row; n += ROW_STEP) {
    var x: array<vec4f, 2u * ROW_STEP>;
    var dy_at: array<vec2u, ROW_STEP>;
    var weight: array<f32, ROW_STEP>;
    for (var i = 0u; i < ROW_STEP; i++) { // unrolled
      let row = min(n + i, end_row - 1u);
      let x_at = operand_row(row, x_width4) + vec2u(x_column4, 0u);
      x[2u * i] = load_x(x_at);
      x[2u * i + 1u] = load_x(x_at + vec2u(1u, 0u));
      dy_at[i] = operand_row(row, dy_width4);
      weight[i] = f32(n + i < end_row);
    }
    for (var o = 0u; o < 4u; o++) { // unrolled
      let column = vec2u(min(dy_column4 + o, dy_width4 - 1u), 0u);
      var dy: array<vec4f, ROW_STEP>;
      var bias = bias_block[o];
      for (var i = 0u; i < ROW_STEP; i++) { // unrolled
        dy[i] = weight[i] * load_dy(dy_at[i] + column);
        bias += dy[i];
      }
      bias_block[o] = bias;
      for (var j = 0u; j < 4u; j++) { // unrolled
        for (var c = 0u; c < 2u; c++) { // unrolled
          var sum = weight_block[8u * o + 2u * j + c];
          for (var i = 0u; i < ROW_STEP; i++) { // unrolled
            sum = fma(vec4f(dy[i][j]), x[2u * i + c], sum);
          }
          weight_block[8u * o + 2u * j + c] = sum;
        }
      }
    }
  }
}

// Hands every output of the block that exists to the kernel's store_weight(output, columns 0..3, columns 4..7).
fn store_weights(output0: u32, output_count: u32) {
  for (var o = 0u; o < 16u; o++) { // unrolled
    if (output0 + o < output_count) {
      store_weight(output0 + o, weight_block[2u * o], weight_block[2u * o + 1u]);
    }
  }
}
