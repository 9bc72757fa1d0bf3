// stored_rows: block += x Wᵀ over rows of stored weights (see stored_weights.wgsl and product_block.wgsl), k ascending.
// The kernel defines load_x(at: vec2u) -> vec4f.
var<private> column_at: array<u32, BLOCK_COLUMNS>;

// Columns column0..column0+BLOCK_COLUMNS−1 of a product, that is rows of W [column_count, 8·width8] at texel0.
fn set_stored_columns(column0: u32, column_count: u32, texel0: u32, width8: u32) {
  for (var c = 0u; c < BLOCK_COLUMNS; c++) {
    column_at[c] = texel0 + min(column0 + c, column_count - 1u) * row_texels(width8);
  }
}

// Four columns of k at a time. Of bf16 and f16 a texel is fetched for each half of it: a loop of twice the length has
// half the fetches, but software adapters take longer for its code than for the fetches.
fn accumulate_stored(width8: u32) {
  for (var k = 0u; k < 2u * width8; k++) {
    var x: array<vec4f, BLOCK_ROWS>;
    for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
      x[r] = load_x(row_at[r] + vec2u(k, 0u));
    }
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let w = transpose(mat4x4f(
        weight_vec4(column_at[4u * c + 0u], k),
        weight_vec4(column_at[4u * c + 1u], k),
        weight_vec4(column_at[4u * c + 2u], k),
        weight_vec4(column_at[4u * c + 3u], k),
      ));
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        block[BLOCK_COLUMNS4 * r + c] = fold(block[BLOCK_COLUMNS4 * r + c], x[r], w);
      }
    }
  }
}
