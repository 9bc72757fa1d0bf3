/** Tests of the page about speed: every document of `agentrl bench` becomes a part with its numbers and charts. */
import { chartsOf } from "../../src/report/chart.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { mentionWords } from "../../cli/words.ts";
import type { GrowthCurve } from "../../src/bench/growth.ts";
import type { RolloutRow } from "../../src/bench/rollout.ts";
import type { TrainRow } from "../../src/bench/train.ts";
import { EMPTY_CONTENT } from "../../src/report/report_content.ts";
import { reproducePage } from "../../src/report/reproduce_page.ts";
import { benchSchema, speedPage } from "../../src/report/speed_page.ts";
import { HOSTILE } from "./fixture.ts";

const MACHINE = { adapter: HOSTILE, cpu: "a CPU", rounds: 7 };
const PEAK = { gflops: 97.654, gbPerSecond: 24.5 };

const ROLLOUTS: readonly RolloutRow[] = [64, 256].map((episodes) => ({
  episodes,
  ms: episodes / 2,
  tokensPerSecond: 54321,
  episodesPerSecond: 2000,
  usPerToken: 18.25,
  rooflineShare: 0.1875,
}));

const STEPS: readonly TrainRow[] = [{
  algorithm: "grpo",
  ms: 80,
  tokensPerSecond: 17654,
  rooflineShare: 0.2125,
  phasesMs: 76,
  phases: [{ phase: "rollout", ms: 30, share: 0.375 }, {
    phase: "backward",
    ms: 46,
    share: 0.575,
  }],
}];

/** Times that grow as the square root, but for their middle. */
const CURVES: readonly GrowthCurve[] = (["episodes", "width"] as const).map((axis) => ({
  axis,
  unit: "things",
  timed: "what is timed",
  sizes: [1, 4, 16],
  ms: [2, 8, 8],
  exponent: 0.5,
  expected: 1.93,
}));

const DOCUMENTS = {
  kernels: {
    adapter: "a",
    cpu: "c",
    rowCount: 1800,
    kernels: [{ kernel: "k", shape: "1×2", calls: 3, timeUs: 4, gflops: 5, gbPerSecond: null }],
    updateMs: 12,
  },
  rollout: { ...MACHINE, rollouts: ROLLOUTS, peak: PEAK },
  train: { ...MACHINE, peak: PEAK, steps: STEPS },
  growth: { ...MACHINE, curves: CURVES },
  step: { ...MACHINE, reinforce: { oursMs: 50, peerMs: 100, ratio: 0.5 } },
};

Deno.test("benchSchema knows each suite by its document and refuses others", () => {
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    assertEquals(benchSchema.parse(document).suite, name);
  }
  const shorter = { ...MACHINE, curves: [{ ...CURVES[0], ms: [1] }] };
  for (const other of [{}, MACHINE, { ...MACHINE, rollouts: [] }, shorter]) {
    assert(!benchSchema.safeParse(other).success, JSON.stringify(other));
  }
});

Deno.test("speedPage() shows rollouts, phases and growth with their numbers, escaped", () => {
  const benches = Object.values(DOCUMENTS).map((document) => benchSchema.parse(document));
  const { body } = speedPage([...benches, ...benches]);
  const { markup } = body;
  for (const part of ["Kernels", "Rollouts", "training step", "How time grows", "rollouts</h3>"]) {
    assertStringIncludes(markup, part);
  }
  assertStringIncludes(markup, "97.7 GFLOP/s");
  assertMatch(
    markup,
    /256<\/th><td>128<\/td><td>54,321<\/td><td>2,000<\/td><td>18.3<\/td><td>18.8/,
  );
  assertMatch(markup, /backward<\/th><td>46<\/td><td>57.5<\/td>/);
  assertMatch(markup, /sum of the phases<\/th><td>76<\/td><td>95<\/td>/);
  assertStringIncludes(markup, "grpo: 17,654 tokens/s trained, 21.3 % of the roofline");
  assertStringIncludes(markup, "what is timed; its operations grow as width^1.93.");
  assert(!markup.includes(HOSTILE), "names are escaped");
  const ids = chartsOf(body).map(({ id }) => id);
  assertEquals(ids.length, 2 * 3);
  assertEquals(new Set(ids).size, ids.length, String(ids));
});

Deno.test("speedPage() draws the fitted power law through the middle of the measured points", () => {
  const { body } = speedPage([benchSchema.parse(DOCUMENTS.growth)]);
  const [{ title, series: [measured, fitted] }] = chartsOf(body);
  assertEquals(title, "Time against episodes: episodes^0.50");
  assertEquals(measured.points, [[1, 2], [4, 8], [16, 8]]);
  // The geometric means are 4 and 128^(1/3) ms; half a power of 4 on either side is a factor of 2.
  const middle = 128 ** (1 / 3);
  [middle / 2, middle, 2 * middle].forEach((expected, i) => {
    const error = Math.abs(fitted.points[i][1] / expected - 1);
    if (!(error <= 2 ** -48)) throw new Error(`point ${i} is off by ${error}`); // Some ten roundings.
  });
});

Deno.test("reproducePage() lists the suites that the report shows, each once", () => {
  const bench = [DOCUMENTS.train, DOCUMENTS.growth, DOCUMENTS.train].map((document) =>
    benchSchema.parse(document)
  );
  const { body: { markup } } = reproducePage({ ...EMPTY_CONTENT, bench }, {
    chartJsVersion: "4",
    words: mentionWords,
  });
  assertStringIncludes(
    markup,
    "<code>cli/agentrl bench train --json\ncli/agentrl bench growth --json</code>",
  );
});
