// layernorm: mean and 1/σ of one row, shared by every kernel that normalizes so that all get the same bits.
// The kernel defines layernorm_input(c: u32) -> vec4f, columns 4c..4c+3 of its row. Partial sums run over ascending c.
const LAYERNORM_EPSILON = 1e-5;

// (mean, 1/σ) with the biased variance.
fn layernorm_moments(width4: u32) -> vec2f {
  let width = f32(4u * width4);
  var sum = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    sum += layernorm_input(c);
  }
  let mean = sum_of_parts(sum) / width;
  var square = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    let centred = layernorm_input(c) - vec4f(mean);
    square = fma(centred, centred, square);
  }
  return vec2f(mean, 1.0 / sqrt(sum_of_parts(square) / width + LAYERNORM_EPSILON));
}

fn layernorm_output(x: vec4f, moments: vec2f, gain: vec4f, bias: vec4f) -> vec4f {
  return fma((x - vec4f(moments.x)) * moments.y, gain, bias);
}
