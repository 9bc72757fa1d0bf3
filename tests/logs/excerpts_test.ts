/** Logs as they are in issues and READMEs: fragments with cut ends, lines that a paste has broken, dicts that were shortened. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { ignoredOf, points, readText } from "./read_text.ts";

Deno.test("console of the Trainer: the last dict gives its whole fields where the end is cut off", async () => {
  const log = await readText(
    "```\n{'loss': 0.5, 'grad_norm': 0.25, 'reward': 0.125, 'epoch': 0.31}\n" +
      "{'loss': 0.25, 'grad_norm': 0.5, 'reward': 0.37",
  );
  assertEquals(points(log, "grad_norm"), [[1, 0.25], [2, 0.5]]);
  assertEquals(points(log, "reward"), [[1, 0.125]]);
  assertEquals(ignoredOf(log), { "a dict that the end of the file truncates": 1 });
});

Deno.test("console of the Trainer: a cut dict is skipped where rows tell their steps", async () => {
  const log = await readText(
    "{'loss': 0.5, 'reward': 0.25, 'global_step/max_steps': '10/90'}\n{'loss': 0.25, 'reward': 0.5, ",
  );
  assertEquals(points(log, "reward"), [[10, 0.25]]);
});

Deno.test("console of the Trainer: the first dict gives what follows the cut", async () => {
  const log = await readText(
    "ngth': 40.5, 'reward': 0.25, 'reward_std': 0.5, 'epoch': 0.2}\n" +
      "{'loss': 0.5, 'reward': 0.375, 'reward_std': 0.25, 'epoch': 0.3}\n",
  );
  assertEquals(points(log, "reward"), [[1, 0.25], [2, 0.375]]);
});

Deno.test("console of the Trainer: an excerpt without loss and epoch, and with an ellipsis, is rows", async () => {
  const log = await readText(
    "### Step 90\n{'reward': 0.5, 'reward_std': 0.0,\n 'rewards/tests_pass/mean': 0.5, ...}\n\nSteps = 3\n" +
      "### Step 120\n{'reward': 0.75, …, 'reward_std': 0.25}\n",
  );
  assertEquals(points(log, "reward"), [[1, 0.5], [2, 0.75]]);
  assertEquals(points(log, "reward_std"), [[1, 0], [2, 0.25]]);
});

Deno.test("console of the Trainer: PPO has no key of the other trainers but the epoch", async () => {
  const log = await readText(
    "{'eps': 2, 'objective/kl': 3.5, 'objective/scores': 0.25, 'val/ratio': 1.0, 'lr': 2e-06, 'epoch': 0.1}\n" +
      "{'eps': 2, 'objective/kl': 4.5, 'objective/scores': 0.5, 'val/ratio': 0.98, 'lr': 1e-06, 'epoch': 0.2}\n",
  );
  assertEquals(log.source.form, "hf_console");
  assertEquals(points(log, "objective/kl"), [[1, 3.5], [2, 4.5]]);
});

Deno.test("console of the Trainer: an evaluation that names its metrics as in training is not training", async () => {
  const log = await readText(
    "{'loss': 0.5, 'reward': 0.25, 'num_tokens': 64.0, 'epoch': 0.1}\n" +
      "{'eval_loss': 0.125, 'reward': 0.75, 'completions/mean_length': 30.5, 'num_tokens': 64.0, 'epoch': 0.1}\n",
  );
  assertEquals(points(log, "reward"), [[1, 0.25]]);
  assertEquals(points(log, "eval_reward"), [[1, 0.75]]);
  assertEquals(points(log, "eval_completions/mean_length"), [[1, 30.5]]);
  assertEquals(points(log, "num_tokens"), [[1, 64]]);
});

Deno.test("console of the Trainer: the bar of a narrow terminal is its counter alone", async () => {
  const row = (value: number) => `{'loss': ${value}, 'reward': 0.5, 'epoch': 0.1}\n`;
  const log = await readText(
    ` 16% 15/96 [22:02<1:36:54, 71.79s/it]\n${row(0.5)} 17% 16/96 [23:02<1:36:54, 71.8s/it]\n${
      row(0.25)
    }`,
  );
  assertEquals(points(log, "loss"), [[15, 0.5], [16, 0.25]]);
  assertEquals(log.settings, { plannedSteps: 96 });
});

Deno.test("console of verl: the fields may begin on the line behind the step, which alone names the process", async () => {
  const log = await readText(
    "(TaskRunner pid=9, ip=10.0.0.1) step:3\n - actor/entropy:0.25\n - actor/lr:1e-06\n - critic/score/mean:0.5\n",
  );
  assertEquals(points(log, "actor/entropy"), [[3, 0.25]]);
  assertEquals(points(log, "critic/score/mean"), [[3, 0.5]]);
});

Deno.test("console of verl: a paste may break a line in a key and in a number", async () => {
  const log = await readText(
    "(main_task pid=9) step:3 - actor/entropy:0.25 - critic\n/score/mean:0.5 - actor/grad_norm:0.12\n5 - actor/lr:1e-06\n",
  );
  assertEquals(points(log, "critic/score/mean"), [[3, 0.5]]);
  assertEquals(points(log, "actor/grad_norm"), [[3, 0.125]]);
  assertEquals(points(log, "actor/lr"), [[3, 1e-6]]);
  assertEquals(ignoredOf(log), {});
});

Deno.test("console of verl: another program's line is not a rest of a field", async () => {
  const log = await readText(
    "(main_task pid=9) step:3 - actor/entropy:0.25 - critic/score/mean:0.5\n7 workers - ready:1\n/data - x:2\n",
  );
  assertEquals(points(log, "critic/score/mean"), [[3, 0.5]]);
  assertEquals([...log.columns.keys()], ["actor/entropy", "critic/score/mean"]);
});

const HTML_TABLE = `# A notebook, exported

    <div>
      [2/2 00:10, Epoch 1/1]
    </div>
    <table border="1" class="dataframe">
  <thead>
 <tr style="text-align: left;">
      <th>Step</th>
      <th>Training Loss</th>
      <th>rewards / tests_pass / mean</th>
      <th>kl</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <td>10</td>
      <td>0.000300</td>
      <td>0.250000</td>
      <td>No Log</td>
    </tr>
    <tr>
      <td>20</td>
      <td>-0.010000</td>
      <td>0.500000</td>
      <td>0.125000</td>
    </tr>
  </tbody>
</table><p>
`;

Deno.test("a notebook that was exported to Markdown or HTML has its table of steps", async () => {
  const page = `<!DOCTYPE html>\n<html><style>${" ".repeat(70_000)}</style>\n${HTML_TABLE}</html>`;
  for (const text of [HTML_TABLE, page]) {
    const log = await readText(text);
    assertEquals(log.source.form, "html_tables");
    assertEquals(points(log, "loss"), [[10, 0.0003], [20, -0.01]]);
    assertEquals(points(log, "rewards/tests_pass/mean"), [[10, 0.25], [20, 0.5]]);
    assertEquals(points(log, "kl"), [[10, null], [20, 0.125]]);
  }
});

Deno.test("an HTML table that is cut off gives its whole rows, and a page without one is not a log", async () => {
  for (let length = HTML_TABLE.indexOf("<td>20"); length < HTML_TABLE.length; length++) {
    const log = await readText(HTML_TABLE.slice(0, length));
    const own = points(log, "rewards/tests_pass/mean");
    assertEquals(own, own.length === 1 ? [[10, 0.25]] : [[10, 0.25], [20, 0.5]]);
  }
  const error = await assertRejects(() => readText("<html><body><p>Step 1</p></body></html>"));
  assert(error instanceof UserError, `${error}`);
});

Deno.test("console of NeMo-RL: results without a step before them are counted", async () => {
  const block = (reward: number) =>
    `📊 Training Results:\n  • Loss: 0.0100\n  • Avg Reward: ${reward}\n\n⏱️  Timing:\n  • Total step time: 3.50s\n`;
  const log = await readText(block(0.25) + block(0.5));
  assertEquals(log.axes, ["row"]);
  assertEquals(points(log, "Avg Reward"), [[1, 0.25], [2, 0.5]]);
  const named = await readText(
    `===== Step 7/9 =====\n${block(0.25)}===== Step 8/9 =====\n${block(0.5)}`,
  );
  assertEquals(points(named, "Avg Reward"), [[7, 0.25], [8, 0.5]]);
  assertEquals(points(named, "Total step time"), [[7, 3.5], [8, 3.5]]);
});

Deno.test("objects of metrics over several lines and without a label are rows, settings are not", async () => {
  const object = (loss: number) =>
    `{\n  'train/loss': ${loss},\n  'train/grad_norm': 0.5,\n  'time/step': 3.5\n}\n`;
  const reward =
    "{\n  'rollout/raw_reward': 0.25,\n  'rollout/length': 80.5,\n  'rollout/cut': 0\n}\n";
  const log = await readText(`# Results\n\`\`\`\n${object(0.25)}\`\`\`\n${reward}${object(0.125)}`);
  assertEquals(log.source.form, "metric_objects");
  assertEquals(log.axes, ["row"]);
  assertEquals(points(log, "train/loss"), [[1, 0.25], [2, 0.125]]);
  assertEquals(points(log, "rollout/raw_reward"), [[1, 0.25]]);
  assertEquals(points(log, "time/step"), [[1, 3.5], [2, 3.5]]);
  const told = await readText(
    '{\n "step": 7,\n "env/all/reward": 0.5,\n "env/all/turns": 2,\n "optim/lr": 1e-5\n}\n',
  );
  assertEquals(points(told, "env/all/reward"), [[7, 0.5]]);
  const settings = '{\n "optim": {"lr": 0.1, "beta": 0.9},\n "size": 4,\n "a/b": 1\n}\n';
  const error = await assertRejects(() => readText(settings));
  assert(error instanceof UserError, `${error}`);
});
