/** Tests of charts as data: scale, thinning, the table that says the same. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Chart, chartData, chartFigure, chartsOf, yScale } from "../../src/report/chart.ts";
import type { Point } from "../../src/report/downsample.ts";

function chartOf(points: readonly Point[], rest: Partial<Chart> = {}): Chart {
  const series = [{ name: "<b>", style: "line", tone: "first", points }] as const;
  return { id: "c", title: "Gap", xLabel: "step", yLabel: "nats", series, ...rest };
}

const curve = (...ys: number[]) => chartOf(ys.map((y, x): Point => [x, y]));

Deno.test("yScale() is logarithmic when values span two decades, with zeros a decade below", () => {
  const scale = (log: boolean, canBeLog: boolean, zeroAt: number | null) => ({
    log,
    canBeLog,
    zeroAt,
  });
  assertEquals(yScale(curve(1, 99)), scale(false, true, null));
  assertEquals(yScale(curve(1, 100)), scale(true, true, null));
  assertEquals(yScale(curve(0, 0.02, 30)), scale(true, true, -3));
  assertEquals(yScale(curve(-1, 0.02, 30)), scale(false, false, null));
  assertEquals(yScale(curve(0, 0, NaN)), scale(false, false, null));
  // Readers may ask for it where it is not drawn at first; zeros have their place then as well.
  assertEquals(yScale(curve(0, 0.02)), scale(false, true, -3));
  // A band counts as well.
  const bands = [{ name: "range", points: [[0, 0.001, 1]] }] as const;
  assertEquals(yScale({ ...curve(1, 2), bands }).log, true);
});

Deno.test("chartData() rounds, thins out, and writes null for what is not finite", () => {
  const long = Array.from({ length: 1000 }, (_, x): Point => [x, x === 500 ? NaN : 1 / 3]);
  const { series: [{ x, y }] } = chartData(chartOf(long), 50);
  assert(x.length <= 50 && x.length === y.length, String(x.length));
  assertEquals([x[0], y[0], x.at(-1)], [0, 0.33333, 999]);
  assert(y.includes(null));
});

Deno.test("chartFigure() has a labelled canvas, a caption and a table with the extremes", () => {
  const figure = chartFigure(curve(...Array(400).fill(2), 7, ...Array(400).fill(1)));
  const { markup } = figure;
  assertEquals(chartsOf(figure).map(({ id }) => id), ["c"]);
  assertMatch(
    markup,
    /<canvas id="c" role="img" aria-label="Gap\. &lt;b&gt;: from 2 to 1, lowest 1, highest 7\.">/,
  );
  assertMatch(markup, /<figcaption><b>Gap<\/b>/);
  assertMatch(markup, /<th scope="row">400<\/th><td>7<\/td>/);
  const rows = markup.match(/<tr>/g)?.length ?? 0;
  assert(rows > 5 && rows < 40, `${rows} rows`);
  assert(!markup.includes("<b><"), "names are escaped");
});
