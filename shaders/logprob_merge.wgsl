// logprob_merge: log π(target) = z − lse, entropy H = log Σ exp(z − m) − Σ (z − m)·p, lse = m + log Σ exp(z − m)
//   segments    [S, N, 4]   in   of logprob_forward
//   result_N4   [N, 4]      out  (log-prob, entropy, lse, 0); log-probs in nats
// One invocation owns one row; segments ascend.
// Reference: src/reference/logprob.ts. Source: Milakov and Gimelshein 2018.
struct Params { row_count: u32, segment_count: u32, inverse_temperature: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> segments: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> result_N4: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn logprob_merge(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  let first = segments[n];
  var softmax = OnlineSoftmax(first.x, first.y, first.z);
  var chosen = first.w;
  for (var s = 1u; s < params.segment_count; s++) {
    let next = segments[s * params.row_count + n];
    softmax = merge_softmax(softmax, OnlineSoftmax(next.x, next.y, next.z));
    chosen = max(chosen, next.w);
  }
  let lse = log_sum_exp(softmax);
  result_N4[n] = vec4f(fma(chosen, params.inverse_temperature, -lse), softmax_entropy(softmax), lse, 0.0);
}
