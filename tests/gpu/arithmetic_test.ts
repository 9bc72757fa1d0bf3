/** Tests of src/gpu/arithmetic.ts: raw values as each kind of adapter returns them, and what the one here does. */
import { assert, assertEquals } from "@std/assert";
import {
  type Arithmetic,
  arithmeticOfProbes,
  type ArithmeticProbe,
  describeArithmetic,
  keepsBits,
  PROBE_AS_WRITTEN,
  PROBE_FUSED,
  PROBE_INPUTS,
} from "../../src/gpu/arithmetic.ts";
import { arithmeticOf, SELF_TEST } from "../../src/gpu/self_test.ts";
import { kernelOf } from "../../src/kernels/operands.ts";
import { gpuTest, MEMORIES, testGpu } from "./gpu_test_device.ts";

const FUSED_ERROR = 2 ** -26;
const FAITHFUL: Arithmetic = {
  fmaRounds: "twice",
  contractsProducts: false,
  reassociatesSums: false,
  cancelsTerms: false,
};

/** Kinds of adapters: what differs from one that does what is written with a fused fma, and what is said of it. */
const KINDS: readonly (readonly [string, Partial<ArithmeticProbe>, Partial<Arithmetic>])[] = [
  ["a GPU that keeps to the text", {}, {}],
  ["one without a fused fma", { fused: 0, productPair: 0 }, { fmaRounds: "twice" }],
  ["one that fuses a * b + c", { productPlus: FUSED_ERROR }, { contractsProducts: true }],
  ["one that fuses a * b − c alone", { productMinus: FUSED_ERROR }, { contractsProducts: true }],
  ["one that fuses a quotient or a logarithm", { hidden: 3e-8 }, { contractsProducts: true }],
  [
    "one that rounds the other product of a pair",
    { productPair: -FUSED_ERROR },
    { contractsProducts: true },
  ],
  [
    "one that makes fma of a product and a sum, and contracts that",
    { fused: FUSED_ERROR, productPlus: FUSED_ERROR, productPair: -FUSED_ERROR },
    { contractsProducts: true },
  ],
  ["fast math on sums", { fourTerms: -49391772 }, { reassociatesSums: true }],
  ["(residual + sum) + bias", { residualSum: 1 }, { reassociatesSums: true }],
  ["Mesa", { lost: 0 }, { cancelsTerms: true }],
  ["an fma that is off", { fused: 2 ** -20 }, { fmaRounds: "unknown", contractsProducts: true }],
  [
    "NaN",
    { fused: NaN, productPlus: NaN, fourTerms: NaN, lost: NaN },
    {
      fmaRounds: "unknown",
      contractsProducts: true,
      reassociatesSums: true,
      cancelsTerms: true,
    },
  ],
];

Deno.test("arithmeticOfProbes() tells every kind of adapter, also where one invocation alone departs", () => {
  for (const [name, raw, said] of KINDS) {
    const probe = { ...PROBE_FUSED, ...raw };
    const expected = { ...FAITHFUL, fmaRounds: "once" as const, ...said };
    assertEquals(arithmeticOfProbes([probe, probe]), expected, name);
    const mixed = arithmeticOfProbes([PROBE_FUSED, probe]);
    assertEquals(mixed.contractsProducts, expected.contractsProducts, name);
    assertEquals(mixed.reassociatesSums, expected.reassociatesSums, name);
  }
  // fma that rounds once here and twice there is neither.
  assertEquals(arithmeticOfProbes([PROBE_FUSED, PROBE_AS_WRITTEN]).fmaRounds, "unknown");
});

Deno.test("keepsBits() asks for the text's products and sums, and for nothing else", () => {
  assert(keepsBits(FAITHFUL));
  assert(keepsBits({ ...FAITHFUL, fmaRounds: "once", cancelsTerms: true }));
  assert(!keepsBits({ ...FAITHFUL, fmaRounds: "unknown" }));
  assert(!keepsBits({ ...FAITHFUL, contractsProducts: true }));
  assert(!keepsBits({ ...FAITHFUL, reassociatesSums: true }));
});

