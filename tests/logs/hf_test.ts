/** Tests of the readers of Hugging Face's Trainer: trainer_state.ts, hf_console.ts, swift_jsonl.ts. */
import { assertEquals } from "@std/assert";
import { placeOf, seriesOf } from "../../src/logs/run_log.ts";
import { allPoints, ignoredOf, points, readText } from "./read_text.ts";
import {
  HF_CONSOLE_TEXT,
  HF_STRINGS_TEXT,
  SWIFT_TEXT,
  TRAINER_STATE_TEXT,
} from "./text_fixtures.ts";

const STATE_POINTS: ReturnType<typeof allPoints> = {
  "completions/mean_length": [[10, 201.4]],
  entropy: [[10, 0.41]],
  epoch: [[10, 0.1], [20, 0.2], [30, 0.3]],
  grad_norm: [[10, 0.12], [20, NaN]],
  kl: [[10, null]],
  learning_rate: [[10, 9.9e-7], [20, 8.8e-7]],
  loss: [[10, 0.0001], [20, -0], [30, 0.0003]],
  reward: [[10, 0.44], [20, 0.5], [30, 0.625]],
  "rewards/tests_pass/mean": [[10, 0.44]],
  "val/ratio_var": [[20, Infinity]],
  eval_loss: [[20, 0.25]],
  eval_reward: [[20, 0.375]],
  eval_runtime: [[20, 12.5]],
  total_flos: [[30, 0]],
  train_loss: [[30, 0.0002]],
  train_runtime: [[30, 81.5]],
};

Deno.test("trainer_state.json: train, eval and summary rows of a step are one row", async () => {
  const log = await readText(TRAINER_STATE_TEXT);
  assertEquals(allPoints(log), STATE_POINTS);
  assertEquals(log.settings, { plannedSteps: 2000, loggingSteps: 10 });
  assertEquals([...log.rows.steps], [10, 20, 30]);
  assertEquals(log.seams, []);
  assertEquals(placeOf(log, 1), "log:20");
  assertEquals(ignoredOf(log), { "values that are lists or nested too deeply": 1 });
});

Deno.test("trainer_state.json: one line, other order of keys, and a bare list are the same rows", async () => {
  const rows = /"log_history": (\[[\s\S]*?\n {2}\]),\n {2}"logging/.exec(TRAINER_STATE_TEXT)?.[1] ??
    "";
  const settings = '"max_steps":2000,"logging_steps":10,"num_train_epochs":-1';
  for (
    const text of [
      `{${settings},"log_history":${rows.replaceAll(/\n\s*/g, "")}}`,
      `\ufeff{"log_history" :\r\n${rows}  , ${settings}}\r\n`,
      rows,
    ]
  ) {
    const log = await readText(text);
    assertEquals(log.source.form, "trainer_state");
    assertEquals(allPoints(log), STATE_POINTS);
    assertEquals(log.settings, text === rows ? {} : { plannedSteps: 2000, loggingSteps: 10 });
  }
});

Deno.test("trainer_state.json: rows without steps are counted", async () => {
  const text = '[{"loss":0.5,"epoch":1},{"loss":0.25,"epoch":2},{"train_runtime":9.5,"epoch":2}]';
  const log = await readText(text);
  assertEquals(log.axes, ["row"]);
  assertEquals(points(log, "loss"), [[1, 0.5], [2, 0.25]]);
  assertEquals(points(log, "train_runtime"), [[2, 9.5]]);
  const told = await readText(text, { settings: { loggingSteps: 5 } });
  assertEquals([told.axes, points(told, "loss")], [["step"], [[5, 0.5], [10, 0.25]]]);
});

Deno.test("console: evaluations before the first row, and alone", async () => {
  const evaluation = (loss: number) => `{'eval_loss': ${loss}, 'epoch': 0.0}\n`;
  const row = (loss: number) => `{'loss': ${loss}, 'epoch': 1.0}\n`;
  const log = await readText(evaluation(0.5) + row(1) + evaluation(0.25) + row(2));
  assertEquals(log.axes, ["row"]);
  assertEquals(points(log, "eval_loss"), [[0, 0.5], [1, 0.25]]);
  assertEquals(points(log, "loss"), [[1, 1], [2, 2]]);
  const alone = await readText(evaluation(0.5) + evaluation(0.25));
  assertEquals(points(alone, "eval_loss"), [[1, 0.5], [2, 0.25]]);
});

