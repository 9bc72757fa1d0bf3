// unfused_logprob_backward: dz_v = dlogp·(1[v = target] − p_v) − dentropy·p_v·(log p_v + H) from stored logits z
// The benchmark's baseline of logprob_backward.
//   logits_NV   [N, V]   in   of linear_forward
//   target_N    [N]      in   the chosen token of each row
//   result_N4   [N, 4]   in   (log-prob, entropy, lse, 0) of logprob_merge
//   dresult_N2  [N, 2]   in   gradients of log-prob and entropy
//   dz_NC       [N, C]   out  zeros from V to C
// One invocation owns one vec4 of one row; nothing is summed.
// Reference: src/reference/logprob.ts. Source: the chain rule on log-softmax and on its entropy.
struct Params { row_count: u32, vocab_size: u32, dz_width4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits_NV: array<f32>;
@group(0) @binding(2) var<storage, read> target_N: array<u32>;
@group(0) @binding(3) var<storage, read> result_N4: array<vec4f>;
@group(0) @binding(4) var<storage, read> dresult_N2: array<vec2f>;
@group(0) @binding(5) var dz_NC: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn unfused_logprob_backward(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y;
  if (id.x >= params.dz_width4 || n >= params.row_count) { return; }
  let entry = 4u * id.x;
  let entries = vec4u(entry, entry + 1u, entry + 2u, entry + 3u);
  let at = min(entries, vec4u(params.vocab_size - 1u)) + n * params.vocab_size;
  let z = vec4f(logits_NV[at.x], logits_NV[at.y], logits_NV[at.z], logits_NV[at.w]);
  let result = result_N4[n];
  let is_target = select(vec4f(0.0), vec4f(1.0), entries == vec4u(target_N[n]));
  let dz = logit_gradient(z - vec4f(result.z), is_target, result, dresult_N2[n]);
  let masked = select(vec4f(0.0), dz, entries < vec4u(params.vocab_size));
  textureStore(dz_NC, operand_row(n, params.dz_width4) + vec2u(id.x, 0u), masked);
}
