/** Content of a page for tests: parts and charts by name. */
import type { WatchContent } from "../../src/report/watch_data.ts";

/** A page with a part `a`, and a chart `c` whose curve ends at a value. */
export function contentOf(a: string, value: number, title = "run"): WatchContent {
  return {
    title,
    parts: new Map([["a", a], ["b", "always equal"]]),
    charts: [{
      data: {
        id: "c",
        title: "reward",
        xLabel: "step",
        yLabel: "",
        log: false,
        canBeLog: true,
        zeroAt: null,
        series: [{ name: "reward", style: "line", tone: "first", x: [0, 1], y: [0, value] }],
        bands: [],
        events: [],
      },
      label: "reward",
      table: "",
    }],
  };
}
