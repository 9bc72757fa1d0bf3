/** Tests of src/logs/run_log.ts, run_log_builder.ts and written_digits.ts. */
import { assert, assertEquals } from "@std/assert";
import { placeOf, roundingErrorOf, type RunLog, seriesOf } from "../../src/logs/run_log.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";

const finish = (builder: RunLogBuilder): RunLog => builder.finish({ path: "p", form: "f" });

function pointsOf(log: RunLog, key: string): (readonly [number, number])[] {
  const series = seriesOf(log, key);
  assert(series, key);
  return Array.from(series.steps, (step, i) => [step, series.values[i]] as const);
}

Deno.test("add() merges the rows of one step, and the later value of a key stands", () => {
  const builder = new RunLogBuilder();
  builder.beginFile("a.jsonl");
  builder.add(1, { line: 1 }, [["loss", 0.5], ["epoch", 0.1]]);
  builder.add(1, { line: 2 }, [["eval_loss", 0.7], ["epoch", 0.2]]);
  builder.add(2, { line: 3 }, [["loss", 0.4], ["loss", 0.3]]);
  const log = finish(builder);
  assertEquals(log.rows.count, 2);
  assertEquals([...log.rows.lines], [1, 3]);
  assertEquals(placeOf(log, 1), "a.jsonl:3");
  assertEquals(pointsOf(log, "loss"), [[1, 0.5], [2, 0.3]]);
  assertEquals(pointsOf(log, "epoch"), [[1, 0.2]]);
  assertEquals(log.seams, []);
  assertEquals(log.axes, ["step"]);
});

Deno.test("add() takes a late row of a writer that lags as a part of its step", () => {
  const builder = new RunLogBuilder();
  for (const step of [1, 2, 3]) {
    builder.add(step, { line: step }, [["trainer", step], ["lr", 1], ["time", 100 + step]]);
  }
  builder.add(2, { line: 4 }, [["orchestrator", 20], ["reward", 0.2], ["time", 104]]);
  builder.add(1, { line: 5 }, [["late", 7]]);
  const log = finish(builder);
  assertEquals(log.seams, []);
  assertEquals(log.rows.count, 3);
  assertEquals(pointsOf(log, "time"), [[1, 101], [2, 104], [3, 103]]);
  assertEquals(pointsOf(log, "late"), [[1, 7]]);
});

Deno.test("seriesOf() lets the later stretch replace what the earlier one had reached beyond it", () => {
  const builder = new RunLogBuilder();
  let line = 0;
  for (const [first, last, value] of [[1, 6, 10], [4, 8, 20], [3, 4, 30]]) {
    for (let step = first; step <= last; step++) {
      builder.add(step, { line: ++line }, [["x", value + step / 100], ["y", 0]]);
    }
  }
  const log = finish(builder);
  assertEquals(log.seams, [
    { axis: 0, row: 6, lastStep: 6, nextStep: 4 },
    { axis: 0, row: 11, lastStep: 8, nextStep: 3 },
  ]);
  assertEquals(pointsOf(log, "x"), [[1, 10.01], [2, 10.02], [3, 30.03], [4, 30.04]]);
  assertEquals([...log.rows.stretches].filter((s) => s === 2).length, 2);
});

Deno.test("add() finds a run of other keys that starts again in the same file", () => {
  const builder = new RunLogBuilder();
  for (const step of [1, 2, 3]) {
    builder.add(step, { line: step }, [["loss", 1], ["lr", 1], ["accuracy", 0.5]]);
  }
  const others = Array.from({ length: 9 }, (_, i) => [`k${i}`, i] as const);
  builder.add(1, { line: 4 }, [["loss", 2], ["lr", 2], ...others]);
  assertEquals(finish(builder).seams, [{ axis: 0, row: 3, lastStep: 3, nextStep: 1 }]);
});

Deno.test("add() keeps axes apart: rows, seams and series", () => {
  const builder = new RunLogBuilder();
  builder.add(0, { line: 1, axis: "rollout" }, [["raw_reward", 0.1]]);
  builder.add(0, { line: 2 }, [["loss", 1]]);
  builder.add(1, { line: 3 }, [["loss", 2]]);
  builder.add(1, { line: 4, axis: "rollout" }, [["raw_reward", 0.2]]);
  builder.add(2, { line: 5 }, [["loss", 3], ["raw_reward", 99]]);
  builder.add(1, { line: 6 }, [["loss", 4]]);
  const log = finish(builder);
  assertEquals(log.axes, ["rollout", "step"]);
  assertEquals([...log.rows.axes], [0, 1, 1, 0, 1, 1]);
  assertEquals(pointsOf(log, "raw_reward"), [[0, 0.1], [1, 0.2]]);
  assertEquals(pointsOf(log, "loss"), [[0, 1], [1, 4]]);
  assertEquals(log.seams, [{ axis: 1, row: 5, lastStep: 2, nextStep: 1 }]);
  assertEquals(seriesOf(log, "loss")?.axis, 1);
  assertEquals(log.source.ignored, [
    { what: "values of a key that another axis has", count: 1, example: "raw_reward" },
  ]);
});

