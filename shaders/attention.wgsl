// attention: one head of one query against keys in ascending order, the current one last, with an online softmax.
// Shared by training and decoding so that both get the same bits.
// The kernel defines load_key(j: u32, c: u32) and load_value(j: u32, c: u32), vec4 c of key j; it fills head_query.
// Source: Milakov and Gimelshein 2018 (online softmax), Dao et al. 2022 (its use in attention).
const MAX_HEAD_WIDTH4 = 32u;
var<private> head_query: array<vec4f, 32>;
var<private> head_output: array<vec4f, 32>;
var<private> score_maximum: f32;
var<private> score_sum: f32;

fn sum_of_parts(v: vec4f) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}

// The maximum starts at a large finite negative whose weight is exactly 0.
fn begin_attention(head_width4: u32) {
  score_maximum = -1e30;
  score_sum = 0.0;
  for (var c = 0u; c < head_width4; c++) {
    head_output[c] = vec4f(0.0);
  }
}

fn attend(j: u32, head_width4: u32, scale: f32) {
  var parts = vec4f(0.0);
  for (var c = 0u; c < head_width4; c++) {
    parts = fma(head_query[c], load_key(j, c), parts);
  }
  let score = sum_of_parts(parts) * scale;
  let maximum = max(score_maximum, score);
  let keep = exp(score_maximum - maximum);
  let p = exp(score - maximum);
  score_maximum = maximum;
  score_sum = fma(score_sum, keep, p);
  for (var c = 0u; c < head_width4; c++) {
    head_output[c] = fma(vec4f(p), load_value(j, c), head_output[c] * keep);
  }
}

// Column 4c..4c+3 of the head's output.
fn attention_output(c: u32) -> vec4f {
  return head_output[c] * (1.0 / score_sum);
}
