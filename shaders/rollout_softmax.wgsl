// rollout_softmax: maximum m, Σ exp(z − m) and Σ (z − m)·exp(z − m) over one segment of a slot's logits z
//   logits_SV   [S, V]      in   before the temperature, which divides them to z
//   segments    [C, S, 4]   out  (m, sum, moment, 0) of each segment of 2,048 entries, merged by rollout_advance
// One invocation owns one segment of one slot; entries ascend, so that the bits are those of logprob_forward.
// Reference: src/reference/sample.ts. Source: Milakov and Gimelshein 2018.
struct Params { slot_count: u32, vocab_size: u32, inverse_temperature: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits_SV: array<f32>;
@group(0) @binding(2) var<storage, read_write> segments: array<vec4f>;

override LANES: u32 = 8;
var<private> logits_at: u32;

fn load_logit(v: u32) -> f32 { return logits_SV[logits_at + v]; }

@compute @workgroup_size(LANES)
fn rollout_softmax(@builtin(global_invocation_id) id: vec3u) {
  let s = id.x;
  if (s >= params.slot_count) { return; }
  logits_at = s * params.vocab_size;
  let softmax = segment_softmax(id.y * SEGMENT, min((id.y + 1u) * SEGMENT, params.vocab_size));
  segments[id.y * params.slot_count + s] = vec4f(softmax.maximum, softmax.sum, softmax.moment, 0.0);
}
