// embedding_backward: dweight[v] = Σ over n with ids[n] = v of dx[n]
//   order      [N]        in   rows n sorted by token, ascending inside a token
//   start_V    [V + 1]    in   where each token's rows start in order
//   dx_ND      [N, D]     in   gradient of the hidden states
//   gradient   [W]        out  flat gradient; the table starts at vec4 weight_offset4
// One invocation owns one vec4 of one token's row and adds its rows n in ascending order: no atomics, a fixed order.
// accumulate 1 adds to what the gradient holds, 0 replaces it. Reference: src/reference/embedding.ts.
struct Params { vocab_size: u32, width4: u32, weight_offset4: u32, accumulate: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read> start_V: array<u32>;
@group(0) @binding(3) var dx_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(4) var<storage, read_write> gradient: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn embedding_backward(@builtin(global_invocation_id) id: vec3u) {
  let v = id.z * 32768u + id.y;
  let c = id.x;
  if (c >= params.width4 || v >= params.vocab_size) { return; }
  var sum = vec4f(0.0);
  for (var i = start_V[v]; i < start_V[v + 1u]; i++) {
    sum += textureLoad(dx_ND, operand_row(order[i], params.width4) + vec2u(c, 0u));
  }
  let at = params.weight_offset4 + v * params.width4 + c;
  gradient[at] = select(sum, gradient[at] + sum, params.accumulate == 1u);
}
