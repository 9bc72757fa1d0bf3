/** Tests of the readers of JSONL and JSON lists. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { allPoints, ignoredOf, points, readText } from "./read_text.ts";
import {
  JSON_LIST_TEXT,
  JSONL_TEXT,
  PRIME_JSONL_TEXT,
  TINKER_TEXT,
  WANDB_TEXT,
} from "./text_fixtures.ts";

Deno.test("prime-rl: rows of a step are merged, and an orchestrator that lags is not a restart", async () => {
  const log = await readText(PRIME_JSONL_TEXT);
  assertEquals(allPoints(log), {
    time: [[0, 1700000011.5], [1, 1700000012.5]],
    "loss/mean": [[0, 0.5], [1, 0.25]],
    "mismatch_kl/all/mean": [[0, 0.001], [1, 0.002]],
    "entropy/all/mean": [[0, 0.25]],
    "optim/lr": [[0, 1e-6]],
    "optim/grad_norm": [[0, 0.125]],
    "train/agg/all/solver/reward/mean": [[0, 0.375], [1, 0.625]],
    "train/agg/all/solver/solved_none": [[0, 0.5], [1, 0.25]],
  });
  assertEquals([log.seams.length, log.source.producer], [0, "prime_rl"]);
});

Deno.test("tinker-cookbook: one row an iteration", async () => {
  const log = await readText(TINKER_TEXT);
  assertEquals(points(log, "optim/kl_sample_train_v1"), [[0, -0.001], [1, 0.002]]);
  assertEquals(points(log, "progress/batch"), [[0, 0], [1, 1]]);
  assertEquals(log.source.producer, "tinker");
});

Deno.test("W&B: the trainer's step counts, and rows without it follow the one before", async () => {
  const log = await readText(WANDB_TEXT);
  assertEquals(allPoints(log), {
    _step: [[10, 0], [20, 2]],
    _timestamp: [[10, 1700000000.5], [20, 1700000002.5]],
    _runtime: [[10, 1.5], [20, 3.5]],
    "train/loss": [[10, 0.5], [20, NaN]],
    "train/reward": [[10, 0.25], [20, 0.375]],
    "table/nrows": [[20, 4]],
    "eval/score": [[20, 0.125]],
  });
  assertEquals(ignoredOf(log), {
    "values that are text": 1,
    "values that a later one of the same step replaced": 3,
  });
});

Deno.test("W&B: _step counts where nothing better is there; slime's two counts are two axes", async () => {
  const plain = await readText(
    '{"_step":3,"_runtime":1,"a":0.5}\n{"_step":4,"_runtime":2,"a":1.5}\n',
  );
  assertEquals(points(plain, "a"), [[3, 0.5], [4, 1.5]]);
  const slime = await readText([
    '{"_step":0,"_runtime":1,"rollout/step":0,"rollout/raw_reward":0.5}',
    '{"_step":1,"_runtime":2,"train/step":0,"train/loss":1.5}',
    '{"_step":2,"_runtime":3,"train/step":1,"train/loss":2.5}',
    '{"_step":3,"_runtime":4,"rollout/step":1,"rollout/raw_reward":0.25,"train/step":2,"train/loss":3.5}',
    '{"_step":4,"_runtime":5,"eval/step":1,"eval/aime":0.125}',
  ].join("\n"));
  assertEquals(slime.axes, ["rollout", "step"]);
  assertEquals(points(slime, "rollout/raw_reward"), [[0, 0.5], [1, 0.25]]);
  assertEquals(points(slime, "train/loss"), [[0, 1.5], [1, 2.5], [2, 3.5]]);
  assertEquals(points(slime, "eval/aime"), [[1, 0.125]]);
});

Deno.test("any JSONL: nested numbers, and what is skipped is counted", async () => {
  const log = await readText(JSONL_TEXT);
  assertEquals(allPoints(log), {
    "stats/reward": [[1, 0.25], [2, 0.375]],
    "stats/kl": [[1, NaN], [2, 0.001]],
  });
  assertEquals(ignoredOf(log), {
    "lines that are not JSON objects": 1,
    "a half-written last line": 1,
    "values that are text": 2,
    "values that are true or false": 2,
    "values that are lists or nested too deeply": 1,
  });
  assertEquals(log.source.ignored[0].example, "warming up");
});

Deno.test("any JSONL: the step key is the user's, a known one, or the row", async () => {
  const text = '{"tick":5,"a":0.5}\n{"tick":7,"a":1.5}\n{"a":2.5}\n';
  const rows = await readText(text);
  assertEquals([rows.axes, points(rows, "a")], [["row"], [[1, 0.5], [2, 1.5], [3, 2.5]]]);
  const named = await readText(text, { stepKey: "tick" });
  assertEquals([named.axes, points(named, "a")], [["step"], [[5, 0.5], [7, 1.5]]]);
  assertEquals(ignoredOf(named), { "rows without tick": 1 });
  await assertRejects(
    () => readText(text, { stepKey: "tock" }),
    UserError,
    'none of its 3 rows has a number under "tock"',
  );
  for (const key of ["step", "global_step", "_step", "train/global_step", "iteration"]) {
    const known = await readText(`{"${key}":4,"a":1}\n{"${key}":"6","a":2}\n`);
    assertEquals(points(known, "a"), [[4, 1], [6, 2]], key);
  }
});

Deno.test("any JSONL: hostile keys and steps are keys and nothing else", async () => {
  const log = await readText(
    '{"step":1,"__proto__":{"polluted":1},"constructor":2,"a":1,"a":3}\n{"step":2,"a":6}\n{"step":null,"a":4}\n{"step":1e999,"a":5}\n',
  );
  assertEquals([...log.columns.keys()], ["__proto__/polluted", "constructor", "a"]);
  assertEquals(points(log, "a"), [[1, 3], [2, 6]]);
  assertEquals(ignoredOf(log), { "rows without step": 2 });
});

Deno.test("a form is known by its first row, even where that is longer than the head", async () => {
  const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`actor/metric_${i}`, i]));
  const row = (step: number) => `${JSON.stringify({ step, data: { ...data, x: null } })}\n`;
  assert(row(1).length > 2 * 65536);
  const log = await readText(row(1) + row(2));
  assertEquals([log.source.form, log.rows.count, log.columns.size], ["verl_jsonl", 2, 9001]);
  assertEquals(points(log, "actor/metric_8999"), [[1, 8999], [2, 8999]]);
});

Deno.test("any JSONL: rows of completions are not metrics", async () => {
  const dumps = [
    '{"step":1,"input":"a","output":"b","score":0.5}\n',
    '{"iteration":2,"traj_idx":0,"total_reward":0.5}\n{"iteration":2,"traj_idx":1,"total_reward":0.25}\n{"iteration":2,"traj_idx":2,"total_reward":0.75}\n',
    '{"step":0,"token_ids":[1,2],"advantages":[0.5,0.5]}\n',
  ];
  for (const text of dumps) {
    await assertRejects(() => readText(text), UserError, "JSON lines with the keys");
  }
});

Deno.test("a value that a later one of its step replaces is counted", async () => {
  const log = await readText(
    '{"step":1,"a":0.5,"b":1}\n{"step":1,"a":0.25,"c":1}\n{"step":2,"a":1}\n',
  );
  assertEquals(points(log, "a"), [[1, 0.25], [2, 1]]);
  assertEquals(log.source.ignored, [{
    what: "values that a later one of the same step replaced",
    count: 1,
    example: "a at 1",
  }]);
});

Deno.test("a bare JSON list is rows", async () => {
  const log = await readText(JSON_LIST_TEXT);
  assertEquals(allPoints(log), { score: [[1, 0.25], [2, NaN]], "a/b": [[2, 2]] });
});
