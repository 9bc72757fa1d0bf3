/** Tests of the readers of verl: verl_console.ts and verl_jsonl.ts. */
import { assertEquals } from "@std/assert";
import { placeOf, seriesOf } from "../../src/logs/run_log.ts";
import { allPoints, ignoredOf, points, readText } from "./read_text.ts";
import { VERL_JSONL_TEXT, VERL_NUMPY_TEXT, VERL_TEXT } from "./text_fixtures.ts";

Deno.test("console: steps follow prefixes and colours, and may be wrapped", async () => {
  const log = await readText(VERL_TEXT);
  assertEquals(allPoints(log), {
    "val-core/gsm8k/acc/mean@1": [[0, 0.125]],
    "global_seqlen/min": [[0, 512], [1, 514]],
    "actor/ppo_kl": [[0, -0], [1, NaN], [2, 0.001]],
    "actor/lr": [[0, 1e-6], [1, 2e-6], [2, 3e-6]],
    "critic/score/mean": [[0, 0.25], [1, 0.375], [2, 0.5]],
    "val-aux/my data: set/acc": [[1, Infinity]],
  });
  assertEquals([log.source.producer, log.rows.count], ["verl", 3]);
  assertEquals(ignoredOf(log), { "values that are not numbers": 1 });
  assertEquals(placeOf(log, 1), "log:5");
});

Deno.test("console: three decimals can be told from exact numbers", async () => {
  const log = await readText(VERL_TEXT);
  assertEquals(seriesOf(log, "actor/ppo_kl")?.rounding, { decimals: 3 });
  assertEquals(seriesOf(log, "critic/score/mean")?.rounding, { decimals: 3 });
  assertEquals(seriesOf(log, "actor/lr")?.rounding, { decimals: 7 });
  const exact = await readText(VERL_NUMPY_TEXT);
  assertEquals(seriesOf(exact, "critic/score/mean")?.rounding, undefined);
  assertEquals(seriesOf(exact, "actor/entropy")?.rounding, undefined);
});

Deno.test("console: np.float64, a restart, and a last number that may be cut", async () => {
  const log = await readText(VERL_NUMPY_TEXT);
  assertEquals(allPoints(log), {
    "critic/score/mean": [[1, 0.10000000149011612], [2, 0.625], [3, 0]],
    "actor/entropy": [[1, 0.5], [2, 1e-5], [3, 0.0625]],
  });
  assertEquals(log.seams, [{ axis: 0, row: 3, lastStep: 3, nextStep: 2 }]);
  assertEquals(ignoredOf(log), { "a number that may be cut off by the end of the file": 1 });
  const ended = await readText(`${VERL_NUMPY_TEXT}\n`);
  assertEquals(points(ended, "timing_s/gen"), [[3, 12.5]]);
});

Deno.test("console: a step may be wrapped after its dashes, and ends at a line of its own process", async () => {
  const log = await readText(
    "(a pid=1) step:1 - x:1 -\n(a pid=1) y:2 - z:3\n(a pid=1) - settings: 4\n(a pid=1) - w:5\n",
  );
  assertEquals(allPoints(log), { x: [[1, 1]], y: [[1, 2]], z: [[1, 3]] });
});

Deno.test("file logger: null is a NaN that JSON cannot hold", async () => {
  const log = await readText(VERL_JSONL_TEXT);
  assertEquals(allPoints(log), {
    "val-core/gsm8k/acc/mean@1": [[0, 0.125]],
    "actor/pg_loss": [[1, -0.01], [2, -0.02]],
    "actor/grad_norm": [[1, NaN], [2, 0.5]],
    "critic/score/mean": [[1, 0.25], [2, 0.375]],
  });
  assertEquals(log.source.producer, "verl");
});

Deno.test("console: what a writer prints is read back value for value", async () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const special = [NaN, Infinity, -Infinity, -0, 1e-300, 5e-324, 1.7976931348623157e308];
  const names = ["nan", "inf", "-inf"];
  const expected: Record<string, (readonly [number, number])[]> = {};
  let text = "";
  for (let step = 1; step <= 200; step++) {
    text += `(TaskRunner pid=1) step:${step}`;
    for (let k = 0; k < 8; k++) {
      const key = `part ${k}/mean@${k}`;
      const value = random() < 0.1
        ? special[Math.floor(random() * special.length)]
        : (random() - 0.5) * 10 ** Math.floor(random() * 20 - 10);
      const repr = Object.is(value, -0)
        ? "-0.0"
        : Number.isFinite(value)
        ? String(value)
        : names[Number.isNaN(value) ? 0 : value > 0 ? 1 : 2];
      const wrap = k > 0 && random() < 0.1 ? "\n(TaskRunner pid=1) " : "";
      text += `${wrap} - ${key}:${random() < 0.3 ? `np.float64(${repr})` : repr}`;
      (expected[key] ??= []).push([step, value]);
    }
    text += random() < 0.2 ? " [repeated 2x across cluster]\n(Other pid=2) x\n" : "\n";
  }
  assertEquals(allPoints(await readText(text)), expected);
});
