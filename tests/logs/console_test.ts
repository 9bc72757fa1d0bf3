/** Tests of the consoles of prime-rl, OpenRLHF, slime, SkyRL and NeMo-RL. */
import { assertEquals } from "@std/assert";
import { placeOf, seriesOf } from "../../src/logs/run_log.ts";
import { allPoints, ignoredOf, points, readText } from "./read_text.ts";
import {
  NEMO_TEXT,
  OPENRLHF_TEXT,
  PRIME_COLON_TEXT,
  PRIME_CONSOLE_TEXT,
  SKYRL_TEXT,
  SLIME_TEXT,
} from "./text_fixtures.ts";

Deno.test("prime-rl: names, numbers and units between pipes", async () => {
  const log = await readText(PRIME_CONSOLE_TEXT);
  assertEquals(allPoints(log), {
    Time: [[0, 8.4], [1, 10]],
    Loss: [[0, 0.0123], [1, NaN]],
    Entropy: [[0, 0.41], [1, 0.5]],
    "Mismatch KL": [[0, 0.0007], [1, 0.001]],
    "Grad. Norm": [[0, 0.21], [1, 0]],
    LR: [[0, 1e-6], [1, 1e-6]],
    Throughput: [[0, 1234], [1, 1200]],
    MFU: [[0, 12.5], [1, 12]],
    "Peak Mem.": [[0, 20.1], [1, 20.1]],
  });
  assertEquals(log.source.producer, "prime_rl");
  assertEquals(seriesOf(log, "Mismatch KL")?.rounding, { decimals: 4 });
});

Deno.test("prime-rl before 2026: names end in a colon; trainer and orchestrator print steps", async () => {
  const log = await readText(PRIME_COLON_TEXT);
  assertEquals(allPoints(log), {
    Time: [[0, 12.25]],
    Loss: [[0, 0.0019]],
    Entropy: [[0, 0.25]],
    "Mismatch KL": [[0, -0.0001]],
    "Grad. Norm": [[0, 0.5]],
    Reward: [[0, 0.375]],
    "Seq. Length": [[0, 512.5]],
    "Max. Off-Policy Level": [[0, 1]],
  });
});

Deno.test("OpenRLHF: a dict behind its global step", async () => {
  const log = await readText(OPENRLHF_TEXT);
  assertEquals(allPoints(log), {
    policy_loss: [[1, -0.015625], [2, 0.5]],
    actor_lr: [[1, 5e-7], [2, 5e-7]],
    reward: [[1, 0.25], [2, 0.375]],
    kl: [[1, 0], [2, NaN]],
  });
  assertEquals(ignoredOf(log), { "values that are lists or nested too deeply": 1 });
});

Deno.test("slime: optimizer steps and rollouts are two axes", async () => {
  const log = await readText(SLIME_TEXT);
  assertEquals(log.axes, ["rollout", "step"]);
  assertEquals(allPoints(log), {
    "rollout/raw_reward": [[0, 0.25], [1, 0.375]],
    "rollout/zero_std/count_0.0": [[0, 3]],
    "perf/rollout_time": [[0, 12.5]],
    "train/loss": [[0, 0.5], [1, 0.25], [2, NaN]],
    "train/ppo_kl": [[0, 0], [1, 0.001], [2, 0.002]],
    "eval/aime": [[1, 0.125]],
  });
  assertEquals([seriesOf(log, "eval/aime")?.axis, seriesOf(log, "train/loss")?.axis], [0, 1]);
  assertEquals(log.seams, []);
});

Deno.test("slime: a restart sets each axis back on its own", async () => {
  const again = SLIME_TEXT.split("\n").filter((line) => /(?:rollout 1|step 2): /.test(line));
  const log = await readText(`${SLIME_TEXT}${again.join("\n").replaceAll("0.375", "0.5")}\n`);
  assertEquals(log.seams, []); // The last step of each is written again, which sets nothing back.
  assertEquals(points(log, "rollout/raw_reward"), [[0, 0.25], [1, 0.5]]);
  const earlier = await readText(`${SLIME_TEXT}step 1: {'train/loss': 9.5}\n`);
  assertEquals(earlier.seams.map(({ axis, nextStep }) => [axis, nextStep]), [[1, 1]]);
  assertEquals(points(earlier, "train/loss"), [[0, 0.5], [1, 9.5]]);
  assertEquals(points(earlier, "rollout/raw_reward"), [[0, 0.25], [1, 0.375]]);
});

Deno.test("SkyRL: a dict of texts over many lines, with other processes between them", async () => {
  const log = await readText(SKYRL_TEXT);
  assertEquals(allPoints(log), {
    "generate/avg_num_tokens": [[1, 312.5], [2, 300]],
    "policy/final_loss": [[1, -0.0125], [2, NaN]],
    "reward/avg_raw_reward": [[1, 0.25], [2, 0.375]],
  });
  assertEquals(seriesOf(log, "policy/final_loss")?.rounding, { decimals: 4 });
  assertEquals(placeOf(log, 0), "log:2");
});

Deno.test("NeMo-RL: bullets below the step", async () => {
  const log = await readText(NEMO_TEXT);
  assertEquals(allPoints(log), {
    Loss: [[1, 0.0123], [2, NaN]],
    "Generation KL Error": [[1, 0.0004]],
    "Avg Reward": [[1, 0.25], [2, 0.375]],
    "Mean Generation Length": [[1, 312.5]],
    "Total step time": [[1, 12.34]],
    policy_training: [[1, 5.12]],
  });
  assertEquals(log.settings, { plannedSteps: 100 });
  assertEquals(ignoredOf(log), { "bullets without a number": 1 });
});
