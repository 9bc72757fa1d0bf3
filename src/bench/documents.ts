/** The documents of `agentrl bench SUITE --json`: the commands print them, and reports read them. */
import { z } from "zod";

/** What every document of `agentrl bench` says about where and how it was measured. */
export const machineSchema = z.object({ adapter: z.string(), cpu: z.string(), rounds: z.number() });

/** The peaks that shares of the roofline refer to. */
export const peakSchema = z.object({ gflops: z.number(), gbPerSecond: z.number() });

/** The document of `agentrl bench rollout --json`. */
export const rolloutSchema = machineSchema.extend({
  peak: peakSchema,
  rollouts: z.array(z.object({
    episodes: z.number(),
    ms: z.number(),
    tokensPerSecond: z.number(),
    episodesPerSecond: z.number(),
    usPerToken: z.number(),
    rooflineShare: z.number(),
  })).min(1),
});

/** The document of `agentrl bench train --json`. */
export const trainSchema = machineSchema.extend({
  peak: peakSchema,
  steps: z.array(z.object({
    algorithm: z.string(),
    ms: z.number(),
    tokensPerSecond: z.number(),
    rooflineShare: z.number(),
    phasesMs: z.number(),
    phases: z.array(z.object({ phase: z.string(), ms: z.number(), share: z.number() })),
  })).min(1),
});

/** How a time grows along an axis. */
export const curveSchema = z.object({
  axis: z.string(),
  unit: z.string(),
  timed: z.string(),
  sizes: z.array(z.number().positive()).min(2),
  ms: z.array(z.number().positive()),
  exponent: z.number(),
  expected: z.number(),
}).refine(({ sizes, ms }) => sizes.length === ms.length);

/** The document of `agentrl bench growth --json`. */
export const growthSchema = machineSchema.extend({ curves: z.array(curveSchema).min(1) });

/** The document of `agentrl bench kernels --json`. */
export const kernelsSchema = z.object({
  adapter: z.string(),
  cpu: z.string(),
  operandMemory: z.string().optional(),
  rowCount: z.number(),
  /** Largest errors against float64. */
  errors: z.object({ forward: z.number(), gradient: z.number(), weights: z.number() }).optional(),
  kernels: z.array(z.object({
    kernel: z.string(),
    shape: z.string(),
    calls: z.number(),
    timeUs: z.number(),
    gflops: z.number().nullable(),
    gbPerSecond: z.number().nullable(),
  })),
  updateMs: z.number(),
});

/** A case of `agentrl bench step`: timed whole or by the token. */
export const caseSchema = z.object({
  oursMs: z.number().optional(),
  peerMs: z.number().nullable().optional(),
  oursMsPerToken: z.number().optional(),
  peerMsPerToken: z.number().nullable().optional(),
  ratio: z.number().nullable(),
});

/** The document of `agentrl bench step --json`: besides the machine, one entry a case. */
export const stepSchema = z.looseObject({
  adapter: z.string(),
  cpu: z.string(),
  rounds: z.number(),
  reinforce: caseSchema,
});

/** One way to log-probs and entropies, in `agentrl bench logprob`. */
export const wayShape = {
  forwardMs: z.number(),
  backwardMs: z.number(),
  workspaceBytes: z.number(),
  errors: z.object({ logp: z.number(), entropy: z.number(), dh: z.number(), dhead: z.number() }),
};

/** The document of `agentrl bench logprob --json`. */
export const logprobSchema = z.object({
  adapter: z.string(),
  cpu: z.string(),
  rounds: z.number(),
  rows: z.number(),
  width: z.number(),
  cases: z.array(z.object({
    vocabSize: z.number(),
    rounds: z.number(),
    checkedRows: z.number(),
    fused: z.object(wayShape),
    unfused: z.object(wayShape).nullable(),
    unfusedRefusal: z.string().nullable(),
    peer: z.object({ ...wayShape, threads: z.number() }).nullable(),
  })).min(1),
});

/** What one engine took to score, in `agentrl bench score`: medians. */
const scoreTimeShape = {
  ms: z.number(),
  tokensPerSecond: z.number(),
  gflops: z.number(),
  /** The least time by the adapter's peaks, as a share of the measured one. */
  rooflineShare: z.number(),
};

/** The document of `agentrl bench score --json`. */
export const scoreSchema = machineSchema.extend({
  peak: peakSchema,
  shape: z.string(),
  tokens: z.number(),
  weights: z.enum(["f32", "bf16"]),
  weightBytes: z.number(),
  /** On the device, beyond the weights. */
  workspaceBytes: z.number(),
  /** At most so many bytes did the process need beyond the weights; null where the adapter has memory of its own. */
  processBytes: z.number().nullable(),
  ours: z.object(scoreTimeShape),
  /** Empty without a peer. */
  peers: z.array(z.object({
    ...scoreTimeShape,
    dtype: z.enum(["f32", "bf16"]),
    threads: z.number(),
    peakBytes: z.number(),
    /** Largest difference of a token's log-prob from ours, in nats. */
    offNats: z.number(),
  })),
  /** Our time over the peer's in f32; null without one. */
  ratio: z.number().nullable(),
});

/** A layout of the kernels: values of `Tuning`, by name. */
const layoutSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** The document of `agentrl bench all --json`: of each suite its own document, or a sentence about why there is none. */
export const allSchema = z.object({
  bench: z.literal("all"),
  agentrl: z.string().describe("version"),
  measuredAt: z.string().describe("when it began, ISO 8601 in UTC"),
  durationMs: z.number().describe("of the whole sitting"),
  adapter: z.string(),
  cpu: z.string(),
  info: z.looseObject({
    software: z.boolean().describe("whether a CPU plays the GPU"),
    trusted: z.boolean().describe("whether the self-test passed"),
    readback: z.string().describe("how results come back: primed or awaited"),
    tuning: layoutSchema.describe("the layout before the search"),
    versions: z.record(z.string(), z.string()),
  }).describe("the document of the command info"),
  tuning: z.looseObject({
    fastest: layoutSchema.describe("the layout that the suites were measured with"),
    times: z.record(z.string(), z.object({ startMs: z.number(), ms: z.number() }))
      .describe("of an update and a rollout: before and after the search"),
    probes: z.array(z.looseObject({
      name: z.string().describe("which part of the layout"),
      refusal: z.string().nullable().describe("why the value must not be used"),
    })),
  }).nullable().describe("the document of the command tune; null where nothing was searched"),
  suites: z.array(z.object({
    suite: z.string(),
    durationMs: z.number().describe("with its preparation"),
    document: z.unknown().describe("the document of the suite alone; null where it failed"),
    problem: z.string().nullable().describe("why it failed, in a sentence"),
  })),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** What `agentrl bench kernels` prints. */
export type KernelsDocument = DeepReadonly<z.input<typeof kernelsSchema>>;
/** What `agentrl bench rollout` prints. */
export type RolloutDocument = DeepReadonly<z.input<typeof rolloutSchema>>;
/** What `agentrl bench train` prints. */
export type TrainDocument = DeepReadonly<z.input<typeof trainSchema>>;
/** What `agentrl bench growth` prints. */
export type GrowthDocument = DeepReadonly<z.input<typeof growthSchema>>;
/** What `agentrl bench score` prints. */
export type ScoreDocument = DeepReadonly<z.input<typeof scoreSchema>>;
/** What `agentrl bench logprob` prints. */
export type LogprobDocument = DeepReadonly<z.input<typeof logprobSchema>>;
/** What `agentrl bench all` prints. */
export type AllDocument = DeepReadonly<z.input<typeof allSchema>>;
