/** What agentrl and the process of an environment say to each other: JSON, a line a message, on the standard streams. */
import { z } from "zod";

/** The version of the protocol that this program speaks. */
export const PROTOCOL_VERSION = 1;

const tokens = z.array(z.int());

/** A message to a process. Each has a number of its own; the process repeats it in what it answers. */
export type Question =
  /** The first one: who are you? */
  | { readonly id: number; readonly type: "hello"; readonly version: typeof PROTOCOL_VERSION }
  /** Begins an episode in each of the slots, whatever was played there before. */
  | { readonly id: number; readonly type: "reset"; readonly ask: readonly ResetAsk[] }
  /** Takes a call in each of the slots. */
  | { readonly id: number; readonly type: "step"; readonly ask: readonly StepAsk[] }
  /** How are these tasks solved? Slots are numbers of questions here, in which nothing is played. */
  | { readonly id: number; readonly type: "demonstrate"; readonly ask: readonly ResetAsk[] }
  /** The last one: the process ends, without an answer. */
  | { readonly id: number; readonly type: "close" };

/** A slot and the task of its new episode. */
export interface ResetAsk {
  readonly slot: number;
  readonly task: number;
}

/** A slot and the next call of its episode. */
export interface StepAsk {
  readonly slot: number;
  readonly call: readonly number[];
}

/** The messages that ask about slots, and are answered slot by slot. */
export type AskType = "reset" | "step" | "demonstrate";

/** What is asked about a slot. */
export type Ask = ResetAsk | StepAsk;

/** Any message of a process: a part of the answer to one message, the whole of it most often. */
export const answerSchema = z.looseObject({
  id: z.int().describe("the number of the message that is answered"),
  error: z.string().optional().describe("instead of the rest: why it cannot be answered"),
  answers: z.array(z.looseObject({ slot: z.int() })).optional()
    .describe("one for each slot that was asked, in any order, here or in a later line"),
});

/** The answer to `hello`. What it says of the environment is checked as that of a module is (`requireFacts`). */
export const helloSchema = z.looseObject({
  version: z.int().describe("of the protocol: 1"),
  name: z.string().describe("lower-case letters, digits, _ and -"),
  words: z.array(z.string()).describe("the vocabulary: the id of a word is its index"),
  tasks: z.looseObject({
    train: z.int().describe("tasks 0 to train − 1 are trained on"),
    heldout: z.int().describe("those behind them are not"),
  }),
  spec: z.looseObject({
    callEnd: z.int().describe("the id of the word that ends a call"),
    maxCallTokens: z.int().describe("a call also ends at so many tokens"),
    maxTurns: z.int().describe("an episode ends after at most so many calls"),
    maxEpisodeTokens: z.int().describe("of prompt, calls and observations together"),
  }),
  metrics: z.array(z.unknown()).optional()
    .describe("behaviour metrics: { name, meaning, healthy }; info then has a value of each"),
  demonstrations: z.boolean().optional().describe("whether it answers demonstrate"),
});

/** What `hello` tells. */
export type Hello = z.infer<typeof helloSchema>;

/** A slot cannot be answered: the environment failed, which ends the run, or lost the episode, which leaves it out. */
const failure = {
  slot: z.int(),
  error: z.string().optional().describe("instead of the rest: the environment failed"),
  lost: z.string().optional()
    .describe("instead of the rest: this episode cannot be finished, and why"),
};

/** Why a slot has no answer. */
export const failureSchema = z.looseObject(failure);

/** What is told of an episode that has ended. */
const infoSchema = z.looseObject({
  malformed: z.int().nonnegative().describe("calls that were not valid"),
  stop: z.string().nullable().describe("why it ended, in a word"),
  task: z.string().optional().describe('the task\'s name (default "task N")'),
  passed: z.boolean().optional().describe("default: whether the reward is above 0"),
  turns: z.int().nonnegative().optional().describe("default: the calls that were made"),
  calls: z.array(z.string()).optional().describe("each call as text (default: its words)"),
});

/** The answers of a slot, by the message that is answered. */
export const SLOT_ANSWERS = {
  reset: z.looseObject({ ...failure, observation: tokens.describe("the prompt") }),
  step: z.looseObject({
    ...failure,
    observation: tokens.describe("what the policy reads next; empty where the episode is done"),
    done: z.boolean(),
    reward: z.number().nullish()
      .describe("what this call is paid; an episode's reward is the sum, so one call must have it"),
    info: infoSchema.nullish().describe("where done is true"),
  }),
  demonstrate: z.looseObject({ ...failure, calls: z.array(tokens).describe("of a good play") }),
} as const satisfies Record<AskType, z.ZodType>;

/** The answer of a slot to a message. */
export type SlotAnswer<T extends AskType = AskType> = z.infer<typeof SLOT_ANSWERS[T]>;
