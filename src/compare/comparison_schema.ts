/** What `compare` hands out as one document: the schema of comparisons, for whoever reads them elsewhere. */
import { z } from "zod";

const setting = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const settings = z.record(z.string(), setting);

const interval = z.object({ estimate: z.number(), low: z.number(), high: z.number() })
  .describe("an estimate with the ends of its 95 % interval");

const seed = z.object({
  path: z.string(),
  seed: z.int().nullable(),
  score: z.number(),
}).describe("a run with its seed; null: the log does not tell it");

const group = z.object({
  name: z.string(),
  settings: settings.describe("what its runs share, by name"),
  runs: z.int().describe("how many have a score"),
  strata: z.array(z.object({
    name: z.string().describe("the setting of the environment"),
    seeds: z.array(seed),
  })),
  mean: z.number().nullable(),
  middle: z.number().nullable().describe("the interquartile mean"),
  meanInterval: interval.nullable().describe("null: see noInterval"),
  middleInterval: interval.nullable(),
  noInterval: z.enum(["few-seeds", "equal-scores"]).optional()
    .describe("why no interval is given"),
  best: seed.nullable(),
  worst: seed.nullable(),
  efficiency: z.object({
    threshold: z.number(),
    reached: z.int().describe("runs that reach it"),
    runs: z.int(),
    medianSteps: z.number().nullable().describe("null: most runs do not reach it"),
    leastSteps: z.number().nullable(),
  }).nullable(),
  episodesPerStep: z.number().nullable(),
  profile: z.array(z.object({
    score: z.number(),
    share: z.number().describe("of runs above the score"),
    low: z.number(),
    high: z.number(),
  })),
  curves: z.array(z.object({
    metric: z.string(),
    isInterval: z.boolean().describe("true: 95 % of the mean; false: lowest to highest seed"),
    points: z.array(
      z.object({ step: z.number(), mean: z.number(), low: z.number(), high: z.number() }),
    ),
  })),
});

const pair = z.object({
  first: z.int().describe("index of the better group"),
  second: z.int(),
  improvement: interval.nullable().describe("P(a run of the first is better)"),
  differs: z.boolean().nullable()
    .describe("at the level that holds for all pairs; null: nothing is claimed"),
  noClaim: z.enum(["few-seeds", "no-shared-setting"]).optional(),
  sharedStrata: z.array(z.string()).describe("settings of the environment that both ran in"),
  paired: z.object({
    pairs: z.int(),
    higher: z.int().describe("pairs of runs in which the first is higher"),
    lower: z.int(),
    mean: z.number(),
    interval: interval.optional(),
  }).nullable(),
});

const overSeeds = z.object({
  kind: z.literal("seeds"),
  metric: z.string().describe("what a score is made of"),
  scoreRule: z.enum(["last", "last_four"]).describe("of which values of the run"),
  lowerIsBetter: z.boolean(),
  threshold: z.number().nullable().describe("what steps are counted to"),
  groups: z.array(group).describe("the best first"),
  pairs: z.array(pair),
  leftOut: z.array(z.object({ path: z.string(), group: z.string(), why: z.string() }))
    .describe("runs without a score"),
  differences: z.array(
    z.object({ name: z.string(), values: z.array(setting).describe("one a group") }),
  ),
  axes: z.array(z.string()).describe("settings that a sweep varies"),
  findings: z.array(z.object({
    id: z.string(),
    class: z.enum(["violated", "suspect"]),
    counts: z.array(z.int()).describe("runs of each group"),
  })).optional(),
});

const both = <T extends z.ZodType>(one: T) => z.tuple([one, one]);

const metric = z.object({
  metric: z.string(),
  part: z.string(),
  keys: both(z.string()),
  commonSteps: z.int(),
  verdict: z.enum(["parts", "together", "not-comparable", "not-checkable"]),
  parting: z.object({
    step: z.number(),
    first: z.number(),
    second: z.number(),
    inNoise: z.number().nullable().describe("null: there is no noise"),
  }).optional(),
  why: z.string().optional(),
  definitions: both(z.string()).optional(),
});

const runPair = z.object({
  paths: both(z.string()),
  trainers: both(z.string().nullable()),
  isAligned: z.boolean().describe("false: a step of one is no step of the other"),
  whyNotAligned: z.string().optional(),
  isSameSetup: z.boolean().describe("runs of ours with the same settings and seed"),
  equal: z.object({
    equalSteps: z.int().describe("common steps from the first on with equal numbers"),
    commonSteps: z.int(),
    firstDifferent: z.number().nullable(),
    keys: z.array(z.object({ key: z.string(), values: both(z.number().nullable()) })),
  }).nullable().describe("null: no key or step in common"),
  metrics: z.array(metric).describe("those that part first come first"),
  onlyIn: both(z.array(z.string())).describe("metrics of one run only"),
  settings: z.array(z.object({
    name: z.string(),
    values: both(setting),
    isTold: both(z.boolean()).describe("false: the log does not tell it"),
  })),
});

/** A comparison over seeds, or step by step: the first run with each of the others. */
export const comparisonSchema = z.discriminatedUnion("kind", [
  overSeeds,
  z.object({ kind: z.literal("steps"), pairs: z.array(runPair) }),
]);

/** The same as JSON Schema. */
export function comparisonJsonSchema(): object {
  return z.toJSONSchema(comparisonSchema, { reused: "ref" });
}
