/** Tests of the log-probs on the page about speed: every way has its row, and what does not fit its reason. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { benchSchema, speedPage } from "../../src/report/speed_page.ts";
import { HOSTILE } from "./fixture.ts";

const WAY = {
  forwardMs: 12.5,
  backwardMs: 40,
  workspaceBytes: 5 * 2 ** 20,
  errors: { logp: 2e-6, entropy: 3e-6, dh: 4e-7, dhead: 5e-7 },
};

const DOCUMENT = {
  adapter: HOSTILE,
  cpu: "a CPU",
  rows: 2048,
  width: 64,
  rounds: 7,
  cases: [
    {
      vocabSize: 1024,
      rounds: 7,
      checkedRows: 2048,
      fused: WAY,
      unfused: { ...WAY, workspaceBytes: 18 * 2 ** 20 },
      unfusedRefusal: null,
      peer: { ...WAY, threads: 2 },
      ratio: 1,
    },
    {
      vocabSize: 151936,
      rounds: 3,
      checkedRows: 13,
      fused: WAY,
      unfused: null,
      unfusedRefusal: HOSTILE,
      peer: null,
      ratio: null,
    },
  ],
};

Deno.test("speedPage() shows every way to log-probs, and why one does not fit, escaped", () => {
  const bench = benchSchema.parse(DOCUMENT);
  assertEquals(bench.suite, "logprob");
  const { body: { markup } } = speedPage([bench]);
  for (
    const part of ["unfused", "peer ×2", "151,936</th>", "3 rounds at 151,936 entries", "13 rows"]
  ) {
    assertStringIncludes(markup, part);
  }
  assertMatch(markup, /1,024<\/th><td class="text">fused<\/td><td>12.5<\/td><td>40<\/td><td>5</);
  assertStringIncludes(markup, "does not fit at 151,936 entries");
  assert(!markup.includes(HOSTILE));
});

Deno.test("benchSchema refuses log-probs without a case", () => {
  assert(!benchSchema.safeParse({ ...DOCUMENT, cases: [] }).success);
});