Deno.test("console of ms-swift: dicts that tell their step", async () => {
  const log = await readText(
    "Train:   0%|          | 1/3766 [00:15<8:20:03, 15.0s/it]\r" +
      "{'loss': '0.5', 'reward': '0.25', 'global_step/max_steps': '1/3766', 'percentage': '0.03%'}\n" +
      "{'loss': '0.25', 'reward': '0.5', 'global_step/max_steps': '5/3766', 'percentage': '0.13%'}\n" +
      "{'train_runtime': '64.5', 'train_loss': '0.375'}\n",
  );
  assertEquals(points(log, "loss"), [[1, 0.5], [5, 0.25]]);
  assertEquals(points(log, "train_runtime"), [[5, 64.5]]);
  assertEquals(log.settings, { plannedSteps: 3766 });
});

Deno.test("trainer_state.json: shares of steps and -1 are not settings", async () => {
  const log = await readText('{"log_history":[],"logging_steps":0.05,"max_steps":-1}');
  assertEquals([log.settings, log.rows.count], [{}, 0]);
});

Deno.test("trainer_state.json: a cut-off file gives its whole rows", async () => {
  const cut = TRAINER_STATE_TEXT.slice(0, TRAINER_STATE_TEXT.indexOf('"reward": 0.625') + 15);
  const log = await readText(cut);
  assertEquals(points(log, "reward"), [[10, 0.44], [20, 0.5]]);
  assertEquals(ignoredOf(log), { "a document that the end of the file truncates": 1 });
});

Deno.test("console: steps come from the training's bar, not from others", async () => {
  const log = await readText(HF_CONSOLE_TEXT);
  assertEquals(allPoints(log), {
    loss: [[10, 0], [20, 0.0012], [30, -0.0004]],
    grad_norm: [[10, 0.0925], [20, NaN], [30, 0.5]],
    learning_rate: [[10, 9e-7], [20, 8e-7], [30, 7e-7]],
    reward: [[10, 0.25], [20, 0.5], [30, 0.625]],
    epoch: [[10, 0.1], [20, 0.2], [30, 0.4]],
    eval_loss: [[20, 0.125]],
    eval_reward: [[20, 0.75]],
    train_runtime: [[30, 64.5]],
    train_loss: [[30, 0.0003]],
  });
  assertEquals(log.axes, ["step"]);
  assertEquals(log.settings, { plannedSteps: 40 });
});

Deno.test("console: texts of transformers 5 are numbers of four digits", async () => {
  const log = await readText(HF_STRINGS_TEXT);
  assertEquals(allPoints(log), {
    loss: [[1, 0], [2, -1.5e-5]],
    grad_norm: [[1, 0.1234], [2, NaN]],
    num_tokens: [[1, 12440], [2, 24880]],
    reward: [[1, 1], [2, 0.9996]],
    epoch: [[1, 0.1], [2, 0.2]],
  });
  assertEquals(seriesOf(log, "reward")?.rounding, { digits: 4 });
  assertEquals(seriesOf(log, "loss")?.rounding, { digits: 4 });
});

Deno.test("console: rows without bars between them are counted, by logging_steps where it is told", async () => {
  const rows = [0.25, 0.5, 0.75].map((loss) => `{'loss': ${loss}, 'epoch': 1.0}\n`).join("");
  const summary = "{'train_runtime': 5.5, 'epoch': 1.0}\n";
  const block = `100%|████| 30/30 [00:15<00:00,  1.5s/it]\n${rows}${summary}`;
  for (const text of [rows + summary, block]) {
    const log = await readText(text);
    assertEquals(log.axes, ["row"]);
    assertEquals(points(log, "loss"), [[1, 0.25], [2, 0.5], [3, 0.75]]);
    assertEquals(points(log, "train_runtime"), [[3, 5.5]]);
    const told = await readText(text, { settings: { loggingSteps: 10 } });
    assertEquals(told.axes, ["step"]);
    assertEquals(points(told, "loss"), [[10, 0.25], [20, 0.5], [30, 0.75]]);
  }
});

Deno.test("console: a row whose bar was not drawn follows at the distance of the others", async () => {
  const bar = (step: number) => ` ${step}%|█ | ${step}/100 [00:15<00:46,  1.5s/it]\r`;
  const row = (loss: number) => `{'loss': ${loss}, 'epoch': 1.0}\n`;
  const log = await readText(
    bar(5) + row(1) + bar(10) + row(2) + row(3) + bar(20) + row(4) + bar(10) + row(5),
  );
  assertEquals(points(log, "loss"), [[5, 1], [10, 5]]);
  assertEquals(log.seams, [{ axis: 0, row: 4, lastStep: 20, nextStep: 10 }]);
  assertEquals([...log.rows.steps], [5, 10, 15, 20, 10]);
});

