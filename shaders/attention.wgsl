// attention: one head of one query against keys in ascending order, the current one last, with an online softmax.
// Shared by training and decoding so that both get the same bits.
// The kernel defines HEAD_WIDTH4, head_width4(), load_query(c), load_key(j, c), load_value(j, c) and
// store_output(c, value); c counts the vec4 of the head. A head of 16 is written out: it is TinyAgent's, and arrays
// with constant indices live in registers.
// Source: Milakov and Gimelshein 2018 (online softmax), Dao et al. 2022 (its use in attention).
var<private> head_query: array<vec4f, 32>;
var<private> head_output: array<vec4f, 32>;
var<private> score_maximum: f32;
var<private> score_sum: f32;

// The maximum starts at a large finite negative whose weight is exactly 0.
fn begin_attention() {
  score_maximum = -1e30;
  score_sum = 0.0;
  if (HEAD_WIDTH4 == 4u) {
    head_query[0] = load_query(0u);
    head_query[1] = load_query(1u);
    head_query[2] = load_query(2u);
    head_query[3] = load_query(3u);
    head_output[0] = vec4f(0.0);
    head_output[1] = vec4f(0.0);
    head_output[2] = vec4f(0.0);
    head_output[3] = vec4f(0.0);
  } else {
    for (var c = 0u; c < head_width4(); c++) {
      head_query[c] = load_query(c);
      head_output[c] = vec4f(0.0);
    }
  }
}

// q·k_j in four partial sums.
fn key_product(j: u32) -> f32 {
  var parts = vec4f(0.0);
  if (HEAD_WIDTH4 == 4u) {
    parts = fma(head_query[0], load_key(j, 0u), parts);
    parts = fma(head_query[1], load_key(j, 1u), parts);
    parts = fma(head_query[2], load_key(j, 2u), parts);
    parts = fma(head_query[3], load_key(j, 3u), parts);
  } else {
    for (var c = 0u; c < head_width4(); c++) {
      parts = fma(head_query[c], load_key(j, c), parts);
    }
  }
  return sum_of_parts(parts);
}

fn attend(j: u32, scale: f32) {
  let score = key_product(j) * scale;
  let maximum = max(score_maximum, score);
  let keep = exp(score_maximum - maximum);
  let p = exp(score - maximum);
  score_maximum = maximum;
  score_sum = fma(score_sum, keep, p);
  if (HEAD_WIDTH4 == 4u) {
    head_output[0] = fma(vec4f(p), load_value(j, 0u), head_output[0] * keep);
    head_output[1] = fma(vec4f(p), load_value(j, 1u), head_output[1] * keep);
    head_output[2] = fma(vec4f(p), load_value(j, 2u), head_output[2] * keep);
    head_output[3] = fma(vec4f(p), load_value(j, 3u), head_output[3] * keep);
  } else {
    for (var c = 0u; c < head_width4(); c++) {
      head_output[c] = fma(vec4f(p), load_value(j, c), head_output[c] * keep);
    }
  }
}

fn finish_attention() {
  let weight = 1.0 / score_sum;
  if (HEAD_WIDTH4 == 4u) {
    store_output(0u, head_output[0] * weight);
    store_output(1u, head_output[1] * weight);
    store_output(2u, head_output[2] * weight);
    store_output(3u, head_output[3] * weight);
  } else {
    for (var c = 0u; c < head_width4(); c++) {
      store_output(c, head_output[c] * weight);
    }
  }
}
