/** Tests of src/faults/signatures.ts on rows made by hand: every claim holds on rows that show it, and fails on healthy ones. */
import { assert, assertEquals } from "@std/assert";
import type { CatalogueName } from "../../src/faults/catalogue.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import { type CatalogueRows, SIGNATURES, testSignatures } from "../../src/faults/signatures.ts";

const HEALTHY: Omit<MetricsRow, "step"> = {
  reward: 0.6,
  pass_rate: 0.6,
  reads: 1,
  tests: 0,
  edits: 1,
  malformed: 0.1,
  hardcode: 0,
  submitted: 1,
  turns: 3,
  length: 10,
  length_pass: 10,
  length_fail: 11,
  entropy: 0.2,
  approx_kl: 0.001,
  approx_kl_max: 0.002,
  clip_frac: 0.0078125,
  ratio_min: 0.75,
  ratio_max: 1.25,
  grad_norm: 0.2,
  grad_norm_max: 0.3,
  kl_ref: 0.01,
  zero_adv_frac: 0.2,
  all_pass: 0.2,
  all_fail: 0,
  loss: 0.01,
  logp_gap: 0,
  logp_gap_max: 0,
  logp_gap_p99: 0,
  loss_tokens: 10,
};

/** Eight steps whose grad_norm and reward vary. */
function rowsOf(values: (step: number) => Partial<MetricsRow> = () => ({})): MetricsRow[] {
  return Array.from({ length: 8 }, (_, step) => ({
    ...HEALTHY,
    step,
    grad_norm: 0.15 + step / 100,
    reward: step / 10,
    ...(step === 7 ? { eval_pass: 0.7 } : {}),
    ...values(step),
  }));
}

/** Rows that show each claim. */
const SHOWING: Partial<Record<CatalogueName, MetricsRow[]>> = {
  healthy: rowsOf(),
  mask_shift: rowsOf(() => ({ logp_gap: 3, grad_norm: 0.6 })),
  stale_old_logp: rowsOf(() => ({ clip_frac: 0, ratio_min: 1, ratio_max: 1 })),
  entropy_sign: rowsOf((step) => ({
    entropy: 0.02,
    reads: 0,
    ...(step === 7 ? { eval_pass: 0.2 } : {}),
  })),
  sign_flip: rowsOf((step) => ({ reward: 0, turns: step })),
  accum_local: rowsOf(() => ({ grad_norm: 0.2 })),
  sampler_temp: rowsOf(() => ({ logp_gap: 0.07, reads: 0 })),
  ref_is_policy: rowsOf(() => ({ kl_ref: 0 })),
  lr_high: rowsOf(() => ({ approx_kl: 0.3, malformed: 5 })),
  length_bias: rowsOf(() => ({ length_fail: 40 })),
  healthy_12_turns: rowsOf(() => ({ length_fail: 12 })),
  public_reward: rowsOf(() => ({ reward: 0.97, pass_rate: 0.01 })),
  stale_sampler: rowsOf((step) => ({ logp_gap: step === 0 ? 0 : 0.02 })),
  mask_end_call: rowsOf(() => ({ loss_tokens: 7 })),
  sampler_logp_temp: rowsOf(() => ({ logp_gap: 0.1 })),
  denominator: rowsOf(() => ({ grad_norm: 0.05 })),
};

Deno.test("testSignatures() finds every claim in rows that show it", () => {
  const results = testSignatures(SHOWING);
  assertEquals(results.length, SIGNATURES.length);
  assertEquals(results.filter(({ holds }) => !holds), []);
});

Deno.test("testSignatures() finds no failure's claim in healthy rows", () => {
  const healthy = rowsOf();
  const all = Object.fromEntries(SIGNATURES.map(({ run }) => [run, healthy]));
  const results = testSignatures({ ...all, healthy_12_turns: healthy });
  // What leaves no trace looks healthy by its very claim.
  assertEquals(
    results.filter(({ holds }) => holds).map(({ run }) => run),
    ["healthy", "accum_local"],
  );
  assert(results.every(({ measured }) => measured.length > 0));
});

Deno.test("testSignatures() leaves out claims whose run or control is missing", () => {
  const few: CatalogueRows = { lr_high: rowsOf(), stale_old_logp: rowsOf() };
  assertEquals(testSignatures(few).map(({ run }) => run), ["stale_old_logp"]);
});

Deno.test("testSignatures() asks for a gap of rounding where the adapter rounds apart", () => {
  const gaps = (values: readonly number[]) =>
    rowsOf((step) => {
      const gap = values[Math.min(step, values.length - 1)] ?? NaN;
      return { logp_gap: gap, logp_gap_max: gap };
    });
  const held = (name: "healthy" | "stale_sampler", values: readonly number[], rounding: number) => {
    const [first] = testSignatures({ [name]: gaps(values) }, { rounding });
    return [first?.holds, first?.claim.includes("the rounding of this adapter")];
  };
  assertEquals(held("healthy", [0], 0), [true, false]);
  assertEquals(held("healthy", [1e-6], 0), [false, false]);
  assertEquals(held("healthy", [1e-6], 1e-4), [true, true]);
  assertEquals(held("healthy", [1e-3], 1e-4), [false, true]);
  assertEquals(held("stale_sampler", [1e-6, 1e-2], 1e-4), [true, true]);
  assertEquals(held("stale_sampler", [1e-6, 1e-6], 1e-4), [false, true]);
});
