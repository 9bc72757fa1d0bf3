// product_block: a block of 8 rows × 8 columns of a matrix product, held in registers by one invocation:
// block[2r + c] is columns 4c..4c+3 of row r. Every result has one accumulator and adds its terms in ascending order with
// one fma each, so its bits depend on neither the block shape, the position in the batch nor the memory of the operands.
// Indices are written out because loops over private arrays would keep the block in memory.
var<private> block: array<vec4f, 16>;
var<private> row_at: array<vec2u, 8>;

// sum + x.x·w[0] + x.y·w[1] + x.z·w[2] + x.w·w[3], in this order.
fn fold(sum: vec4f, x: vec4f, w: mat4x4f) -> vec4f {
  return fma(vec4f(x.w), w[3], fma(vec4f(x.z), w[2], fma(vec4f(x.y), w[1], fma(vec4f(x.x), w[0], sum))));
}

fn clear_block() {
  block[0] = vec4f(0.0);
  block[1] = vec4f(0.0);
  block[2] = vec4f(0.0);
  block[3] = vec4f(0.0);
  block[4] = vec4f(0.0);
  block[5] = vec4f(0.0);
  block[6] = vec4f(0.0);
  block[7] = vec4f(0.0);
  block[8] = vec4f(0.0);
  block[9] = vec4f(0.0);
  block[10] = vec4f(0.0);
  block[11] = vec4f(0.0);
  block[12] = vec4f(0.0);
  block[13] = vec4f(0.0);
  block[14] = vec4f(0.0);
  block[15] = vec4f(0.0);
}

// Rows row0..row0+7 of an operand [row_count, 4·width4]; beyond row_count the last one repeats and is not stored.
fn set_rows(row0: u32, row_count: u32, width4: u32) {
  row_at[0] = operand_row(min(row0 + 0u, row_count - 1u), width4);
  row_at[1] = operand_row(min(row0 + 1u, row_count - 1u), width4);
  row_at[2] = operand_row(min(row0 + 2u, row_count - 1u), width4);
  row_at[3] = operand_row(min(row0 + 3u, row_count - 1u), width4);
  row_at[4] = operand_row(min(row0 + 4u, row_count - 1u), width4);
  row_at[5] = operand_row(min(row0 + 5u, row_count - 1u), width4);
  row_at[6] = operand_row(min(row0 + 6u, row_count - 1u), width4);
  row_at[7] = operand_row(min(row0 + 7u, row_count - 1u), width4);
}

// Hands every row of the block that exists to the kernel's store_row(row, columns 0..3, columns 4..7).
fn store_block(row0: u32, row_count: u32) {
  if (row0 + 0u < row_count) { store_row(row0 + 0u, block[0], block[1]); }
  if (row0 + 1u < row_count) { store_row(row0 + 1u, block[2], block[3]); }
  if (row0 + 2u < row_count) { store_row(row0 + 2u, block[4], block[5]); }
  if (row0 + 3u < row_count) { store_row(row0 + 3u, block[6], block[7]); }
  if (row0 + 4u < row_count) { store_row(row0 + 4u, block[8], block[9]); }
  if (row0 + 5u < row_count) { store_row(row0 + 5u, block[10], block[11]); }
  if (row0 + 6u < row_count) { store_row(row0 + 6u, block[12], block[13]); }
  if (row0 + 7u < row_count) { store_row(row0 + 7u, block[14], block[15]); }
}
