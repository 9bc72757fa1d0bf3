// product_rows: block += x Wᵀ over rows of W (its columns are the inner dimension k), k ascending.
// The kernel defines load_x(at: vec2u) and load_w(at: vec2u).
var<private> column_at: array<u32, 8>;

// Columns column0..column0+7 of the result, that is rows of W [column_count, 4·width4] at offset4 in the parameters.
fn set_columns(column0: u32, column_count: u32, offset4: u32, width4: u32) {
  column_at[0] = offset4 + min(column0 + 0u, column_count - 1u) * width4;
  column_at[1] = offset4 + min(column0 + 1u, column_count - 1u) * width4;
  column_at[2] = offset4 + min(column0 + 2u, column_count - 1u) * width4;
  column_at[3] = offset4 + min(column0 + 3u, column_count - 1u) * width4;
  column_at[4] = offset4 + min(column0 + 4u, column_count - 1u) * width4;
  column_at[5] = offset4 + min(column0 + 5u, column_count - 1u) * width4;
  column_at[6] = offset4 + min(column0 + 6u, column_count - 1u) * width4;
  column_at[7] = offset4 + min(column0 + 7u, column_count - 1u) * width4;
}

fn accumulate_rows(width4: u32) {
  for (var k = 0u; k < width4; k++) {
    let step = vec2u(k, 0u);
    let w0 = transpose(mat4x4f(
      load_w(operand_flat(column_at[0] + k)),
      load_w(operand_flat(column_at[1] + k)),
      load_w(operand_flat(column_at[2] + k)),
      load_w(operand_flat(column_at[3] + k)),
    ));
    let w1 = transpose(mat4x4f(
      load_w(operand_flat(column_at[4] + k)),
      load_w(operand_flat(column_at[5] + k)),
      load_w(operand_flat(column_at[6] + k)),
      load_w(operand_flat(column_at[7] + k)),
    ));
    let x0 = load_x(row_at[0] + step);
    block[0] = fold(block[0], x0, w0);
    block[1] = fold(block[1], x0, w1);
    let x1 = load_x(row_at[1] + step);
    block[2] = fold(block[2], x1, w0);
    block[3] = fold(block[3], x1, w1);
    let x2 = load_x(row_at[2] + step);
    block[4] = fold(block[4], x2, w0);
    block[5] = fold(block[5], x2, w1);
    let x3 = load_x(row_at[3] + step);
    block[6] = fold(block[6], x3, w0);
    block[7] = fold(block[7], x3, w1);
    let x4 = load_x(row_at[4] + step);
    block[8] = fold(block[8], x4, w0);
    block[9] = fold(block[9], x4, w1);
    let x5 = load_x(row_at[5] + step);
    block[10] = fold(block[10], x5, w0);
    block[11] = fold(block[11], x5, w1);
    let x6 = load_x(row_at[6] + step);
    block[12] = fold(block[12], x6, w0);
    block[13] = fold(block[13], x6, w1);
    let x7 = load_x(row_at[7] + step);
    block[14] = fold(block[14], x7, w0);
    block[15] = fold(block[15], x7, w1);
  }
}