Deno.test("describeArithmetic() says what was found", () => {
  assertEquals(
    describeArithmetic(FAITHFUL),
    "fma rounds twice; rounds products before it adds them; adds in the written order",
  );
  const other = { contractsProducts: true, reassociatesSums: true, cancelsTerms: true } as const;
  assertEquals(
    describeArithmetic({ fmaRounds: "once", ...other }),
    "fma rounds once; contracts products and sums; reassociates sums; takes (a + b) − a for b",
  );
});

Deno.test("the probes' inputs make each kind of adapter return something else", () => {
  const f32 = Math.fround;
  const [a = 0, b = 0, c = 0, x = 0, y = 0, z = 0, w = 0, one = 0, small = 0, sum = 0, bias = 0] =
    PROBE_INPUTS;
  assert(PROBE_INPUTS.every((value) => value === f32(value) || value === -1e30));
  assertEquals(f32(f32(a * b) + c), PROBE_AS_WRITTEN.productPlus);
  assertEquals(a * b + c, PROBE_FUSED.fused);
  const add = (...terms: readonly number[]) => terms.reduce((total, term) => f32(total + term));
  assertEquals(add(add(x, y), add(z, w)), PROBE_AS_WRITTEN.fourTerms);
  const terms = [x, y, z, w];
  const orders = terms.flatMap((first, i) =>
    terms.flatMap((second, j) =>
      terms.flatMap((third, k) =>
        new Set([i, j, k]).size === 3 ? [add(first, second, third, terms[6 - i - j - k]!)] : []
      )
    )
  );
  assertEquals(orders.length, 24);
  for (const other of [...orders, add(add(x, z), add(y, w)), add(add(x, w), add(y, z))]) {
    assert(other !== PROBE_AS_WRITTEN.fourTerms);
  }
  assertEquals(add(one, add(sum, bias)), PROBE_AS_WRITTEN.residualSum);
  assert(add(one, sum, bias) !== PROBE_AS_WRITTEN.residualSum);
  assert(add(one, bias, sum) !== PROBE_AS_WRITTEN.residualSum);
  assertEquals(add(one, small), 1);
  assertEquals(small, PROBE_AS_WRITTEN.lost);
});

gpuTest("software Vulkan keeps to the written products and sums, in either memory", async () => {
  for (const memory of MEMORIES) {
    const gpu = { ...await testGpu(memory), arithmetic: { known: undefined } };
    const found = await arithmeticOf(gpu);
    assertEquals({ ...found, cancelsTerms: false }, FAITHFUL);
    assertEquals(gpu.arithmetic.known, found);
  }
});

const COMPILERS: readonly (readonly [string, string, Partial<Arithmetic>])[] = [
  ["a * b + probe_12[2]", "probe_12[8]", { contractsProducts: true }],
  ["return x - max(x, probe_12[11]);", "return x * 1e-9;", { contractsProducts: true }],
  [
    "(probe_12[3] + probe_12[4]) + (probe_12[5] + probe_12[6])",
    "((probe_12[3] + probe_12[4]) + probe_12[5]) + probe_12[6]",
    { reassociatesSums: true },
  ],
  [
    "probe_12[7] + (probe_12[9] + probe_12[10])",
    "(probe_12[7] + probe_12[9]) + probe_12[10]",
    { reassociatesSums: true },
  ],
];

gpuTest("arithmeticOf() finds what a compiler could make of the self-test", async () => {
  for (const [from, to, said] of COMPILERS) {
    assert(SELF_TEST.wgsl.includes(from), from);
    const gpu = { ...await testGpu(), kernels: new Map(), arithmetic: { known: undefined } };
    kernelOf(gpu, { ...SELF_TEST, wgsl: SELF_TEST.wgsl.replace(from, () => to) });
    const found = await arithmeticOf(gpu);
    assertEquals({ ...found, cancelsTerms: false }, { ...FAITHFUL, ...said }, from);
  }
});
