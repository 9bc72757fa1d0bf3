/** The page of a referee: how its document is recognised, what stands where, and that nothing in it is markup. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { chartsOf } from "../../src/report/chart.ts";
import { readContent } from "../../src/report/files/content.ts";
import { refereePage } from "../../src/report/referee_page.ts";
import { withFolder } from "../files/with_folder.ts";
import { HOSTILE, refereeDocument } from "./fixture.ts";

Deno.test("readContent() takes a referee's document by its format, and refuses a damaged one", () =>
  withFolder(async (folder) => {
    const document = await refereeDocument();
    const path = `${folder}/any.json`;
    const write = (value: unknown) => Deno.writeTextFileSync(path, JSON.stringify(value));
    write(document);
    const { referees } = await readContent([path]);
    assertEquals(referees, [{ name: "any.json", document: JSON.parse(JSON.stringify(document)) }]);
    assertEquals((await readContent([folder])).referees.length, 1);
    const other = `${folder}/kept_as.txt`;
    Deno.writeTextFileSync(other, JSON.stringify(document, null, 2));
    assertEquals((await readContent([other])).referees.length, 1);
    Deno.removeSync(other);
    for (
      const damage of [
        { verdict: undefined },
        { version: 2 },
        { sides: [{ ...document.sides[0], meanNats: "0" }] },
        { findings: [{ ...document.findings[0], next: { a: 1 } }] },
        { worst: [{ ...document.worst[0], tokens: [{ id: 1 }] }] },
      ]
    ) {
      write({ ...document, ...damage });
      const { message } = await assertRejects(() => readContent([path]), UserError);
      assert(message.startsWith(`${path} `) || message.includes(path), message);
    }
  }));

Deno.test("refereePage() has the verdict first, a row a side, charts, tokens and what stayed open", async () => {
  const document = await refereeDocument();
  const { body, parts = [] } = refereePage({ name: "referee.json", document }, 0);
  const { markup } = body;
  assert(markup.startsWith('<p class="first"><b>Verdict:</b> The sampler is off by'), markup);
  const order = [
    "explained by",
    "✗ T 0.6",
    "≈ bf16 rounding",
    "Next:",
    ...parts.map(({ id }) => id),
  ];
  const places = order.map((part) => markup.indexOf(part));
  assert(places.every((place) => place > 0), order[places.indexOf(-1)]);
  assertEquals(places, places.toSorted((a, b) => a - b));
  const charts = chartsOf(body);
  assertEquals(charts.map(({ id }) => id), [
    "referee-0-by-token",
    "referee-0-by-turn-token",
    "referee-0-by-log-prob",
    "referee-0-by-sequence",
  ]);
  for (const { series } of charts) {
    assertEquals(series.map(({ name }) => name), ["sampler", "old policy"]);
    assert(series.every(({ points }) => points.length > 10));
  }
  for (
    const part of [
      "sampler − model",
      "16 of 40 were scored",
      "no finite log-probs of the frozen model of the KL term (lp_ref)",
      "first token of a turn",
    ]
  ) assertStringIncludes(markup, part);
  assert(!markup.includes("<img"), "nothing in it is markup");
  assert(markup.split("&lt;img src=x").length > 10);
  assert(!markup.includes(HOSTILE));
});

Deno.test("refereePage() of a dump without log-probs says what lacks, and draws nothing", async () => {
  const document = {
    ...await refereeDocument(),
    sides: [],
    worst: [],
    verdict: "Not checked: the dump holds no log-probs.",
    findings: [{
      id: "sides_agree",
      class: "not-checkable" as const,
      sentence: "Not checked: the dump holds no log-probs.",
      next: "Switch on log-probs.",
    }],
  };
  const { body, parts } = refereePage({ name: "referee.json", document }, 1);
  assertEquals(chartsOf(body), []);
  assertEquals(parts?.map(({ id }) => id), ["referee-1-open", "referee-1-findings"]);
  assertStringIncludes(
    body.markup,
    "Not checked: the dump holds no log-probs. Switch on log-probs.",
  );
});
