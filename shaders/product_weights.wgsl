// product_weights: the inner loop of dW = dyᵀ x for a block of outputs o and inner columns k, over rows n ascending:
// weight_block[WEIGHT_COLUMNS4·o + c] holds columns 4c..4c+3 of output o, bias_block[o / 4] the column sums of dy.
// The kernel defines load_dy(at: vec2u) and load_x(at: vec2u).
const WEIGHT_OUTPUTS4 = 4u;
const WEIGHT_OUTPUTS = 4u * WEIGHT_OUTPUTS4;
const WEIGHT_COLUMNS4 = 2u;
const WEIGHT_LENGTH = WEIGHT_OUTPUTS * WEIGHT_COLUMNS4;
var<private> weight_block: array<vec4f, WEIGHT_LENGTH>;
var<private> bias_block: array<vec4f, WEIGHT_OUTPUTS4>;

// Rows that an iteration adds to each sum, one after the other, so that a sum moves between registers and memory once
// for all of them. Rows beyond the end repeat the last one with a weight of 0.
const ROW_STEP = 2u;

fn accumulate_weights(first_row: u32, end_row: u32, dy_width4: u32, dy_column4: u32, x_width4: u32, x_column4: u32) {
  for (var o = 0u; o < WEIGHT_OUTPUTS4; o++) { // unrolled
    for (var j = 0u; j < 4u; j++) { // unrolled
      for (var c = 0u; c < WEIGHT_COLUMNS4; c++) { // unrolled
        weight_block[WEIGHT_COLUMNS4 * (4u * o + j) + c] = vec4f(0.0);
      }
    }
  }
  for (var o = 0u; o < WEIGHT_OUTPUTS4; o++) { // unrolled
    bias_block[o] = vec4f(0.0);
  }
  for (var n = first_row; n < end_row; n += ROW_STEP) {
    var x: array<vec4f, WEIGHT_COLUMNS4 * ROW_STEP>;
    var dy_at: array<vec2u, ROW_STEP>;
    var weight: array<f32, ROW_STEP>;
    for (var i = 0u; i < ROW_STEP; i++) { // unrolled
      let row = min(n + i, end_row - 1u);
      let x_at = operand_row(row, x_width4) + vec2u(x_column4, 0u);
      for (var c = 0u; c < WEIGHT_COLUMNS4; c++) { // unrolled
        x[WEIGHT_COLUMNS4 * i + c] = load_x(x_at + vec2u(c, 0u));
      }
      dy_at[i] = operand_row(row, dy_width4);
      weight[i] = f32(n + i < end_row);
    }
    for (var o = 0u; o < WEIGHT_OUTPUTS4; o++) { // unrolled
      let column = vec2u(min(dy_column4 + o, dy_width4 - 1u), 0u);
      var dy: array<vec4f, ROW_STEP>;
      var bias = bias_block[o];
      for (var i = 0u; i < ROW_STEP; i++) { // unrolled
        dy[i] = weight[i] * load_dy(dy_at[i] + column);
        bias += dy[i];
      }
      bias_block[o] = bias;
      for (var j = 0u; j < 4u; j++) { // unrolled
        for (var c = 0u; c < WEIGHT_COLUMNS4; c++) { // unrolled
          var sum = weight_block[WEIGHT_COLUMNS4 * (4u * o + j) + c];
          for (var i = 0u; i < ROW_STEP; i++) { // unrolled
            sum = fma(vec4f(dy[i][j]), x[WEIGHT_COLUMNS4 * i + c], sum);
          }
          weight_block[WEIGHT_COLUMNS4 * (4u * o + j) + c] = sum;
        }
      }
    }
  }
}

// Hands every vec4 of the block whose output exists to the kernel's store_weight(output, c, columns 4c..4c+3), and the
// sums of dy to its store_bias(output / 4, sums) where this is the first block of inner columns.
fn store_weights(output0: u32, output_count: u32, has_bias: bool) {
  for (var o = 0u; o < WEIGHT_OUTPUTS4; o++) { // unrolled
    for (var j = 0u; j < 4u; j++) { // unrolled
      if (output0 + 4u * o + j < output_count) {
        for (var c = 0u; c < WEIGHT_COLUMNS4; c++) { // unrolled
          store_weight(output0 + 4u * o + j, c, weight_block[WEIGHT_COLUMNS4 * (4u * o + j) + c]);
        }
      }
    }
  }
  if (has_bias) {
    for (var o = 0u; o < WEIGHT_OUTPUTS4; o++) { // unrolled
      store_bias(output0 / 4u + o, bias_block[o]);
    }
  }
}
