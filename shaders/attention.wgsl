// attention: one head of one query against keys in ascending order, the current one last, with an online softmax.
// Shared by training and decoding so that both get the same bits.
// The kernel defines head_width4(), load_query(c), load_key(j, c), load_value(j, c), store_output(c, value); c counts
// the head's vec4, HEAD_WIDTH4 of them, which the host sets. A head of 16 is written out: it is TinyAgent's, and arrays
// with constant indices live in registers.
// Source: Milakov and Gimelshein 2018 (online softmax), Dao et al. 2022 (its use in attention).
const HEAD_WIDTH4 = 4u;
var<private> head_query: array<vec4f, HEAD_WIDTH4>;
var<private> head_output: array<vec4f, HEAD_WIDTH4>;
var<private> score_maximum: f32;
var<private> score_sum: f32;

// The maximum starts at a large finite negative whose weight is exactly 0.
fn begin_attention() {
  score_maximum = -1e30;
  score_sum = 0.0;
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_query[c] = load_query(c);
    head_output[c] = vec4f(0.0);
  }
}

// q·k_j in four partial sums.
fn key_product(j: u32) -> f32 {
  var parts = vec4f(0.0);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    parts = fma(head_query[c], load_key(j, c), parts);
  }
  return sum_of_parts(parts);
}

fn attend(j: u32, scale: f32) {
  let product = key_product(j);
  let maximum = max(score_maximum, product * scale);
  let keep = exp(score_maximum - maximum);
  let p = exp(fma(product, scale, -maximum));
  score_maximum = maximum;
  score_sum = fma(score_sum, keep, p);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_output[c] = fma(vec4f(p), load_value(j, c), head_output[c] * keep);
  }
}

fn finish_attention() {
  let weight = 1.0 / score_sum;
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    store_output(c, head_output[c] * weight);
  }
}
