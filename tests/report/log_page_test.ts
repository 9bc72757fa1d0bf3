/** Tests of the page about another trainer's run: findings first and linked to their charts, every key drawn, nothing unescaped. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { CANONICAL } from "../../src/producers/definition.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { chartsOf } from "../../src/report/chart.ts";
import { LOG_GROUPS } from "../../src/report/log_charts.ts";
import { logPage } from "../../src/report/log_page.ts";
import type { LogData } from "../../src/report/log_data.ts";
import { HOSTILE } from "./fixture.ts";

/** A TRL log of 12 rows with a restart at step 60, a key that nobody knows, and a gap that jumps. */
function logOf(path: string, base = 0): LogData {
  const builder = new RunLogBuilder();
  builder.beginFile(path);
  const steps = [10, 20, 30, 40, 50, 60, 70, 60, 70, 80, 90, 100];
  steps.forEach((step, i) =>
    builder.add(step, { line: i + 1 }, [
      ["reward", 0.1 + step / 200],
      ["rewards/tests/mean", 0.1 + step / 200],
      ["rewards/format/mean", 0.5],
      ["reward_std", 0.4],
      ["frac_reward_zero_std", 0.25],
      ["completions/mean_length", 200 + base],
      ["completions/clipped_ratio", 0.05],
      ["entropy", i === 3 ? NaN : 0.5],
      ["kl", i === 0 ? null : 0.01],
      ["grad_norm", 0.3],
      ["learning_rate", 1e-6],
      ["loss", 0.0001],
      ["sampling/sampling_logp_difference/mean", step < 90 ? 0.012 : 0.2],
      [HOSTILE, step],
    ])
  );
  const log = builder.finish({ path, form: "trainer_state" });
  return {
    name: "t",
    view: interpret(log, { settings: {} }),
    findings: [{
      id: "gap_jump",
      class: "suspect",
      metric: "gap",
      key: "sampling/sampling_logp_difference/mean",
      step: 90,
      value: 0.2,
      bound: 0.05,
      boundFrom: HOSTILE,
      sentence: `The gap jumps. ${HOSTILE}`,
      alternatives: [HOSTILE],
      next: HOSTILE,
      at: { file: HOSTILE, row: 3 },
    }, { id: "flat_groups", class: "note", sentence: "A quarter of the groups is flat." }],
  };
}

Deno.test("logPage() says first what was found, linked to the chart that shows it", () => {
  const data = logOf("runs/x/trainer_state.json");
  const { body, title, id } = logPage(data, 2);
  assertEquals([title, id], ["Run t", "log-2"]);
  const { markup } = body;
  assert(markup.indexOf("gap_jump") < markup.indexOf("TRL"), "findings stand before the facts");
  const [, target = ""] = /gap_jump<\/b>[\s\S]*?href="#([^"]+)"/.exec(markup) ?? [];
  assertStringIncludes(markup, `<div id="${target}">`);
  const shown = chartsOf(body).find((chart) => `${chart.id}-figure` === target);
  assertEquals(shown?.series.map(({ name }) => name), ["sampling/sampling_logp_difference/mean"]);
  assertEquals(shown?.events?.filter(({ kind }) => kind === "finding"), [{
    x: 90,
    kind: "finding",
  }]);
  assertMatch(markup, /step 90 · value 0\.2 · bound 0\.05/);
});

Deno.test("logPage() gives counts and steps of long runs all their digits", () => {
  const builder = new RunLogBuilder();
  builder.beginFile("long.json");
  for (const step of [250_000, 250_010]) builder.add(step, { line: 1 }, [["reward", 0.5]]);
  const view = interpret(builder.finish({ path: "long.json", form: "trainer_state" }), {
    settings: {},
  });
  const [finding] = logOf("a.json").findings;
  const { markup } =
    logPage({ name: "long", view, findings: [{ ...finding, step: 250_010 }] }, 0).body;
  for (const text of ["2, steps 250,000 to 250,010", "step 250,010 · ", ">250,000<"]) {
    assertStringIncludes(markup, text);
  }
});

Deno.test("logPage() draws every key once, components together, restarts marked, null as nothing and NaN as NaN", () => {
  const { body } = logPage(logOf("a.json"), 0);
  const charts = chartsOf(body);
  const names = charts.flatMap(({ series }) => series.map(({ name }) => name));
  assertEquals(new Set(names).size, names.length);
  for (const key of ["reward", "kl", "loss", "learning_rate", HOSTILE]) {
    assert(names.includes(key), key);
  }
  const components = charts.find(({ series }) => series.length === 2);
  assertEquals(components?.series.map(({ name }) => name), [
    "rewards/tests/mean",
    "rewards/format/mean",
  ]);
  const pointsOf = (key: string) =>
    charts.flatMap(({ series }) => series).find(({ name }) => name === key)?.points ?? [];
  assertEquals(pointsOf("kl").length, 9, "ten steps, of which the first has no value");
  assertEquals(pointsOf("entropy").filter(([, y]) => Number.isNaN(y)).map(([x]) => x), [40]);
  assert(charts.every(({ events }) => events?.some(({ x, kind }) => x === 60 && kind === "seam")));
});

Deno.test("every canonical metric has a place on the page, and only one", () => {
  const places = LOG_GROUPS.flatMap(([, , metrics]) => metrics);
  assertEquals(places.toSorted(), Object.keys(CANONICAL).toSorted());
});

Deno.test("logPage() draws no band but that of the user's own healthy run", () => {
  const data = logOf("a.json");
  assert(chartsOf(logPage(data, 0).body).every(({ bands = [] }) => bands.length === 0));
  const { view } = logOf("healthy.json", 20);
  const { body } = logPage({ ...data, against: view }, 0);
  const length = chartsOf(body).find(({ title }) => title === "completions/mean_length");
  assertEquals(length?.bands?.[0].points.map(([, low, high]) => [low, high]), [[220, 220], [
    220,
    220,
  ]]);
  assertStringIncludes(body.markup, "healthy.json");
});

Deno.test("logPage() escapes what a log brings: keys, sentences, places", () => {
  const { markup } = logPage(logOf(HOSTILE), 0).body;
  assert(!markup.includes("<img"), "a name became markup");
  assert(markup.split("&lt;img").length > 6);
});
