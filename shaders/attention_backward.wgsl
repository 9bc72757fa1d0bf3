// attention_backward: what both backward kernels of attention share: dot products in the forward's order, and the way of a
// head's gradient from interleaved, rotated pairs back to natural order.
// The kernel fills head_gradient with the gradient of a rotated head and defines load_angles(c: u32) -> vec4f.
var<private> head_gradient: array<vec4f, 32>;

// Rotations are orthogonal: the gradient turns back by the same angle.
fn unrotate_gradient(head_width4: u32) {
  for (var c = 0u; c < head_width4; c++) {
    head_gradient[c] = rotate_pairs(head_gradient[c], load_angles(c) * vec4f(1.0, -1.0, 1.0, -1.0));
  }
}

fn natural_element(e: u32, head_width4: u32) -> f32 {
  let i = interleaved_index(e, 4u * head_width4);
  return head_gradient[i / 4u][i % 4u];
}

// Natural elements 4c..4c+3 of the gradient.
fn natural_gradient(c: u32, head_width4: u32) -> vec4f {
  return vec4f(
    natural_element(4u * c, head_width4),
    natural_element(4u * c + 1u, head_width4),
    natural_element(4u * c + 2u, head_width4),
    natural_element(4u * c + 3u, head_width4),
  );
}
