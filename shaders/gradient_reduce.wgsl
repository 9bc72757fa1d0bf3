// gradient_reduce: gradient[i] = (accumulate ? gradient[i] : 0) + Σ over chunks of partials[chunk][i]
//   partials   [8, W']   in      partial sums; the range starts at partial_offset4, chunks are chunk_stride4 apart
//   gradient   [W]       in out  flat gradient; the range starts at vec4 gradient_offset4
// One invocation owns one vec4; chunks ascend. Reference: src/reference/linear.ts (the sum over rows that was cut).
// range_length floats belong to the range; the floats behind it in the last vec4 are left alone.
// Source: fixed-order split of the row sum in the weights' gradient.
struct Params { range_length: u32, partial_offset4: u32, gradient_offset4: u32, chunk_stride4: u32, accumulate: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partials: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> gradient: array<vec4f>;

override LANES: u32 = 64;
const CHUNKS = 8u;

@compute @workgroup_size(LANES)
fn gradient_reduce(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  if (4u * i >= params.range_length) { return; }
  let at = params.gradient_offset4 + i;
  let held = gradient[at];
  var sum = select(vec4f(0.0), held, params.accumulate == 1u);
  for (var chunk = 0u; chunk < CHUNKS; chunk++) {
    sum += partials[chunk * params.chunk_stride4 + params.partial_offset4 + i];
  }
  let lanes = vec4u(4u * i, 4u * i + 1u, 4u * i + 2u, 4u * i + 3u);
  gradient[at] = select(held, sum, lanes < vec4u(params.range_length));
}
