// unfused_logprob_forward: over one segment of 2,048 stored logits z of a row, in one pass:
// maximum m, Σ exp(z − m), Σ (z − m)·exp(z − m) and the chosen token's z. The benchmark's baseline of logprob_forward.
//   logits_NV  [N, V]      in   of linear_forward
//   target_N   [N]         in   the chosen token of each row
//   segments   [S, N, 4]   out  (m, sum, moment, chosen z or -1e30), merged by logprob_merge
// One invocation owns one row and one segment; entries ascend, so that the bits are those of logprob_forward.
// Reference: src/reference/logprob.ts. Source: Milakov and Gimelshein 2018.
struct Params { row_count: u32, vocab_size: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits_NV: array<f32>;
@group(0) @binding(2) var<storage, read> target_N: array<u32>;
@group(0) @binding(3) var<storage, read_write> segments: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn unfused_logprob_forward(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  var softmax = empty_softmax();
  var chosen = -1e30;
  let end = min((id.y + 1u) * SEGMENT, params.vocab_size);
  for (var entry = id.y * SEGMENT; entry < end; entry++) {
    let z = logits_NV[n * params.vocab_size + entry];
    softmax = add_logit(softmax, z, 1.0);
    chosen = select(chosen, z, entry == target_N[n]);
  }
  segments[id.y * params.row_count + n] = vec4f(softmax.maximum, softmax.sum, softmax.moment, chosen);
}
