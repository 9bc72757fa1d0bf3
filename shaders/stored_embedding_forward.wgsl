// stored_embedding_forward: x[n] = row of token n in a slice of the token table, where the slice holds it
//   token_N4   [N, 4]   in   (id, position, first, cache row) of each token
//   w          texels   in   the slice: entries first_entry and on, from texel0 (see stored_weights.wgsl)
//   x_ND       [N, D]   out  hidden states; rows of tokens of other slices stay as they are
// One invocation copies eight values. No sums.
// Reference: src/reference/stored_weights.ts. Source: the lookup table of every decoder.
struct Params { row_count: u32, width8: u32, first_entry: u32, entry_count: u32, texel0: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32uint, read>;
@group(0) @binding(3) var<storage, read_write> x_ND: array<vec4f>;

override LANES: u32 = 32;

fn load_texel(at: vec2u) -> vec4u { return textureLoad(w, at); }

@compute @workgroup_size(LANES)
fn stored_embedding_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.width8;
  let k = i % params.width8;
  if (n >= params.row_count) { return; }
  let entry = token_N4[n].x;
  if (entry < params.first_entry || entry >= params.first_entry + params.entry_count) { return; }
  let row = params.texel0 + (entry - params.first_entry) * row_texels(params.width8);
  x_ND[2u * i] = weight_vec4(row, 2u * k);
  x_ND[2u * i + 1u] = weight_vec4(row, 2u * k + 1u);
}
