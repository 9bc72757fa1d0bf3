/** Logs as JSONL: what was written is read back as the same log, whatever form it came from. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { threefry, toUniform } from "../../src/core/rng.ts";
import { jsonlOf } from "../../src/logs/convert_rows.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { allPoints, readText } from "./read_text.ts";
import { TEXT_FIXTURES } from "./text_fixtures.ts";

const jsonl = (log: Parameters<typeof jsonlOf>[0]) => [...jsonlOf(log)].join("");

function logOf(rows: readonly (readonly [number, Record<string, number | null>, string?])[]) {
  const builder = new RunLogBuilder();
  builder.beginFile("file");
  rows.forEach(([step, values, axis], i) =>
    builder.add(step, { line: i + 1, ...(axis && { axis }) }, Object.entries(values))
  );
  return builder.finish({ path: "path", form: "form" });
}

Deno.test("jsonlOf() writes a row per step, and what JSON has no number for as text", () => {
  const log = logOf([
    [0, { loss: 1e-45, 'a"b': NaN, inf: Infinity }],
    [1, { loss: -0, inf: -Infinity, none: null }],
    [2.5, { loss: 1e21 }],
  ]);
  assertEquals(jsonl(log).split("\n"), [
    '{"step":0,"loss":1e-45,"a\\"b":"NaN","inf":"Infinity"}',
    '{"step":1,"loss":-0,"inf":"-Infinity","none":null}',
    '{"step":2.5,"loss":1e+21}',
    "",
  ]);
});

Deno.test("jsonlOf() keeps the rows that a restart overrules, so that it is found again", async () => {
  const log = logOf([
    [1, { loss: 1 }],
    [2, { loss: 2 }],
    [3, { loss: 3 }],
    [2, { loss: 20 }],
    [3, { loss: 30 }],
  ]);
  const again = await readText(jsonl(log));
  assertEquals(allPoints(again), { loss: [[1, 1], [2, 20], [3, 30]] });
  assertEquals(again.seams, log.seams);
});

Deno.test("jsonlOf() gives random logs back: late keys, gaps, restarts, values of every kind", async () => {
  let draws = 0;
  const uniform = () => toUniform(threefry([7, 0], [draws++, 0])[0]);
  const pick = (count: number) => Math.floor(uniform() * count);
  const values = [0, -0, 0.1, -1e-300, NaN, Infinity, -Infinity, null, 12345678901234567890];
  for (let trial = 0; trial < 200; trial++) {
    const rows: [number, Record<string, number | null>][] = [];
    let step = pick(3);
    for (let i = 0; i < 30; i++) {
      const keys = ["a", "b", "c/d", "e"].filter(() => uniform() < 0.7);
      rows.push([step, Object.fromEntries(keys.map((key) => [key, values[pick(values.length)]]))]);
      step = uniform() < 0.1 ? Math.max(0, step - pick(8)) : step + pick(3);
    }
    const log = logOf(rows);
    const again = await readText(jsonl(log));
    const sorted = (points: ReturnType<typeof allPoints>) => Object.entries(points).sort();
    assertEquals(sorted(allPoints(again)), sorted(allPoints(log)), `trial ${trial}`);
  }
});

Deno.test("jsonlOf() writes under a step key that no other key can be taken for", async () => {
  // verl's own key says the step once more; a key that counts something else stays.
  const same = logOf([[4, { "training/global_step": 4, loss: 1 }]]);
  assertEquals(jsonl(same), '{"step":4,"loss":1}\n');
  const rival = logOf([4, 5, 6].map((step) => [step, { global_step: 10 * step, loss: step }]));
  const again = await readText(jsonl(rival));
  assertEquals(allPoints(again), {
    global_step: [[4, 40], [5, 50], [6, 60]],
    loss: [[4, 4], [5, 5], [6, 6]],
  });
  const first = logOf([[4, { "train/global_step": 40 }]]);
  assertThrows(
    () => jsonl(first),
    UserError,
    "rename it with `map` train/global_step=NAME",
  );
});

Deno.test("jsonlOf() keeps two axes apart, and rows that have no step", async () => {
  const log = logOf([
    [0, { "rollout/reward": 1, "perf/x": 2 }, "rollout"],
    [0, { "train/loss": 3 }, "step"],
    [1, { "train/loss": 4 }, "step"],
    [1, { "rollout/reward": 5 }, "rollout"],
  ]);
  const again = await readText(jsonl(log));
  assertEquals(allPoints(again), allPoints(log));
  assertEquals(again.axes.toSorted(), ["rollout", "step"]);
  const counted = logOf([[1, { loss: 3 }, "row"], [2, { loss: 4 }, "row"]]);
  const text = jsonl(counted);
  assertEquals(text, '{"loss":3}\n{"loss":4}\n');
  assertEquals(allPoints(await readText(text)), allPoints(counted));
  const odd = logOf([[1, { a: 3 }, "row"], [2, { b: 4 }, "step"]]);
  assertThrows(() => jsonl(odd), UserError, "counted in row and step");
});

Deno.test("jsonlOf() needs memory for the values that there are, not for rows times keys", () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => [i, { [`k${i}`]: i }] as const);
  const startMs = performance.now();
  const text = jsonl(logOf(rows));
  assertEquals(text.split("\n").length, 30_001);
  assert(performance.now() - startMs < 20_000);
});

for (const [form, text] of TEXT_FIXTURES) {
  Deno.test(`jsonlOf() gives a log of the form ${form} back`, async () => {
    const log = await readText(text);
    const again = await readText(jsonl(log));
    // Keys that only repeat the step are left out.
    const expected = Object.entries(allPoints(log)).filter(([key]) => again.columns.has(key));
    assertEquals(Object.entries(allPoints(again)).toSorted(), expected.toSorted());
    for (const [key, points] of Object.entries(allPoints(log))) {
      assert(again.columns.has(key) || points.every(([step, value]) => step === value), key);
    }
    assertEquals(again.seams.length, log.seams.length);
  });
}
