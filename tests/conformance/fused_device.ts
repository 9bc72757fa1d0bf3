/**
 * A device that computes fma with one rounding, as GPUs do and no software driver does: the calls of fma in each kernel are
 * replaced by the product, its error and the sum's error, added up. Source: Dekker 1971; Knuth, TAOCP 2, 4.2.2.
 */
import type { Gpu } from "../../src/gpu/device.ts";
import { withCompiler } from "../gpu/other_compiler.ts";

/**
 * Parts of 12 bits make products exact. Sums pass through an addition of bits that are 0, which no compiler knows: Mesa would
 * take (a + b) − a for b.
 */
const FUSED = `
fn plain(x: vec4f) -> vec4f { return bitcast<vec4f>(bitcast<vec4u>(x) + vec4u(params.OPAQUE >> 31u)); }
fn upper(x: vec4f) -> vec4f { return bitcast<vec4f>(bitcast<vec4u>(x) & vec4u(0xfffff000u)); }
fn fused(a: vec4f, b: vec4f, c: vec4f) -> vec4f {
  let p = plain(a * b);
  let a1 = upper(a);
  let b1 = upper(b);
  let a2 = plain(a - a1);
  let b2 = plain(b - b1);
  let of_product = ((plain(a1 * b1 - p) + a1 * b2) + a2 * b1) + a2 * b2;
  let s = plain(p + c);
  let c_kept = plain(s - p);
  let of_sum = plain(p - plain(s - c_kept)) + plain(c - c_kept);
  return s + (of_sum + of_product);
}
`;

/** What the first operand of a scalar fma begins with; all others are of vec4. */
const SCALAR =
  /^(?:a\.|b\.|d,|logit,|load_logit|shift|log2|product,|score_sum|sum_of_parts|pairs\.|sampling_weight|u,|chosen|params\.|probe_12|a, b|numbers_32|earlier|fused\(vec4f\(shift)/;

/** The end of the call whose parenthesis opens at a place, and its operands. */
function operandsAt(
  code: string,
  open: number,
): { readonly operands: string[]; readonly end: number } {
  const operands = [""];
  let depth = 0;
  for (let i = open + 1; i < code.length; i++) {
    const character = code[i] ?? "";
    if (/[)\]]/.test(character) && depth-- === 0) return { operands, end: i + 1 };
    if (/[([]/.test(character)) depth++;
    if (character === "," && depth === 0) operands.push("");
    else operands[operands.length - 1] += character;
  }
  throw new SyntaxError("a call of fma is never closed");
}

/** A kernel's text whose fma rounds once. */
export function withFusedFma(code: string): string {
  const opaque = /struct Params \{[^}]*?(\w+): u32/.exec(code)?.[1];
  if (opaque === undefined) return code;
  let text = code;
  for (let at = text.lastIndexOf("fma("); at >= 0; at = text.lastIndexOf("fma(", at - 1)) {
    const { operands, end } = operandsAt(text, at + 3);
    const isScalar = SCALAR.test(text.slice(at + 4));
    const call = `fused(${operands.map((one) => `vec4f(${one.trim()})`).join(", ")})`;
    text = text.slice(0, at) + call + (isScalar ? ".x" : "") + text.slice(end);
    if (at === 0) break;
  }
  return text + FUSED.replace("OPAQUE", opaque);
}

/** The device with a fused fma in every kernel that is compiled from now on. */
export function fusedGpu(gpu: Gpu): Gpu {
  return withCompiler(gpu, withFusedFma);
}
