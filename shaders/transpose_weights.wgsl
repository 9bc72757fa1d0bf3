// transpose_weights: copy[k][o] = W[o][k] of one matrix of the parameters, for a decoder whose lanes lie over outputs o
//   weights      [W]   in    all parameters; W [M, K] at vec4 offset4
//   transposed   [W]   out   the same with [K, M] in its place, M a multiple of 4
// head_width other than 0: the first 2K outputs are queries and keys, whose pairs are interleaved (see rotary.wgsl).
// One invocation owns four outputs of one k. Nothing is added up: values are moved and keep their bits.
// Reference: src/reference/transpose.ts. Source: coalesced loads, NVIDIA CUDA C++ Best Practices Guide.
struct Params { width4: u32, output_count4: u32, offset4: u32, head_width: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> weights: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> transposed: array<vec4f>;

override LANES: u32 = 64;

fn output_row(o: u32) -> u32 {
  let k = max(params.head_width, 1u);
  let interleaved = (o / k) * k + natural_index(o % k, k);
  return select(o, interleaved, params.head_width > 0u && o < 8u * params.width4);
}

fn entry(o: u32, k: u32) -> f32 {
  return weights[params.offset4 + output_row(o) * params.width4 + k / 4u][k % 4u];
}

@compute @workgroup_size(LANES)
fn transpose_weights(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let k = i / params.output_count4;
  let o = 4u * (i % params.output_count4);
  if (k >= 4u * params.width4) { return; }
  transposed[params.offset4 + i] = vec4f(entry(o, k), entry(o + 1u, k), entry(o + 2u, k), entry(o + 3u, k));
}
