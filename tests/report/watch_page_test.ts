/** Tests of the page that watches runs: what others wrote is text, spikes stay, several runs share charts. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { watchScript } from "../../src/report/files/page_script.ts";
import type { WatchedRun } from "../../src/report/watch_data.ts";
import { watchContent, watchDocument } from "../../src/report/watch_page.ts";
import { durationWords } from "../../src/report/watch_run.ts";
import { HOSTILE } from "./fixture.ts";

const KEYS = ["reward", "frac_reward_zero_std", "completions/mean_length", "entropy"];

/** A run of TRL's keys with a value by step, and one more key of its own. */
function runOf(
  name: string,
  count: number,
  { curve = (step) => step / count, more = "own_key", ...rest }: Partial<WatchedRun> & {
    readonly curve?: (step: number) => number;
    readonly more?: string;
  } = {},
): WatchedRun {
  const builder = new RunLogBuilder();
  builder.beginFile("log.jsonl");
  for (let step = 0; step < count; step++) {
    const entries = [...KEYS, more].map((key) => [key, curve(step)] as const);
    builder.add(step, { line: step + 1 }, entries);
  }
  const log = builder.finish({ path: "log.jsonl", form: "jsonl" });
  return {
    name,
    path: "log.jsonl",
    view: count === 0 ? undefined : interpret(log, { settings: {} }),
    own: undefined,
    findings: [],
    problem: undefined,
    pending: undefined,
    notices: [],
    pace: {},
    samples: [],
    ...rest,
  };
}

Deno.test("watchContent() says how far a run is, and escapes all that others wrote", () => {
  const run = runOf(HOSTILE, 9, {
    more: HOSTILE,
    problem: HOSTILE,
    pending: HOSTILE,
    path: HOSTILE,
    notices: [{ atMs: 0, text: HOSTILE }],
    findings: [{ id: "gap_jump", class: "violated", sentence: HOSTILE, key: HOSTILE, step: 3 }],
    pace: {
      plannedSteps: 20,
      tokensPerSecond: { value: 1234, from: HOSTILE },
      left: { durationMs: 125_000, from: HOSTILE },
    },
    samples: [{ place: HOSTILE, tokenCount: 3, prompt: HOSTILE, answer: HOSTILE }],
  });
  const { title, parts, charts } = watchContent([run]);
  assertEquals(title, `step 8 of 20, 1 finding: ${HOSTILE}`);
  for (const markup of [...parts.values(), ...charts.map(({ table }) => table)]) {
    assert(!/<img|<script/i.test(markup), markup);
  }
  assertStringIncludes(parts.get("run-0-state") ?? "", "step 8 of 20");
  assertStringIncludes(parts.get("run-0-state") ?? "", "2 min");
  assertStringIncludes(parts.get("run-0-state") ?? "", "1,234");
  assertStringIncludes(parts.get("run-0-notices") ?? "", "00:00:00 UTC");
});

Deno.test("watchContent() of a run that is not there yet says so", () => {
  const { title, parts, charts } = watchContent([runOf("a", 0, { problem: "nothing yet" })]);
  assertEquals([title, charts], ["no step yet, 0 findings: a", []]);
  assertStringIncludes(parts.get("run-0-state") ?? "", "nothing yet");
  assertEquals(parts.get("all-charts"), "");
});

Deno.test("watchContent() sends at most 800 points of a long curve, its spike and its ends among them", () => {
  const count = 200_000;
  const run = runOf("long", count, {
    curve: (step) => step === 123_456 ? 90 : step === 7 ? NaN : Math.sin(step),
  });
  const { title, charts } = watchContent([run]);
  assertEquals(title, "step 199,999, 0 findings: long", "all digits of a step are shown");
  const reward = charts.find(({ data }) => data.title === "reward")?.data.series[0];
  assert(reward && reward.x.length <= 800 && reward.x.length > 700, String(reward?.x.length));
  assertEquals(reward.y[reward.x.indexOf(123_460)], 90, "rounded to five digits");
  assertEquals([reward.x[0], reward.x.at(-1), reward.y.includes(null)], [0, 2e5, true]);
  const sentBytes = JSON.stringify(charts).length;
  assert(sentBytes < 200_000, `${sentBytes} bytes`);
});

Deno.test("watchContent() lays curves of several runs into one chart where they measure the same", () => {
  const runs = [
    runOf("a", 5),
    runOf("b", 9, { more: "another_key" }),
    runOf("c", 0, { problem: HOSTILE }),
  ];
  const { title, charts, parts } = watchContent(runs);
  assertEquals(title, "steps 4 / 8 / –, 0 findings: 3 runs");
  const shown = new Map(charts.map(({ data }) => [
    data.title,
    data.series.map(({ name, tone, x }) => [name, tone, x.length]),
  ]));
  assertEquals(shown.get("reward"), [["a", "first", 5], ["b", "second", 9]]);
  // A single curve has no legend, so the run is named above it; its colour is the run's all the same.
  assertEquals(shown.get("own_key (a)"), [["a", "first", 5]]);
  assertEquals(shown.get("another_key (b)"), [["b", "second", 9]]);
  const overview = parts.get("all-state") ?? "";
  assertMatch(
    overview,
    /<a href="#run-1">b<\/a>: step 8; 0 findings<.*no step yet; 0 findings; &lt;/,
  );
  const markup = parts.get("all-charts") ?? "";
  for (const { data: { id } } of charts) assertStringIncludes(markup, `<canvas id="${id}"`);
  assertEquals(new Set(charts.map(({ data: { id } }) => id)).size, charts.length);
});

Deno.test("watchDocument() has a place for each part, loads nothing, and names its scripts in its policy", async () => {
  const scripts = { chartJs: "/* chart */", chartJsVersion: "4", page: watchScript() };
  for (const names of [["a"], [HOSTILE, "b"]]) {
    const { html, policy } = await watchDocument(names, scripts);
    const { parts } = watchContent(names.map((name) => runOf(name, 3)));
    for (const id of parts.keys()) assertStringIncludes(html, `id="${id}"`);
    const ids = Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    assertEquals(ids.length, new Set(ids).size);
    assertEquals(html.match(/<(?:img|iframe|object|link(?! rel="icon" href="data:,"))/g), null);
    assertEquals(html.match(/ (?:src|href)="(?!#|data:,)/g), null);
    assertMatch(
      policy,
      /^default-src 'none'; script-src 'sha256-\S+ 'sha256-\S+; style-src 'sha256-/,
    );
    assertMatch(policy, /connect-src 'self';.*frame-ancestors 'none'/);
  }
});

Deno.test("watchScript() is a script that parses, and hands no name to the page", () => {
  const script = watchScript();
  new Function(script); // Throws a SyntaxError where a type, an import or a name twice is left.
  assertEquals(script.match(/^\s*(import|export)\b.*/gm), null);
  const names = Array.from(
    script.matchAll(/^(?:function|const|class) (\w+)/gm),
    ([, name]) => name,
  );
  assertEquals(names.filter((name, i) => names.indexOf(name) !== i), []);
});

Deno.test("durationWords() has two units at most", () => {
  assertEquals([4400, 59_400, 61_000, 3_700_000, 400_000_000].map(durationWords), [
    "4 s",
    "59 s",
    "1 min",
    "1 h 2 min",
    "111 h 7 min",
  ]);
});
