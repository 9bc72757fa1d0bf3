/** Tests of findingsText(): what the first lines say, and that nothing is said twice. */
import { assertEquals, assertMatch } from "@std/assert";
import { findingsText, logSubject } from "../../cli/findings_text.ts";
import { sayFinding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import type { LogValue } from "../../src/logs/run_log_builder.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { logOf } from "../producers/log_of.ts";

function textOf(rows: readonly Readonly<Record<string, LogValue>>[], all = false): string {
  const view = interpret(logOf(rows), { settings: {} });
  const findings = judgeLog(view).map((found) => sayFinding(found));
  const layout = { columns: 80, hasColours: false, all };
  return findingsText(logSubject(view, findings, layout), findings, layout)
    .replaceAll(/\s+/g, " ");
}

const timesOf = (text: string, part: string) => text.split(part).length - 1;

const ROW = {
  reward: 0.25,
  reward_std: 0.125,
  frac_reward_zero_std: 0,
  "completions/clipped_ratio": 0,
  loss: 0.0625,
  grad_norm: 0.5,
  learning_rate: 1e-6,
} as const;

Deno.test("findingsText() gives the next step of the first finding once, at the top", () => {
  const rows = Array.from({ length: 12 }, () => ({ ...ROW, "completions/clipped_ratio": 0.75 }));
  for (const all of [false, true]) {
    const text = textOf(rows, all);
    assertMatch(text, /First \(answers_cut\): Raise max_completion_length/);
    assertEquals(timesOf(text, "Raise max_completion_length"), 1);
  }
});

Deno.test("findingsText() does not call a log of one row right, and says once that it is too little", () => {
  const text = textOf([ROW]);
  assertMatch(text, /: jsonl, TRL.*, 1 row, .* First: There is 1 row to judge, too few/);
  assertEquals(timesOf(text, "There is 1 row to judge"), 1);
  assertEquals(timesOf(text, "nothing is wrong"), 0);
  const cut = textOf([{ ...ROW, "completions/clipped_ratio": 0.75 }]);
  assertMatch(cut, /First: There is 1 row to judge.* Worth doing \(answers_cut\): Raise/);
});

Deno.test("findingsText() keeps to the columns, whatever they are", () => {
  const rows = Array.from({ length: 12 }, (_, i) => ({
    ...ROW,
    "completions/clipped_ratio": 0.75,
    "sampling/sampling_logp_difference/mean": 2 + i / 10,
  }));
  const view = interpret(logOf(rows), { settings: {} });
  const findings = judgeLog(view).map((found) => sayFinding(found));
  for (const columns of [50, 80, 120]) {
    const layout = { columns, hasColours: false, all: true };
    const text = findingsText(logSubject(view, findings, layout), findings, layout);
    assertEquals(text.split("\n").filter((line) => line.length > columns), []);
  }
});
