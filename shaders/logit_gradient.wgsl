// logit_gradient: dlogp·(1[target] − p) − dentropy·p·(log p + H) for four log-probs of a row, shared by kernels that
// recompute the logits and by kernels that stored them. `result` is (log-prob, entropy H, lse, 0) of the row, `dresult`
// the gradients of its log-prob and entropy; log p = z − lse, with z a product that the kernel adds by fma.
// Source: the chain rule on log-softmax and on its entropy.
fn logit_gradient(log_p: vec4f, is_target: vec4f, result: vec4f, dresult: vec2f) -> vec4f {
  let p = exp(log_p);
  return fma(vec4f(dresult.x), is_target - p, -(dresult.y * (p * (log_p + vec4f(result.y)))));
}
