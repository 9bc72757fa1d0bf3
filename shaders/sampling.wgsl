// sampling: one token from logits by the inverse of the cumulative distribution, shared by both decoders.
// The kernel defines load_logit(v: u32) -> f32, the logit divided by the temperature, and the vocabulary is passed in.
struct Sample {
  token: u32,
  logp: f32,
}

// exp(d), and exactly 0 where the probability is below 1e-34: such a token is never drawn.
fn sampling_weight(d: f32) -> f32 {
  return select(0.0, exp(d), d > -80.0);
}

fn segment_softmax(first: u32, end: u32) -> OnlineSoftmax {
  var softmax = empty_softmax();
  for (var v = first; v < end; v++) {
    softmax = add_logit(softmax, load_logit(v));
  }
  return softmax;
}

// The first token whose cumulative weight exceeds u·Σ; the last possible one where rounding leaves none.
// Log-sum-exp runs over the segments of logprob_forward, so that the record has the trainer's bits.
fn sample_token(vocab_size: u32, u: f32) -> Sample {
  var softmax = segment_softmax(0u, min(SEGMENT, vocab_size));
  for (var first = SEGMENT; first < vocab_size; first += SEGMENT) {
    softmax = merge_softmax(softmax, segment_softmax(first, min(first + SEGMENT, vocab_size)));
  }
  let threshold = u * softmax.sum;
  var cumulative = 0.0;
  var token = 0u;
  var is_open = true;
  for (var v = 0u; v < vocab_size; v++) {
    let weight = sampling_weight(load_logit(v) - softmax.maximum);
    cumulative += weight;
    token = select(token, v, is_open && weight > 0.0);
    is_open = is_open && !(weight > 0.0 && cumulative > threshold);
  }
  return Sample(token, load_logit(token) - log_sum_exp(softmax));
}
