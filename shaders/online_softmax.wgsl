// online_softmax: log-sum-exp and entropy of a row of logits in one pass over ascending indices, shared by the sampler
// and the trainer so that both get the same bits. Source: Milakov and Gimelshein 2018, extended by the entropy's sum.
// Products that feed a sum are written as fma: a compiler could otherwise round them in one kernel only.
// Vocabulary entries of one segment; segments are merged in ascending order. The length is fixed: it decides the bits.
const SEGMENT = 2048u;
const LN_2 = 0.6931471805599453;

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

// The logit is z = logit·factor, with the inverse of the temperature as its factor. While the maximum stands, the sums
// before are kept by exp(0) = 1, which changes nothing.
fn add_logit(a: OnlineSoftmax, logit: f32, factor: f32) -> OnlineSoftmax {
  let maximum = max(a.maximum, logit * factor);
  let shift = a.maximum - maximum;
  let keep = exp(shift);
  let d = fma(logit, factor, -maximum);
  let e = exp(d);
  return OnlineSoftmax(maximum, fma(a.sum, keep, e), fma(d, e, keep * fma(shift, a.sum, a.moment)));
}

// Of a sum of two products the fma leaves the second one rounded.
fn merge_softmax(a: OnlineSoftmax, b: OnlineSoftmax) -> OnlineSoftmax {
  let maximum = max(a.maximum, b.maximum);
  let shift_a = a.maximum - maximum;
  let shift_b = b.maximum - maximum;
  let keep_a = exp(shift_a);
  let keep_b = exp(shift_b);
  let moment_b = keep_b * fma(shift_b, b.sum, b.moment);
  return OnlineSoftmax(
    maximum,
    fma(a.sum, keep_a, b.sum * keep_b),
    fma(fma(shift_a, a.sum, a.moment), keep_a, moment_b),
  );
}

// Drivers compute log x as log₂ x · ln 2, a product that would feed this sum.
fn log_sum_exp(a: OnlineSoftmax) -> f32 {
  return fma(log2(a.sum), LN_2, a.maximum);
}

// H = log Σ exp(z − m) − Σ (z − m)·p
fn softmax_entropy(a: OnlineSoftmax) -> f32 {
  return fma(log2(a.sum), LN_2, -(a.moment / a.sum));
}
