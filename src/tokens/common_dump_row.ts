/** A row of the common token dump, version 1, as a schema: what docs/formats.md shows is made from it. */
import { z } from "zod";

/** Roles as a row spells them, in the order of TOKEN_ROLES. */
export const ROLE_LETTERS = ["s", "u", "a", "t", "o"] as const;

const NAME = z.union([z.string(), z.number()]);
const COUNT = z.int().min(0);
const NON_FINITE = z.enum(["NaN", "Infinity", "-Infinity"]);
const NUMBER = z.union([z.number(), NON_FINITE]).meta({ id: "number" });
const ID = z.int().min(0).max(2 ** 32 - 1);
const VERSION = z.int().min(-(2 ** 31)).max(2 ** 31 - 1);

const ids = z.array(ID).meta({ id: "ids" });
const flags = z.array(z.union([z.literal([0, 1]), z.boolean()])).meta({ id: "flags" });
const values = z.array(z.union([z.number(), NON_FINITE, z.null()])).meta({ id: "values" });

/** What a row says of the sequence as a whole. */
export const COMMON_DUMP_SCALARS = z.object({
  v: z.literal(1).describe("version of the format"),
  run: NAME.optional().describe("name of the run"),
  env: NAME.optional().describe("environment or task set"),
  step: COUNT.optional().describe("training step"),
  phase: z.enum(["pre", "post"]).optional()
    .describe("whether lp_new is from before or after the update on this batch"),
  rank: COUNT.optional().describe("process of the trainer"),
  mb: COUNT.optional().describe("micro-batch within the step"),
  pack_row: COUNT.optional().describe("packed row of the micro-batch that it was in"),
  pack_at: COUNT.optional().describe("index in that row at which it begins (default 0)"),
  pad: z.object({ left: COUNT, right: COUNT }).optional()
    .describe("padding tokens in its row that are not in the arrays"),
  group: NAME.optional().describe("samples of one group share a prompt and a baseline"),
  sample: NAME.optional().describe("name of the sample; one of several turns may be several rows"),
  reward: NUMBER.optional().describe("reward of the whole sample"),
  reward_parts: z.record(z.string(), NUMBER).optional().describe("its parts by name"),
  stop: z.enum(["eos", "length", "tool", "error", "other"]).optional()
    .describe("why it ended; error: the environment or the infrastructure failed"),
  stop_text: z.string().optional().describe("the same in the trainer's words"),
  temp: z.number().min(0).optional().describe("temperature requested from the sampler"),
  top_p: z.number().min(0).max(1).optional().describe("top-p requested from the sampler"),
  loss: z.object({
    agg: z.string().optional().describe("the trainer's name of the aggregation"),
    denom: NUMBER.optional().describe("what the sum over tokens was divided by"),
  }).optional(),
  prompt: z.string().optional().describe("text of the prompt"),
  answer: z.string().optional().describe("text of the answer"),
  answer_len: COUNT.optional().describe("tokens that the policy wrote, as the trainer counts them"),
});

/** A whole row. Every array is as long as `ids`, which a schema cannot say. */
export const COMMON_DUMP_ROW = COMMON_DUMP_SCALARS.extend({
  ids: ids.describe("token ids; every other array has as many values, value i for ids[i]"),
  pos: ids.optional().describe("positions given to the model"),
  mask: flags.optional().describe("1 where the loss trains the token"),
  sampled: flags.optional().describe("1 where the policy drew the token"),
  role: z.array(z.enum(ROLE_LETTERS)).optional()
    .describe("who wrote it: system, user, assistant, tool, other"),
  lp_sampler: values.optional().describe("log-prob by the engine that drew it, nats"),
  lp_old: values.optional().describe("log-prob that the ratio divides by"),
  lp_new: values.optional().describe("log-prob by the policy in training"),
  lp_ref: values.optional().describe("log-prob by the reference model"),
  entropy: values.optional().describe("entropy of the trainer's distribution, nats"),
  adv: z.union([values, NUMBER]).optional()
    .describe("advantage of each token, or one number for all of them"),
  ver: z.union([z.array(VERSION), VERSION]).optional()
    .describe("version of the weights that drew each token, or one for all of them"),
});

/** The schema of a row in JSON Schema's words. Keys that it does not have are skipped. */
export function commonDumpSchema(): object {
  return z.toJSONSchema(COMMON_DUMP_ROW, { io: "input" });
}

/** A row as its parsed JSON. */
export type CommonDumpRow = z.infer<typeof COMMON_DUMP_ROW>;