Deno.test("console: a bar that is drawn again after a row is not a step of the next", async () => {
  const bar = (step: number) => `\r ${step}%|█ | ${step}/100 [00:15<00:46,  1.5s/it]`;
  const row = (loss: number) => `\r      \r{'loss': ${loss}, 'epoch': 1.0}\n`;
  const log = await readText(
    [5, 10].map((step) => bar(step) + row(step) + bar(step)).join("") + row(15) + bar(15) +
      bar(20) +
      row(20) + bar(20),
  );
  assertEquals(points(log, "loss"), [[5, 5], [10, 10], [15, 15], [20, 20]]);
});

Deno.test("console: an evaluation right after the first row stays at its step", async () => {
  const log = await readText(
    " 10%|█ | 4/40 [00:15<00:46]\r{'loss': 1.5, 'epoch': 0.1}\n{'eval_loss': 0.5, 'epoch': 0.1}\n" +
      " 20%|█ | 8/40 [00:15<00:46]\r{'loss': 2.5, 'epoch': 0.2}\n",
  );
  assertEquals(points(log, "loss"), [[4, 1.5], [8, 2.5]]);
  assertEquals(points(log, "eval_loss"), [[4, 0.5]]);
});

Deno.test("console: dicts of other programs are not rows", async () => {
  const log = await readText(
    `{'loss': 1.5, 'epoch': 0.1, 'step': 3}
config = {'model': 'a', 'reward': {'scale': 2}, 'lr': 0.1}
{
  "vocab_size": 151936,
  "eval_batch": 4
}
{'loss': 2.5, 'epoch': 0.2, 'step': 4}
{'loss': 3.5, 'epoch':`,
  );
  assertEquals(allPoints(log), { loss: [[3, 1.5], [4, 2.5]], epoch: [[3, 0.1], [4, 0.2]] });
  assertEquals(ignoredOf(log), { "a dict that the end of the file truncates": 1 });
});

Deno.test("console: several dicts and bars may stand on one line", async () => {
  const log = await readText(
    "Train:   5%|▌  | 2/40 [00:15<00:46]{'loss': 1.5, 'epoch': 0.1} 10%|█ | 4/40 [00:30<00:46]{'loss': 2.5, 'epoch': 0.2}{'eval_loss': 3.5, 'epoch': 0.2}\n",
  );
  assertEquals(points(log, "loss"), [[2, 1.5], [4, 2.5]]);
  assertEquals(points(log, "eval_loss"), [[4, 3.5]]);
});

Deno.test("trainer_state.json: what json.dump writes is read back value for value", async () => {
  let seed = 11;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const expected: ReturnType<typeof allPoints> = {};
  const rows: string[] = [];
  for (let step = 5; step <= 1000; step += 5) {
    const cells = [`"step": ${step}`];
    for (let k = 0; k < 6; k++) {
      const value = (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
      const kind = Math.floor(random() * 20);
      const key = `rewards/f_${k}, "quoted" {${k}]/mean`;
      if (kind === 0) continue;
      const special = [["NaN", NaN], ["-Infinity", -Infinity], ["null", null]] as const;
      const [text, number] = special[kind - 1] ?? [String(value), value];
      cells.push(`${JSON.stringify(key)}: ${text}`);
      (expected[key] ??= []).push([step, number]);
    }
    rows.push(`{${cells.sort().join(",\n")}}`);
  }
  for (const separator of [",", ",\n  "]) {
    const log = await readText(`{"log_history": [${rows.join(separator)}], "max_steps": 1000}`);
    const found = allPoints(log);
    assertEquals(Object.keys(found).sort(), Object.keys(expected).sort());
    for (const key of Object.keys(expected)) assertEquals(found[key], expected[key]);
  }
});

Deno.test("logging.jsonl of ms-swift: the step stands before the slash", async () => {
  const log = await readText(SWIFT_TEXT);
  assertEquals(allPoints(log), {
    loss: [[1, 0], [5, 1.5e-7]],
    reward: [[1, 0.125], [5, 0.25]],
    reward_std: [[1, 0.21650635], [5, 0]],
    "memory(GiB)": [[1, 31.5], [5, 31.5]],
    train_runtime: [[5, 64.5]],
    train_loss: [[5, 0.0003]],
  });
  assertEquals(log.settings, { plannedSteps: 4389 });
  assertEquals(ignoredOf(log), { "values that are text": 4 });
});