Deno.test("add() keeps what is not finite, tells null from NaN, and refuses a step that is not a number", () => {
  const builder = new RunLogBuilder();
  builder.add(1, { line: 1 }, [["x", null], ["__proto__", 5]]);
  builder.add(2, { line: 2 }, [["x", NaN]]);
  builder.add(3, { line: 3 }, [["x", -Infinity]]);
  builder.add(4, { line: 4 }, [["x", null]]);
  builder.add(4, { line: 5 }, [["x", 1]]);
  builder.add(NaN, { line: 6 }, [["x", 1]]);
  builder.add(5, { line: 7 }, []);
  const log = finish(builder);
  const series = seriesOf(log, "x");
  assertEquals([...(series?.values ?? [])], [NaN, NaN, -Infinity, 1]);
  assertEquals([...(series?.isNull ?? [])], [1, 0, 0, 0]);
  assertEquals(pointsOf(log, "__proto__"), [[1, 5]]);
  assertEquals(log.source.ignored.map(({ what }) => what), ["rows without a finite step"]);
  assertEquals(seriesOf(log, "toString"), undefined);
});

Deno.test("finish() tells how a column was rounded by the spelling of its numbers", () => {
  const written: Readonly<Record<string, readonly string[]>> = {
    fixed: ["0.410", "-0.000", "1.000"],
    full: ["0.41", "0.0", "1.0"],
    zeros: ["0.0", "0.0", "0.0"],
    unit: ["0.010e-4", "0.020e-4", "0.125e-4"],
    digits: ["'1.244e+04'", "'0'", "'0.9996'"],
    mixed: ["'1.5'", "0.123456", "2"],
    none: ["nan", "inf", "nan"],
  };
  const builder = new RunLogBuilder();
  for (const i of [0, 1, 2]) {
    builder.add(
      i,
      { line: 1 },
      Object.entries(written).map(([key, values]) => {
        const text = values[i].replaceAll("'", "");
        return [key, Number(text), values[i]] as const;
      }),
    );
    builder.add(i, { line: 1 }, [["binary", i / 3]]);
  }
  const log = finish(builder);
  const rounding = Object.fromEntries(
    Array.from(log.columns, ([key, column]) => [key, column.rounding]),
  );
  assertEquals(rounding, {
    fixed: { decimals: 3 },
    full: undefined,
    zeros: undefined,
    unit: { decimals: 7 },
    digits: { digits: 4 },
    mixed: undefined,
    none: undefined,
    binary: undefined,
  });
  assertEquals(roundingErrorOf(rounding.fixed, 1), 0.0005);
  assertEquals(roundingErrorOf(rounding.digits, 0), 0);
  assertEquals(roundingErrorOf(rounding.digits, 1), 0.0005);
  assertEquals(roundingErrorOf(rounding.digits, 0.9996), 0.00005);
  assertEquals(roundingErrorOf(rounding.digits, -12440), 5);
  assertEquals(roundingErrorOf(undefined, 1), 0);
  assertEquals(roundingErrorOf(rounding.fixed, NaN), 0);
});

Deno.test("finish() names the form that was found while reading", () => {
  const builder = new RunLogBuilder();
  builder.set({ plannedSteps: 10 });
  builder.set({ plannedSteps: 20, klCoef: 0 });
  builder.ignore("lines", "a".repeat(500));
  builder.ignore("lines", "b", 3);
  builder.identify({ form: "verl_console", producer: "verl" });
  const log = finish(builder);
  assertEquals([log.source.form, log.source.producer], ["verl_console", "verl"]);
  assertEquals(log.settings, { plannedSteps: 20, klCoef: 0 });
  assertEquals(log.source.ignored, [{ what: "lines", count: 4, example: "a".repeat(120) }]);
});

Deno.test("a log of more rows than one piece of memory holds is whole", () => {
  const builder = new RunLogBuilder();
  const count = 200_003;
  for (let step = 0; step < count; step++) builder.add(step, { line: step }, [["x", step * 2]]);
  builder.add(70_000, { line: 1 }, [["late", 1]]);
  builder.add(1, { line: 1 }, [["late", 2], ["later", 3]]);
  const log = finish(builder);
  assertEquals([log.rows.count, log.seams.length], [count, 0]);
  const { values } = log.columns.get("x") ?? {};
  assert(values && values.length === count);
  assert(values.every((value, step) => value === step * 2));
  assertEquals([...(log.columns.get("late")?.rows ?? [])], [70_000, 1]);
});

Deno.test("a log of junk gets no more keys than fit into memory, and none that is too long", () => {
  const builder = new RunLogBuilder();
  builder.add(0, { line: 1 }, Array.from({ length: 140_000 }, (_, i) => [`k${i}`, 4]));
  builder.add(0, { line: 1 }, [["x".repeat(1001), 1], ["k0", 5]]);
  const log = finish(builder);
  assertEquals(log.columns.size, 131_072);
  assertEquals(pointsOf(log, "k0"), [[0, 5]]);
  assertEquals(log.source.ignored.map(({ count }) => count), [140_000 - 131_072, 1, 1]);
});

Deno.test("finish() keeps the rows of columns apart where they differ, and once where they do not", () => {
  const builder = new RunLogBuilder();
  for (const step of [1, 2, 3]) {
    builder.add(step, { line: step }, [["a", 1], ["b", 2], [step === 2 ? "c" : "d", 3]]);
  }
  const { columns } = finish(builder);
  const rows = (key: string) => columns.get(key)?.rows ?? new Uint32Array();
  assert(rows("a") === rows("b"));
  assertEquals(["a", "c", "d"].map((key) => [...rows(key)]), [[0, 1, 2], [1], [0, 2]]);
});

Deno.test("restart() overrules the rows from a step on, also where nothing follows", () => {
  const builder = new RunLogBuilder();
  for (const step of [1, 2, 3]) builder.add(step, { line: step }, [["x", step]]);
  builder.restart(9);
  builder.restart(2);
  const log = finish(builder);
  assertEquals(pointsOf(log, "x"), [[1, 1]]);
  assertEquals(log.seams, [{ axis: 0, row: 3, lastStep: 3, nextStep: 2 }]);
});
