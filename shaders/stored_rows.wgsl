// stored_rows: block += x Wᵀ over rows of stored weights (see stored_weights.wgsl and product_block.wgsl), k ascending.
// The kernel defines load_x(at: vec2u) -> vec4f.
var<private> column_at: array<u32, 16>;

// Columns column0..column0+15 of a product, that is rows of W [column_count, 8·width8] at texel0.
fn set_stored_columns(column0: u32, column_count: u32, texel0: u32, width8: u32) {
  for (var c = 0u; c < 16u; c++) {
    column_at[c] = texel0 + min(column0 + c, column_count - 1u) * row_texels(width8);
  }
}

fn accumulate_stored(width8: u32) {
  for (var k = 0u; k < width8; k++) {
    var low: array<vec4f, BLOCK_ROWS>;
    var high: array<vec4f, BLOCK_ROWS>;
    for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
      low[r] = load_x(row_at[r] + vec2u(2u * k, 0u));
      high[r] = load_x(row_at[r] + vec2u(2u * k + 1u, 0u));
    }
    for (var c = 0u; c < 4u; c++) { // unrolled
      let w0 = weight_pair(column_at[4u * c + 0u], k);
      let w1 = weight_pair(column_at[4u * c + 1u], k);
      let w2 = weight_pair(column_at[4u * c + 2u], k);
      let w3 = weight_pair(column_at[4u * c + 3u], k);
      let w_low = transpose(mat4x4f(w0[0], w1[0], w2[0], w3[0]));
      let w_high = transpose(mat4x4f(w0[1], w1[1], w2[1], w3[1]));
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        block[4u * r + c] = fold(fold(block[4u * r + c], low[r], w_low), high[r], w_high);
      }
    }
  }
}
