// scored_rows_forward: x_R = x[row_R] and o_R = o[row_R], the rows whose log-prob is asked for
//   row_R   [R]      in   a row of the batch for each scored row, ascending
//   x_ND    [N, D]   in   hidden states before the last feed-forward
//   o_ND    [N, D]   in   output of the last attention, heads side by side
//   x_RD    [R, D]   out  hidden states of the scored rows
//   o_RD    [R, D]   out  attention outputs of the scored rows, read by a product
// One invocation copies one vec4 of both. No sums. Reference: src/reference/scored_rows.ts.
// Source: behind the last attention no row reads another one, so that rows without a loss need not be computed.
struct Params { row_count: u32, width4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> row_R: array<u32>;
@group(0) @binding(2) var<storage, read> x_ND: array<vec4f>;
@group(0) @binding(3) var o_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(4) var<storage, read_write> x_RD: array<vec4f>;
@group(0) @binding(5) var o_RD: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn scored_rows_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let r = i / params.width4;
  let column = vec2u(i % params.width4, 0u);
  if (r >= params.row_count) { return; }
  let n = row_R[r];
  x_RD[i] = x_ND[n * params.width4 + column.x];
  textureStore(o_RD, operand_row(r, params.width4) + column, textureLoad(o_ND, operand_row(n, params.width4) + column));
}
