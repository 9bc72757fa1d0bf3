/** Tests of what a reader can choose of a chart. */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { chartData } from "../../src/report/chart.ts";
import { chartCsv, firstView, smooth, xEnds } from "../../src/report/script/chart_view.ts";

const DATA = chartData({
  id: "c",
  title: "Two",
  xLabel: "step",
  yLabel: "nats",
  series: [
    { name: 'a "b"', style: "line", tone: "first", points: [[0, 1], [2, NaN]] },
    { name: "c,d", style: "line", tone: "second", points: [[0, 0.5], [1, 4]] },
  ],
}, 100);

Deno.test("smooth() is an average that starts at the first value, and leaves gaps as they are", () => {
  assertEquals(smooth([3, 5, null, 1], 0), [3, 5, null, 1]);
  const [first, second, gap, last] = smooth([2, 4, null, 4], 0.5);
  assertEquals([first, gap], [2, null]);
  // (0.5 · 0.5 · 2 + 0.5 · 4) / 0.75, and one step more.
  assertAlmostEquals(second ?? NaN, 10 / 3, 1e-12);
  assertAlmostEquals(last ?? NaN, (0.125 * 2 + 0.25 * 4 + 0.5 * 4) / 0.875, 1e-12);
});

Deno.test("chartCsv() has a row for each x and quotes names; of a scatter a row for each point", () => {
  assertEquals(chartCsv(DATA), 'step,"a ""b""","c,d"\n0,1,0.5\n1,,4\n2,,\n');
  assertEquals(
    chartCsv({ ...DATA, isScatter: true }).split("\n").slice(0, 2),
    ["series,step,nats", '"a ""b""",0,1'],
  );
});

Deno.test("a chart is shown whole at first", () => {
  assertEquals(xEnds(DATA), [0, 2]);
  assertEquals(firstView(DATA).range, undefined);
});
