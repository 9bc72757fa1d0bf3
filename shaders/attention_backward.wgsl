// attention_backward: what both backward kernels of attention share: the weight of a (query, key) and its gradient, and
// the way of a head's gradient from interleaved, rotated pairs back to natural order.
// The kernel defines load_angles(c: u32) -> vec4f. The host sets HEAD_WIDTH4, the vec4 of a head.
const HEAD_WIDTH4 = 4u;
var<private> head_gradient: array<vec4f, HEAD_WIDTH4>;

// HEAD_WIDTH4, but unknown to the compiler, which would write out loops over wide heads and take a minute for it.
fn head_width4() -> u32 { return min(HEAD_WIDTH4, params.width4); }

// (p, d score): p = exp(score − lse), d score = scale·p·(do·v − δ), from the partial sums of q·k and do·v.
fn pair_gradient(score_parts: vec4f, dp_parts: vec4f, lse: f32, delta: f32) -> vec2f {
  let p = exp(fma(sum_of_parts(score_parts), params.scale, -lse));
  return vec2f(p, p * (sum_of_parts(dp_parts) - delta) * params.scale);
}

// Rotations are orthogonal: the gradient turns back by the same angle.
fn unrotate(c: u32) {
  head_gradient[c] = rotate_pairs(head_gradient[c], load_angles(c) * vec4f(1.0, -1.0, 1.0, -1.0));
}

fn natural_element(e: u32) -> f32 {
  let i = interleaved_index(e, 4u * HEAD_WIDTH4);
  return head_gradient[i / 4u][i % 4u];
}

// Natural elements 4c..4c+3 of the gradient.
fn natural_gradient(c: u32) -> vec4f {
  return vec4f(
    natural_element(4u * c),
    natural_element(4u * c + 1u),
    natural_element(4u * c + 2u),
    natural_element(4u * c + 3u),
  );
}

// Hands the gradient of the head, rotated back, to the kernel's store_gradient(c, natural elements 4c..4c+3).
fn finish_gradient() {
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    unrotate(c);
  }
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    store_gradient(c, natural_gradient(c));
  }
}
