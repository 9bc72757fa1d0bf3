// product_rows: block += x Wᵀ over rows of W (its columns are the inner dimension k), k ascending.
// The kernel defines load_x(at: vec2u) and load_w(at: vec2u).
var<private> column_at: array<u32, BLOCK_COLUMNS>;

// The columns from column0 on of the result, that is rows of W [column_count, 4·width4] at offset4 in the parameters.
fn set_columns(column0: u32, column_count: u32, offset4: u32, width4: u32) {
  for (var c = 0u; c < BLOCK_COLUMNS; c++) { // unrolled
    column_at[c] = offset4 + min(column0 + c, column_count - 1u) * width4;
  }
}

fn accumulate_rows(width4: u32) {
  for (var k = 0u; k < width4; k++) {
    var x: array<vec4f, BLOCK_ROWS>;
    for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
      x[r] = load_x(row_at[r] + vec2u(k, 0u));
    }
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let w = transpose(mat4x4f(
        load_w(operand_flat(column_at[4u * c + 0u] + k)),
        load_w(operand_flat(column_at[4u * c + 1u] + k)),
        load_w(operand_flat(column_at[4u * c + 2u] + k)),
        load_w(operand_flat(column_at[4u * c + 3u] + k)),
      ));
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        block[BLOCK_COLUMNS4 * r + c] = fold(block[BLOCK_COLUMNS4 * r + c], x[r], w);
      }
    }
  }
}
