/** The words that trainers and environments have for the end of an answer, as one of few. */
import type { StopReason } from "./token_batch.ts";

/** The first that matches counts: `max_tokens_error` is an error, `max_tool_calls` a length. */
const WORDS: readonly (readonly [RegExp, StopReason])[] = [
  [/error|abort|exception|infra|crash/i, "error"],
  [/length|max|trunc|limit|budget/i, "length"],
  [/tool|function_call/i, "tool"],
  [/stop|eos|eot|end|complete|done|finish|submit/i, "end"],
];

/** The reason that words tell; `other` where they are not known. */
export function stopReason(words: string): StopReason {
  return WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? "other";
}
