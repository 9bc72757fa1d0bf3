// product_block: a block of 4 rows × 16 columns of a matrix product, held in registers by one invocation:
// block[4r + c] is columns 4c..4c+3 of row r. Every result has one accumulator and adds its terms in ascending order
// with one fma each, so its bits depend on neither block shape, position in the batch nor memory of the operands.
// Indices are written out because loops over private arrays would keep the block in memory.
var<private> block: array<vec4f, 16>;
var<private> row_at: array<vec2u, 4>;

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

// Rows row0..row0+3 of an operand [row_count, 4·width4]; beyond row_count the last one repeats and is not stored.
fn set_rows(row0: u32, row_count: u32, width4: u32) {
  row_at[0] = operand_row(min(row0 + 0u, row_count - 1u), width4);
  row_at[1] = operand_row(min(row0 + 1u, row_count - 1u), width4);
  row_at[2] = operand_row(min(row0 + 2u, row_count - 1u), width4);
  row_at[3] = operand_row(min(row0 + 3u, row_count - 1u), width4);
}

// Hands every vec4 of the block whose row exists to the kernel's store_vec4(row, c, columns 4c..4c+3).
fn store_block(row0: u32, row_count: u32) {
  if (row0 + 0u < row_count) {
    store_vec4(row0 + 0u, 0u, block[0]);
    store_vec4(row0 + 0u, 1u, block[1]);
    store_vec4(row0 + 0u, 2u, block[2]);
    store_vec4(row0 + 0u, 3u, block[3]);
  }
  if (row0 + 1u < row_count) {
    store_vec4(row0 + 1u, 0u, block[4]);
    store_vec4(row0 + 1u, 1u, block[5]);
    store_vec4(row0 + 1u, 2u, block[6]);
    store_vec4(row0 + 1u, 3u, block[7]);
  }
  if (row0 + 2u < row_count) {
    store_vec4(row0 + 2u, 0u, block[8]);
    store_vec4(row0 + 2u, 1u, block[9]);
    store_vec4(row0 + 2u, 2u, block[10]);
    store_vec4(row0 + 2u, 3u, block[11]);
  }
  if (row0 + 3u < row_count) {
    store_vec4(row0 + 3u, 0u, block[12]);
    store_vec4(row0 + 3u, 1u, block[13]);
    store_vec4(row0 + 3u, 2u, block[14]);
    store_vec4(row0 + 3u, 3u, block[15]);
  }
}
