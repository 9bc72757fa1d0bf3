/** Tests of src/diagnose/metric_series.ts: which rows are metrics, and which are refused. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { metricSeries } from "../../src/diagnose/metric_series.ts";

Deno.test("metricSeries() takes any subset of the metrics and refuses what is not a number", () => {
  const take = (rows: readonly Readonly<Record<string, unknown>>[]) =>
    metricSeries(rows, { names: ["reward", "entropy"], source: "a.jsonl" });
  const { series, lastStep, rowCount } = take([
    { reward: 0, note: "x" },
    { reward: 1, entropy: 0.5 },
    { entropy: 0.25 },
  ]);
  assertEquals([lastStep, rowCount], [2, 3]);
  assertEquals(series.get("entropy"), { steps: [1, 2], values: [0.5, 0.25] });
  const refused: readonly (readonly [readonly Record<string, unknown>[], RegExp])[] = [
    [[], /a\.jsonl: it holds no row/],
    [[{ loss: 1 }], /none of the metrics reward, entropy/],
    [
      [{ reward: "0.5" }],
      /a\.jsonl, row 1: reward is "0\.5", but must|a metric must be a finite number/,
    ],
    [[{ reward: 1 }, { reward: null }], /row 2: reward is null, which stands for NaN or infinity/],
    [[{ step: 1.5, reward: 1 }], /step is 1\.5/],
    [[{ step: 3, reward: 1 }, { step: 3, reward: 1 }], /step 3 follows step 3/],
  ];
  for (const [rows, sentence] of refused) {
    const error = assertThrows(() => take(rows), UserError);
    assert(sentence.test(error.message), error.message);
  }
});
