/**
 * What an adapter's compiler makes of sums and products. WGSL lets it round a product with the sum that it feeds
 * (contraction) and add in another order (reassociation): then two kernels with the same text can have other bits.
 * Source: the WGSL specification, "Reassociation and Fusion"; Knuth, TAOCP 2, 4.2.2 (the two-sum).
 */

/** What the self-test found an adapter to do. */
export interface Arithmetic {
  /** How often `fma(a, b, c)` rounds: `once` (fused), or `twice` (a product and a sum); `unknown` where it is neither. */
  readonly fmaRounds: "once" | "twice" | "unknown";
  /** Whether a product is added without being rounded, where the text has `a * b + c`. */
  readonly contractsProducts: boolean;
  /** Whether sums are made in another order than the text's. */
  readonly reassociatesSums: boolean;
  /** Whether `(a + b) - a` is taken for b, as Mesa's drivers do. No kernel subtracts what it has just added. */
  readonly cancelsTerms: boolean;
}

/** What one invocation of the self-test returns. */
export interface ArithmeticProbe {
  /** `a * b + c`, with c the negative of the rounded product. */
  readonly productPlus: number;
  /** `fma(a, b, c)` of the same numbers. */
  readonly fused: number;
  /** `z - max(z, least)` with `z = a * b`: the way of a score to its exponential. */
  readonly productMinus: number;
  /** `fma(a, b, -(a * b))`: which of two products is rounded. */
  readonly productPair: number;
  /** `(x + y) + (z + w)`. */
  readonly fourTerms: number;
  /** What the sum of two numbers loses, by the two-sum. */
  readonly lost: number;
  /** `residual + (sum + bias)`. */
  readonly residualSum: number;
  /** |q − max(q, least)| for a quotient and for a logarithm: products that a compiler writes by itself. */
  readonly hidden: number;
}

/** 1 + 3·2⁻¹³: its square is 2⁻²⁶ above the next f32. */
const FACTOR = 1 + 3 * 2 ** -13;
const SQUARE = Math.fround(FACTOR * FACTOR);
/** What rounding takes from the square. */
const ROUNDED_OFF = FACTOR * FACTOR - SQUARE;
/** Of the 15 ways to add them, the written one alone rounds down. */
const TERMS = [2015, 1455, -49397760, 2517] as const;
const FOUR_TERMS = -49391776;
const SMALL = 2 ** -25;
const HALF_STEP = 2 ** -24;

/** The inputs of the probes, in the order in which shaders/self_test.wgsl reads them. */
export const PROBE_INPUTS: readonly number[] = [
  FACTOR,
  FACTOR,
  -SQUARE,
  ...TERMS,
  1,
  SMALL,
  HALF_STEP,
  HALF_STEP,
  -1e30,
];

/** What an adapter returns that rounds each operation of the text by itself, fma included. */
export const PROBE_AS_WRITTEN: ArithmeticProbe = {
  productPlus: 0,
  fused: 0,
  productMinus: 0,
  productPair: 0,
  fourTerms: FOUR_TERMS,
  lost: SMALL,
  residualSum: 1 + 2 * HALF_STEP,
  hidden: 0,
};

/** The same of one with a fused fma. */
export const PROBE_FUSED: ArithmeticProbe = {
  ...PROBE_AS_WRITTEN,
  fused: ROUNDED_OFF,
  productPair: ROUNDED_OFF,
};

/**
 * Says what an adapter does.
 *
 * @param probes What the invocations returned; one that departs from the text is enough.
 * @returns Its arithmetic. NaN departs from the text.
 */
export function arithmeticOfProbes(probes: readonly ArithmeticProbe[]): Arithmetic {
  const every = (holds: (probe: ArithmeticProbe) => boolean) => probes.every(holds);
  return {
    fmaRounds: every(({ fused }) => fused === 0)
      ? "twice"
      : every(({ fused }) => fused === ROUNDED_OFF)
      ? "once"
      : "unknown",
    contractsProducts: !every(({ productPlus, productMinus, productPair, fused, hidden }) =>
      productPlus === 0 && productMinus === 0 && hidden === 0 && productPair === fused
    ),
    reassociatesSums: !every(({ fourTerms, residualSum }) =>
      fourTerms === PROBE_AS_WRITTEN.fourTerms && residualSum === PROBE_AS_WRITTEN.residualSum
    ),
    cancelsTerms: !every(({ lost }) => lost === PROBE_AS_WRITTEN.lost),
  };
}

/**
 * True of an adapter on which kernels that share a text have the same bits, as sampler and trainer do. A fused fma is no
 * hindrance, since it is fused in both, nor are terms that cancel, since there are none.
 */
export function keepsBits(arithmetic: Arithmetic): boolean {
  const { fmaRounds, contractsProducts, reassociatesSums } = arithmetic;
  return fmaRounds !== "unknown" && !contractsProducts && !reassociatesSums;
}

/** An adapter's arithmetic in words: `fma rounds twice; rounds products before it adds them; adds in the written order`. */
export function describeArithmetic(arithmetic: Arithmetic): string {
  const { fmaRounds, contractsProducts, reassociatesSums, cancelsTerms } = arithmetic;
  return [
    fmaRounds === "unknown" ? "fma rounds in a way of its own" : `fma rounds ${fmaRounds}`,
    contractsProducts ? "contracts products and sums" : "rounds products before it adds them",
    reassociatesSums ? "reassociates sums" : "adds in the written order",
    ...(cancelsTerms ? ["takes (a + b) − a for b"] : []),
  ].join("; ");
}
