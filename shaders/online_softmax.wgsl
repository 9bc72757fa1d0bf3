// online_softmax: log-sum-exp and entropy of a row of logits in one pass over ascending indices, shared by the sampler
// and the trainer so that both get the same bits. Source: Milakov and Gimelshein 2018, extended by the entropy's sum.
// Vocabulary entries of one segment; segments are merged in ascending order. The length is fixed: it decides the bits.
const SEGMENT = 2048u;

// maximum m, sum Σ exp(z − m), moment Σ (z − m)·exp(z − m) over the logits z seen so far.
struct OnlineSoftmax {
  maximum: f32,
  sum: f32,
  moment: f32,
}

// No logit seen yet: the maximum is a large finite negative, its weight is exactly 0.
fn empty_softmax() -> OnlineSoftmax {
  return OnlineSoftmax(-1e30, 0.0, 0.0);
}

// Moves the sums to a new maximum, at least the old one. While the maximum stands, exp(0) = 1 changes nothing.
fn rescale_softmax(a: OnlineSoftmax, maximum: f32) -> OnlineSoftmax {
  let shift = a.maximum - maximum;
  let keep = exp(shift);
  return OnlineSoftmax(maximum, a.sum * keep, keep * fma(shift, a.sum, a.moment));
}

fn add_logit(a: OnlineSoftmax, z: f32) -> OnlineSoftmax {
  let moved = rescale_softmax(a, max(a.maximum, z));
  let d = z - moved.maximum;
  let e = exp(d);
  return OnlineSoftmax(moved.maximum, moved.sum + e, fma(d, e, moved.moment));
}

fn merge_softmax(a: OnlineSoftmax, b: OnlineSoftmax) -> OnlineSoftmax {
  let maximum = max(a.maximum, b.maximum);
  let left = rescale_softmax(a, maximum);
  let right = rescale_softmax(b, maximum);
  return OnlineSoftmax(maximum, left.sum + right.sum, left.moment + right.moment);
}

fn log_sum_exp(a: OnlineSoftmax) -> f32 {
  return a.maximum + log(a.sum);
}

// H = log Σ exp(z − m) − Σ (z − m)·p
fn softmax_entropy(a: OnlineSoftmax) -> f32 {
  return log(a.sum) - a.moment / a.sum;
}
