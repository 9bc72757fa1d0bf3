// product_block: a block of BLOCK_ROWS rows × BLOCK_COLUMNS columns of a matrix product, held in registers by one
// invocation: block[BLOCK_COLUMNS4·r + c] is columns 4c..4c+3 of row r. Every result has one accumulator and adds its
// terms in ascending order with one fma each, so its bits depend on neither block shape, position in the batch nor
// memory of the operands.
const BLOCK_ROWS = 4u;
const BLOCK_COLUMNS4 = 4u;
const BLOCK_COLUMNS = 4u * BLOCK_COLUMNS4;
const BLOCK_LENGTH = BLOCK_COLUMNS4 * BLOCK_ROWS;
var<private> block: array<vec4f, BLOCK_LENGTH>;
var<private> row_at: array<vec2u, BLOCK_ROWS>;

// sum + x.x·w[0] + x.y·w[1] + x.z·w[2] + x.w·w[3], in this order.
fn fold(sum: vec4f, x: vec4f, w: mat4x4f) -> vec4f {
  return fma(vec4f(x.w), w[3], fma(vec4f(x.z), w[2], fma(vec4f(x.y), w[1], fma(vec4f(x.x), w[0], sum))));
}

fn clear_block() {
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      block[BLOCK_COLUMNS4 * r + c] = vec4f(0.0);
    }
  }
}

// Rows row0..row0+BLOCK_ROWS−1 of an operand [row_count, 4·width4]; beyond row_count the last one repeats and is not
// stored.
fn set_rows(row0: u32, row_count: u32, width4: u32) {
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    row_at[r] = operand_row(min(row0 + r, row_count - 1u), width4);
  }
}

// Hands every vec4 of the block whose row exists to the kernel's store_vec4(row, c, columns 4c..4c+3).
fn store_block(row0: u32, row_count: u32) {
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    if (row0 + r < row_count) {
      for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
        store_vec4(row0 + r, c, block[BLOCK_COLUMNS4 * r + c]);
      }
    }
  }
}
