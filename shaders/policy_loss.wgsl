// policy_loss: gradient of Σ weight·surrogate + kl_coef·Σ mean_weight·KL − entropy_coef·Σ mean_weight·H per token
//   result_N4      [N, 4]   in   (log-prob, entropy, lse, 0) of the policy
//   reference_N4   [N, 4]   in   the same of the reference model; read when kl_kind is not 0
//   objective_N4   [N, 4]   in   (advantage, weight, mean_weight, old log-prob)
//   dresult_N2     [N, 2]   out  d loss / d log-prob, d loss / d entropy
// One invocation owns one token; no sums. surrogate: 0 −A·log π, 1 −min(ρA, clip(ρ)A); kl_kind: 0 none, 1–3 k1–k3.
// Reference: src/equations/policy_loss.ts. Source: Williams 1992; Schulman et al. 2017, equation 7; Schulman 2020.
struct Params {
  row_count: u32, surrogate: u32, clip_low: f32, clip_high: f32, kl_kind: u32, kl_coef: f32, entropy_coef: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> result_N4: array<vec4f>;
@group(0) @binding(2) var<storage, read> reference_N4: array<vec4f>;
@group(0) @binding(3) var<storage, read> objective_N4: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> dresult_N2: array<vec2f>;

override LANES: u32 = 32;

// d/dlogp of the surrogate term. Where the branches tie, the unclipped one gives the derivative.
fn surrogate_derivative(logp: f32, old_logp: f32, advantage: f32) -> f32 {
  if (params.surrogate == 0u) { return -advantage; }
  let ratio = exp(logp - old_logp);
  let unclipped = ratio * advantage;
  let clipped = clamp(ratio, 1.0 - params.clip_low, 1.0 + params.clip_high) * advantage;
  return select(0.0, -unclipped, unclipped <= clipped);
}

// d/dlogp of the KL estimate, d = log π − log π_ref; exactly 0 where d is 0 (k2, k3).
fn kl_derivative(d: f32) -> f32 {
  switch params.kl_kind {
    case 1u: { return 1.0; }
    case 2u: { return d; }
    case 3u: { return 1.0 - exp(-d); }
    default: { return 0.0; }
  }
}

@compute @workgroup_size(LANES)
fn policy_loss(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  let result = result_N4[n];
  let objective = objective_N4[n];
  var dlogp = 0.0;
  if (objective.y != 0.0) {
    dlogp = objective.y * surrogate_derivative(result.x, objective.w, objective.x);
  }
  if (params.kl_kind != 0u && objective.z != 0.0) {
    dlogp = fma(params.kl_coef * objective.z, kl_derivative(result.x - reference_N4[n].x), dlogp);
  }
  dresult_N2[n] = vec2f(dlogp, -params.entropy_coef * objective.z);
}
