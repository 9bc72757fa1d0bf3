// product_rows: block += x Wᵀ over rows of W (its columns are the inner dimension k), k ascending.
// The kernel defines load_x(at: vec2u) and load_w(at: vec2u).
var<private> column_at: array<u32, 16>;

// Columns column0..column0+15 of the result, that is rows of W [column_count, 4·width4] at offset4 in the parameters.
fn set_columns(column0: u32, column_count: u32, offset4: u32, width4: u32) {
  for (var c = 0u; c < 16u; c++) {
    column_at[c] = offset4 + min(column0 + c, column_count - 1u) * width4;
  }
}

fn accumulate_rows(width4: u32) {
  for (var k = 0u; k < width4; k++) {
    let step = vec2u(k, 0u);
    let x0 = load_x(row_at[0] + step);
    let x1 = load_x(row_at[1] + step);
    let x2 = load_x(row_at[2] + step);
    let x3 = load_x(row_at[3] + step);
    let w0 = transpose(mat4x4f(
      load_w(operand_flat(column_at[0] + k)),
      load_w(operand_flat(column_at[1] + k)),
      load_w(operand_flat(column_at[2] + k)),
      load_w(operand_flat(column_at[3] + k)),
    ));
    block[0] = fold(block[0], x0, w0);
    block[4] = fold(block[4], x1, w0);
    block[8] = fold(block[8], x2, w0);
    block[12] = fold(block[12], x3, w0);
    let w1 = transpose(mat4x4f(
      load_w(operand_flat(column_at[4] + k)),
      load_w(operand_flat(column_at[5] + k)),
      load_w(operand_flat(column_at[6] + k)),
      load_w(operand_flat(column_at[7] + k)),
    ));
    block[1] = fold(block[1], x0, w1);
    block[5] = fold(block[5], x1, w1);
    block[9] = fold(block[9], x2, w1);
    block[13] = fold(block[13], x3, w1);
    let w2 = transpose(mat4x4f(
      load_w(operand_flat(column_at[8] + k)),
      load_w(operand_flat(column_at[9] + k)),
      load_w(operand_flat(column_at[10] + k)),
      load_w(operand_flat(column_at[11] + k)),
    ));
    block[2] = fold(block[2], x0, w2);
    block[6] = fold(block[6], x1, w2);
    block[10] = fold(block[10], x2, w2);
    block[14] = fold(block[14], x3, w2);
    let w3 = transpose(mat4x4f(
      load_w(operand_flat(column_at[12] + k)),
      load_w(operand_flat(column_at[13] + k)),
      load_w(operand_flat(column_at[14] + k)),
      load_w(operand_flat(column_at[15] + k)),
    ));
    block[3] = fold(block[3], x0, w3);
    block[7] = fold(block[7], x1, w3);
    block[11] = fold(block[11], x2, w3);
    block[15] = fold(block[15], x3, w3);
  }
}
