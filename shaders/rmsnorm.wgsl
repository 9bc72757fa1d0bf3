// rmsnorm: 1/√(mean of squares + ε) of one row, shared by the norm of hidden states and that of single heads.
// The kernel defines rmsnorm_input(c: u32) -> vec4f, columns 4c..4c+3 of its row. Partial sums run over ascending c.
fn rmsnorm_scale(width4: u32, epsilon: f32) -> f32 {
  var squares = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    let x = rmsnorm_input(c);
    squares = fma(x, x, squares);
  }
  return 1.0 / sqrt(sum_of_parts(squares) / f32(4u * width4) + epsilon);
}
