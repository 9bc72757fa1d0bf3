/** How tests read and judge the runs that they watch: as the command does. */
import { PLAIN_WORDS, sayFinding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { NO_TEXTS } from "../../src/report/files/token_texts.ts";
import type { RunReading } from "../../src/watch/follow_run.ts";

/** A clock that is a second further each time it is asked. */
export function testReading(): RunReading {
  let nowMs = 0;
  return {
    readView: async (path) => interpret(await readRunLog(path), { settings: {} }),
    judge: (view) => judgeLog(view, { against: undefined }).map((found) => sayFinding(found)),
    words: PLAIN_WORDS,
    textOf: NO_TEXTS,
    nowMs: () => nowMs += 1000,
  };
}

/** A row of a TRL log; from step 20 on its sampler and trainer disagree. */
export function trlRow(step: number): string {
  return `${
    JSON.stringify({
      step,
      reward: 0.2 + step / 100 + (step % 3) / 50,
      reward_std: 0.4,
      "completions/mean_length": 200 + (step % 5),
      "completions/clipped_ratio": 0.02,
      entropy: 0.6 - step / 200,
      grad_norm: 0.3 + (step % 4) / 20,
      learning_rate: 1e-6,
      loss: 0.0012,
      "sampling/sampling_logp_difference/mean": step < 20 ? 0.01 : 2.4,
    })
  }\n`;
}

/** Rows from one step to before another. */
export function trlRows(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, i) => trlRow(from + i)).join("");
}
