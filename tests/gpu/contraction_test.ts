/** No product of a kernel feeds a sum outside of fma, where a compiler may round it in one kernel and not in another. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { KernelSpec } from "../../src/gpu/kernel.ts";
import { allSpecs, tiledSpecs } from "./all_specs.ts";
import { contractions } from "./contraction.ts";
import { parseWgsl } from "./wgsl_syntax.ts";

/** Sums that a product may feed, by function, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "rmsnorm_scale: sum_of_parts(squares) / f32(4u * width4) + epsilon":
    "a quotient whose divisor no kernel knows; a product with 1/width would have other bits",
  "accumulate_weights: bias += dy[i]": "its factor is 0 or 1, so that the product is exact",
  "softmax: maximum + log(sum)": "the self-test compares it with a tolerance",
  "probe_arithmetic: a * b + probe_12[2]": "the probe of what a compiler makes of it",
  "own_difference: x - max(x, probe_12[11])": "the probe of what a compiler makes of it",
};

function textOf({ wgsl, shared }: Pick<KernelSpec, "wgsl" | "shared">): string {
  return [wgsl, ...shared].join("\n");
}

function found(text: string): string[] {
  return contractions(parseWgsl(text)).map(({ functionName, text }) => `${functionName}: ${text}`);
}

Deno.test("kernels: every product that feeds a sum is written as fma", async () => {
  const specs = [...await allSpecs(), ...await tiledSpecs()];
  assert(specs.length >= 40, `only ${specs.length} kernels were found`);
  const all = specs.flatMap((spec) =>
    found(textOf(spec)).map((text) => ({ kernel: spec.name, text }))
  );
  assertEquals(
    all.filter(({ text }) => !Object.hasOwn(ALLOWED, text)),
    [],
    "write it as fma(a, b, c), or say in this test why it may stay",
  );
  const used = new Set(all.map(({ text }) => text));
  assertEquals(Object.keys(ALLOWED).filter((text) => !used.has(text)), [], "no longer there");
});

/** What stood in a kernel, or could: file's shared text or its own, what is there, and what is put instead. */
const PLANTED: readonly (readonly [kernel: string, from: string, to: string])[] = [
  ["rollout_decode", "fma(a.sum, keep, e)", "a.sum * keep + e"],
  ["rollout_advance", "fma(a.sum, keep_a, b.sum * keep_b)", "a.sum * keep_a + b.sum * keep_b"],
  ["logprob_merge", "fma(log2(a.sum), LN_2, a.maximum)", "a.maximum + log(a.sum)"],
  ["logprob_merge", "fma(log2(a.sum), LN_2, -(a.moment / a.sum))", "1.0 - a.moment / a.sum"],
  [
    "rollout_softmax",
    "fma(load_logit(v), params.inverse_temperature, -offset)",
    "load_logit(v) * params.inverse_temperature - offset",
  ],
  // Through a variable, a result, an argument, private memory, a struct, a compound assignment, select.
  [
    "attention_forward",
    "let p = exp(fma(product, scale, -maximum));",
    "let score = product * scale; let p = exp(score - maximum);",
  ],
  [
    "rollout_softmax",
    "return logits_SV[logits_at + v]; }",
    "return 3.0 * logits_SV[logits_at + v]; }\nfn later(v: u32) -> f32 { return load_logit(v) - 1.0; }",
  ],
  [
    "logprob_forward",
    "let d = fma(logit, factor, -maximum);",
    "let d = above(logit * factor, maximum);",
  ],
  [
    "attention_forward",
    "score_sum = fma(score_sum, keep, p);",
    "score_sum = score_sum * keep; score_sum += p;",
  ],
  [
    "logprob_merge",
    "OnlineSoftmax(first.x, first.y, first.z)",
    "OnlineSoftmax(first.x, 3.0 * first.y, first.z); let y = softmax.sum + 1.0",
  ],
  [
    "clip_adam",
    "weights[i] = fma(vec4f(-params.step_size), direction, weights[i]);",
    "weights[i] -= params.step_size * direction;",
  ],
  [
    "layernorm_backward",
    "g_sum = fma(dy, gain, g_sum);",
    "g_sum += select(dy, dy * gain, c == 0u);",
  ],
  [
    "policy_loss",
    "dlogp = fma(params.kl_coef * objective.z,",
    "dlogp += objective.z; dlogp = fma(params.kl_coef,",
  ],
  [
    "rollout_decode",
    "fma(vec4f(-sum), vec4f(params.inverse_width), x)",
    "x - vec4f(sum / f32(4u * WIDTH4))",
  ],
  ["gelu", "fma(x * x * x, vec4f(GELU_CUBIC), x)", "(x * x * x * GELU_CUBIC + x)"],
];

Deno.test("kernels: planted products are found, however they come to their sum", async () => {
  const specs = await allSpecs();
  const helper = "\nfn above(z: f32, least: f32) -> f32 { return z - least; }\n";
  for (const [name, from, to] of PLANTED) {
    const spec = specs.find((one) => one.name === name) ??
      specs.find((one) => textOf(one).includes(`fn ${name}(`));
    const text = textOf(spec!);
    assert(text.includes(from), `${name} has no ${from}`);
    const before = new Set(found(text));
    const added = found(text.replace(from, () => to) + helper).filter((one) => !before.has(one));
    assert(added.length > 0, `${name}: ${to}`);
  }
});

Deno.test("contractions() lets integers, fma, exact factors, constants and rounded values pass", () => {
  const of = (body: string) =>
    found(`
struct Params { factor: f32, count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
const STEP = 3.5;
fn f(x: f32, n: u32) -> f32 { ${body} }`);
  for (
    const body of [
      "let at = 2u * n + 1u; return y[at * params.count + n];",
      "return fma(x, params.factor, x * x);",
      "return 2.0 * x + x / 4.0 + 0.5;",
      "return x + 2.0 * STEP;",
      "y[0] = x * x; return y[0] + x;",
      "return exp(x * x) + max(x * x, 0.0) + 1.0 / x;",
    ]
  ) assertEquals(of(body), [], body);
  for (
    const body of [
      "return x * x + x;",
      "return x - STEP * x;",
      "return -(x * x) + 1.0;",
      "return x / params.factor - 1.0;",
      "let v = vec4f(x * x); return v.y + 1.0;",
      "var s = 1.0; for (var i = 0u; i < n; i++) { s = s * x; } return s + 1.0;",
      "if (n == 0u) { return 0.0; } else { return x * x - x; }",
      "switch n { case 1u: { return x * x + 1.0; } default: { return 0.0; } }",
    ]
  ) assertEquals(of(body).length, 1, body);
  assertThrows(() => parseWgsl("fn f() { let = 3; }"), SyntaxError, "found");
});
