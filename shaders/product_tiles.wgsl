// product_tiles: block += x Wᵀ as product_rows adds it, by TILE_LANES × TILE_LANES lanes that share what they load.
// Lane (i, j) owns the rows of i and the columns of j. A slab of TILE_SLAB4 vec4 of k goes through workgroup memory:
// (i, j) brings vec4 j of its rows and vec4 i of its columns, then adds the slab's terms to its block. Every result has
// one accumulator and adds its terms in the order of product_rows, so the bits are the same.
// The kernel defines load_x(at: vec2u) and load_w(at: vec2u). No lane returns before the last barrier.
const TILE_LANES = 8u;
const TILE_SLAB4 = 4u;
const TILE_ROWS = TILE_LANES * BLOCK_ROWS;
const TILE_COLUMNS = TILE_LANES * BLOCK_COLUMNS;
var<workgroup> x_slab: array<vec4f, TILE_SLAB4 * TILE_ROWS>;
var<workgroup> w_slab: array<vec4f, TILE_SLAB4 * TILE_COLUMNS>;

// The block of columns of a lane; beyond the last one that repeats and is not stored.
fn tile_block(id: vec3u, column_count: u32) -> u32 {
  return min(id.y, (column_count - 1u) / BLOCK_COLUMNS);
}

fn accumulate_tiles(id: vec3u, width4: u32) {
  let i = id.x % TILE_LANES;
  let j = id.y % TILE_LANES;
  for (var first = 0u; first < width4; first += TILE_SLAB4) {
    workgroupBarrier();
    if (j < TILE_SLAB4) {
      let k = min(first + j, width4 - 1u);
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        x_slab[j * TILE_ROWS + r * TILE_LANES + i] = load_x(row_at[r] + vec2u(k, 0u));
      }
    }
    if (i < TILE_SLAB4) {
      let k = min(first + i, width4 - 1u);
      for (var c = 0u; c < BLOCK_COLUMNS; c++) { // unrolled
        w_slab[i * TILE_COLUMNS + c * TILE_LANES + j] = load_w(operand_flat(column_at[c] + k));
      }
    }
    workgroupBarrier();
    // A term of zeros beyond the end would turn a sum of −0 into 0.
    let count = min(TILE_SLAB4, width4 - first);
    for (var k = 0u; k < count; k++) {
      let x_at = k * TILE_ROWS + i;
      let w_at = k * TILE_COLUMNS + j;
      var x: array<vec4f, BLOCK_ROWS>;
      for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
        x[r] = x_slab[x_at + r * TILE_LANES];
      }
      for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
        let w = transpose(mat4x4f(
          w_slab[w_at + (4u * c + 0u) * TILE_LANES],
          w_slab[w_at + (4u * c + 1u) * TILE_LANES],
          w_slab[w_at + (4u * c + 2u) * TILE_LANES],
          w_slab[w_at + (4u * c + 3u) * TILE_LANES],
        ));
        for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
          block[BLOCK_COLUMNS4 * r + c] = fold(block[BLOCK_COLUMNS4 * r + c], x[r], w);
        }
      }
    }
  }
}
