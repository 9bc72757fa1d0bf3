// gelu: the tanh approximation, x·σ(2u) with u = √(2/π)·(x + 0.044715·x³), since 1 + tanh(u) = 2σ(2u).
// Written with exp because tanh differs between implementations. A kernel takes the value or the derivative, not both:
// compilers share their terms, round the value otherwise, and decoder and trainer would no longer have the same bits.
// Source: Hendrycks and Gimpel 2016, section 2.
const GELU_SCALE = 0.7978845608028654;
const GELU_CUBIC = 0.044715;

// σ(2u); beyond ±80 the result is 0 or 1 in f32 and exp would overflow.
fn gelu_gate(x: vec4f) -> vec4f {
  let u = GELU_SCALE * fma(x * x * x, vec4f(GELU_CUBIC), x);
  return 1.0 / (1.0 + exp(clamp(-2.0 * u, vec4f(-80.0), vec4f(80.0))));
}

fn gelu(x: vec4f) -> vec4f {
  return x * gelu_gate(x);
}

// d gelu / dx = σ + x·σ·(1 − σ)·2·du/dx
fn gelu_derivative(x: vec4f) -> vec4f {
  let gate = gelu_gate(x);
  let slope = 2.0 * GELU_SCALE * fma(x * x, vec4f(3.0 * GELU_CUBIC), vec4f(1.0));
  return fma(x * gate * (1.0 - gate), slope, gate);
}
