/** Tests of the page of a token dump: what is said first, links to the tokens, tables that say the numbers, nothing unescaped. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Finding } from "../../src/diagnose/finding.ts";
import { chartsOf } from "../../src/report/chart.ts";
import { tokenPage } from "../../src/report/token_page.ts";
import { tokenPayloadsOf } from "../../src/report/token_payload.ts";
import { HOSTILE } from "./fixture.ts";
import { dataOf, sequenceOf } from "./token_fixture.ts";

const DUMP = Array.from({ length: 8 }, (_, n) => sequenceOf(n));

const FINDING: Finding = {
  id: "mask_on_unsampled",
  class: "violated",
  sentence: `A token is trained. ${HOSTILE}`,
  at: { file: "dump/step_3.jsonl", row: 6, sample: "g1.1", token: 14 },
};

Deno.test("tokenPage() says first what was found, linked to the token that shows it", () => {
  const { body, id, title, parts } = tokenPage(dataOf(DUMP, { findings: [FINDING] }), 2);
  assertEquals([id, title], ["tokens-2", "Tokens of dump"]);
  assertEquals(parts?.map(({ id }) => id), [
    "tokens-2-gaps",
    "tokens-2-groups",
    "tokens-2-sequences",
  ]);
  const { markup } = body;
  assert(markup.indexOf("First:") < markup.indexOf('<dl class="facts">'));
  const [, target = "", token] = /href="#([^"]+)" data-token="(\d+)"/.exec(markup) ?? [];
  assertEquals([target, token], ["tokens-2-sequence-6", "14"]);
  assertStringIncludes(markup, `id="${target}"`, "without JavaScript the link leads to the table");
  const [payload] = tokenPayloadsOf(body);
  assertEquals(payload?.sequences[0]?.key, "6", "what a finding points to comes first");
  assertEquals(payload?.sequences[0]?.findings, [[14, "mask_on_unsampled"]]);
});

Deno.test("tokenPage() points to nothing where a finding is about another sample of the row, or about a row left out", () => {
  const other: Finding = { ...FINDING, at: { ...FINDING.at!, sample: "g9" } };
  const far: Finding = { ...FINDING, at: { ...FINDING.at!, row: 99 } };
  const { markup } = tokenPage(dataOf(DUMP, { findings: [other, far] }), 0).body;
  assert(!markup.includes("data-token"));
  assertStringIncludes(markup, "dump/step_3.jsonl:99, sample g1.1, token 14");
});

Deno.test("tokenPage() escapes what a dump brings: texts, names, stop reasons, paths", () => {
  const sequence = sequenceOf(0, {
    file: HOSTILE,
    group: HOSTILE,
    sample: HOSTILE,
    environment: HOSTILE,
    prompt: HOSTILE,
  });
  const { body } = tokenPage(dataOf([sequence, sequenceOf(1)], { findings: [FINDING] }), 0);
  assert(!body.markup.includes("<img"), "a name became markup");
  assert(body.markup.split("&lt;img").length > 4);
  const [payload] = tokenPayloadsOf(body);
  assertEquals(payload?.words[7], "\\u202eevil", "what turns the direction of writing is spelled");
  assertEquals([payload?.words[0], payload?.words[4]], [undefined, "\n"]);
});

Deno.test("tokenPage() has the numbers of the worst sequences in tables", () => {
  const [first, ...others] = DUMP;
  const trainer = Float64Array.from(first!.logProbs.trainer!.values);
  trainer[20] = -3.25;
  const broken = sequenceOf(0, {
    logProbs: { sampler: first!.logProbs.sampler!, trainer: { values: trainer, nonFinite: [] } },
  });
  const { markup } = tokenPage(dataOf([...others, broken]), 0).body;
  const table = markup.slice(markup.indexOf("token-table"));
  // Token 20: id 2, role of the answer, sampler −(20·7 mod 11)/10 = −0.8, so that the gap is −2.45.
  assertMatch(
    table,
    /<th scope="row">20<\/th><td\s+class="text">&quot;Fix&quot;<\/td><td class="text">assistant<\/td><td class="text">yes<\/td><td>−0\.8<\/td><td>−3\.25<\/td><td>0<\/td><td>1\.5<\/td><td>−2\.45<\/td>/,
  );
});

Deno.test("tokenPage() shows groups side by side: rewards, advantages, and a mean that is zero where it cancels", () => {
  const advantages = [1.7320508, -0.5773503, -0.5773503, -0.5773502];
  const group = advantages.map((advantage, n) =>
    sequenceOf(n, { advantages: { values: new Float64Array(36).fill(advantage), nonFinite: [] } })
  );
  const { markup } = tokenPage(dataOf([...group, ...DUMP.slice(4, 7)]), 0).body;
  assertMatch(markup, /Group g0, step 3[\s\S]*4 sequences · mean reward 0\.25 · mean advantage 0</);
  assertMatch(
    markup,
    /Group g1, step 3[\s\S]*3 sequences · mean reward 0\.333 · mean advantage 0\.167</,
  );
});

Deno.test("tokenPage() draws both engines where there are two, and nothing of one", () => {
  const charts = chartsOf(tokenPage(dataOf(DUMP), 0).body);
  assertEquals(charts.map(({ id }) => id), ["tokens-0-scatter", "tokens-0-gap-by-position"]);
  const [scatter, gap] = charts;
  assertEquals(scatter?.xLabel, "sampler, nats");
  assert(scatter!.series[0]!.points.every(([x, y]) => Math.abs(x - y) <= 0.0151));
  // Position 12 of sequence n: |((60 + n) mod 7 − 3)/200|, of which the largest is 0.015.
  assertEquals(gap?.series[1]?.points[0]?.[0], 12);
  assert(Math.abs(gap!.series[1]!.points[0]![1] - 0.015) < 1e-12);
  const alone = DUMP.map((one) => ({ ...one, logProbs: { sampler: one.logProbs.sampler! } }));
  const page = tokenPage(dataOf(alone), 0);
  assertEquals(chartsOf(page.body), []);
  assertEquals(page.parts?.length, 2);
  assertMatch(page.body.markup, /value="probability"/);
  assert(!page.body.markup.includes('value="gap"'));
});

Deno.test("tokenPage() shows dumps of texts, of nothing, and of what lacks nearly everything", () => {
  const bare = { file: "a", offset: 0, logProbs: {} };
  const texts = [1, 2].map((row) => ({
    ...bare,
    row,
    ids: new Uint32Array(0),
    prompt: "2 + 2?",
    answer: HOSTILE,
    reward: row,
  }));
  const page = tokenPage(dataOf(texts), 0);
  assertEquals(tokenPayloadsOf(page.body)[0]?.sequences.map(({ answer }) => answer), [
    HOSTILE,
    HOSTILE,
  ]);
  assertEquals(page.parts?.map(({ id }) => id), ["tokens-0-sequences"]);
  const nothing = tokenPage(dataOf([]), 0);
  assertEquals([nothing.parts, tokenPayloadsOf(nothing.body)], [[], []]);
  const ids = tokenPage(dataOf([{ ...bare, row: 1, ids: Uint32Array.of(4294967295) }]), 0);
  assertMatch(ids.body.markup, /<th scope="row">0<\/th><td class="text">4294967295<\/td>/);
});
