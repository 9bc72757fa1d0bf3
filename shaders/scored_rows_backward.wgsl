// scored_rows_backward: dx[row_R] = dx_R and do[row_R] = do_R; rows that are not scored get 0
//   place_N   [N]      in   the place of each row among the scored ones, or 0xffffffff
//   dx_RD     [R, D]   in   gradient of the scored rows' hidden states
//   do_RD     [R, D]   in   gradient of their attention outputs
//   dx_ND     [N, D]   out  gradient of all rows' hidden states
//   do_ND     [N, D]   out  gradient of all rows' attention outputs
// One invocation copies one vec4 of both. No sums. Reference: src/reference/scored_rows.ts.
// Source: the chain rule on scored_rows_forward.
struct Params { row_count: u32, width4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> place_N: array<u32>;
@group(0) @binding(2) var dx_RD: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> do_RD: array<vec4f>;
@group(0) @binding(4) var dx_ND: texture_storage_2d<rgba32float, write>;
@group(0) @binding(5) var<storage, read_write> do_ND: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn scored_rows_backward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.width4;
  let column = vec2u(i % params.width4, 0u);
  if (n >= params.row_count) { return; }
  let is_scored = place_N[n] != 0xffffffffu;
  let r = select(0u, place_N[n], is_scored);
  let dx = textureLoad(dx_RD, operand_row(r, params.width4) + column);
  textureStore(dx_ND, operand_row(n, params.width4) + column, select(vec4f(0.0), dx, is_scored));
  do_ND[i] = select(vec4f(0.0), do_RD[r * params.width4 + column.x], is_scored);
}
