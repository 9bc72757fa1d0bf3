// embedding_forward: x[n] = weight[id of token n]
//   token_N4   [N, 4]   in   (id, position, first, end) of each token
//   w          [W]      in   all parameters; the table starts at vec4 weight_offset4
//   x_ND       [N, D]   out  hidden states, vec4 along D
// One invocation copies one vec4. No sums.
// Reference: src/reference/embedding.ts. Source: the lookup table of every decoder.
struct Params { row_count: u32, width4: u32, weight_offset4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read_write> x_ND: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn embedding_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.width4;
  let c = i % params.width4;
  if (n >= params.row_count) { return; }
  x_ND[i] = textureLoad(w, operand_flat(params.weight_offset4 + token_N4[n].x * params.width4 + c));
}
