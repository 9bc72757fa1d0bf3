// sampling: one token from logits by the inverse of the cumulative distribution, shared by both decoders.
// The kernel defines load_logit(v: u32) -> f32, before the temperature, and params.inverse_temperature.
struct Sample {
  token: u32,
  logp: f32,
}

// exp(d), and exactly 0 where the probability is below 1e-34: such a token is never drawn.
fn sampling_weight(d: f32) -> f32 {
  return select(0.0, exp(d), d > -80.0);
}

// The logit of a token over the temperature, minus an offset.
fn logit_above(v: u32, offset: f32) -> f32 {
  return fma(load_logit(v), params.inverse_temperature, -offset);
}

// Log-sum-exp runs over the segments of logprob_forward, so that the record has the trainer's bits.
fn segment_softmax(first: u32, end: u32) -> OnlineSoftmax {
  var softmax = empty_softmax();
  for (var v = first; v < end; v++) {
    softmax = add_logit(softmax, load_logit(v), params.inverse_temperature);
  }
  return softmax;
}

// The first of tokens first..end − 1 whose cumulative weight exceeds the threshold; the last possible one where
// rounding leaves none.
fn draw_token(maximum: f32, threshold: f32, first: u32, end: u32) -> u32 {
  var cumulative = 0.0;
  var token = first;
  var is_open = true;
  for (var v = first; v < end; v++) {
    let weight = sampling_weight(logit_above(v, maximum));
    cumulative += weight;
    token = select(token, v, is_open && weight > 0.0);
    is_open = is_open && !(weight > 0.0 && cumulative > threshold);
  }
  return token;
}
