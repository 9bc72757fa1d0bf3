/** What a sampler and a trainer that hold the same weights may differ by, for the precision of their engines. */

/** Precision of the engine that samples; `exact` where both compute the same bits, as ours do on most adapters. */
export const SAMPLER_ENGINES = ["bf16", "fp8", "f32", "exact"] as const;

/** Name of an engine pair. */
export type SamplerEngine = typeof SAMPLER_ENGINES[number];

/** Bounds of the mean |difference| of a token's two log-probs, in nats. */
export interface EngineBounds {
  readonly engine: SamplerEngine;
  /** Up to here it is rounding. */
  readonly healthy: number;
  /** From here on something else must explain it; undefined where this depends on what is quantized and how. */
  readonly look: number | undefined;
  /** Where the numbers come from. */
  readonly from: string;
}

const BOUNDS: Readonly<Record<SamplerEngine, EngineBounds>> = {
  bf16: {
    engine: "bf16",
    healthy: 0.02,
    look: 0.1,
    from:
      "between two bf16 engines 0.01 to 0.02 nats are usual; stale weights were seen at 0.2, and slime's own tests fail above 0.1",
  },
  fp8: {
    engine: "fp8",
    healthy: 0.1,
    look: undefined,
    from: "how far an fp8 sampler differs depends on what is quantized and how",
  },
  f32: {
    engine: "f32",
    healthy: 1e-4,
    look: 1e-3,
    from: "two f32 engines differ by rounding alone, about 1e-6 nats",
  },
  exact: {
    engine: "exact",
    healthy: 0,
    look: 0,
    from:
      "sampler and trainer of agentrl compute the same bits where the adapter keeps to their text",
  },
};

/** The bounds of an engine pair. */
export function boundsOf(engine: SamplerEngine): EngineBounds {
  return BOUNDS[engine];
}
