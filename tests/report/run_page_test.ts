/** Tests of the page of an own run: what triage says stands first, linked to the charts, and nothing is unescaped. */
import { assert, assertMatch, assertStringIncludes } from "@std/assert";
import { PLAIN_WORDS } from "../../src/diagnose/finding.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { chartsOf } from "../../src/report/chart.ts";
import { readContent } from "../../src/report/files/content.ts";
import { runPage } from "../../src/report/run_page.ts";
import { withFolder } from "../files/with_folder.ts";
import { HOSTILE } from "./fixture.ts";

type Row = Readonly<Record<string, unknown>>;

const HEALTHY: readonly Row[] = HEALTHY_REFERENCE_FILE.seeds[0]!.rows;

function check(id: number, verdict: string, reason: string) {
  const value = verdict === "not-applicable" ? null : 0.5;
  return { id, name: "n", value, relation: "<=", bound: 0, bound_reason: "b", verdict, reason };
}

/** The page of a run of these rows and verdicts. */
async function pageOf(
  folder: string,
  { rows, checks, step }: {
    readonly rows: readonly Row[];
    readonly checks?: readonly unknown[];
    readonly step?: () => string;
  },
) {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  Deno.writeTextFileSync(`${folder}/metrics.jsonl`, lines);
  if (checks) Deno.writeTextFileSync(`${folder}/checks.json`, JSON.stringify({ checks }));
  const { runs: [run] } = await readContent([folder], step && { words: { ...PLAIN_WORDS, step } });
  return runPage(run!, 0).body;
}

Deno.test("runPage() shows which later steps were checked, and what they violate", () =>
  withFolder(async (folder) => {
    const later = (rows: readonly Row[]) =>
      Deno.writeTextFileSync(
        `${folder}/later_checks.jsonl`,
        rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
      );
    later([{ step: 3, ...check(2, "holds", "gap") }, { step: 7, ...check(2, "holds", "gap") }]);
    const holding = (await pageOf(folder, { rows: HEALTHY })).markup;
    assertStringIncludes(holding, "Checked again in steps 3, 7: nothing is violated.");
    later([{ step: 3, ...check(2, "holds", "gap") }, {
      step: 7,
      ...check(2, "violated", "a <gap>"),
    }]);
    const { markup } = await pageOf(folder, { rows: HEALTHY });
    assertStringIncludes(markup, "Checked again in steps 3, 7: 1 violated.");
    assertMatch(markup, /<th scope="row">7<\/th>[\s\S]*a &lt;gap&gt;/);
  }));

const gap = (row: Row) => ({ ...row, logp_gap: 0.07, ratio_max: 4 });

Deno.test("runPage() says first what triage says, and links it to the charts", () =>
  withFolder(async (folder) => {
    const checks = [check(9, "not-applicable", "no KL term")];
    const body = await pageOf(folder, { rows: HEALTHY.map(gap), checks });
    const { markup } = body;
    assert(
      markup.indexOf("sampler_temp") < markup.indexOf('<dl class="facts">'),
      "before the facts",
    );
    assertMatch(
      markup,
      /First:<\/b> Replay step 0 of \S+ with sample replaced by that of the fault sampler_temp/,
    );
    assertMatch(markup, /logp_gap \(first, step 0\) is 0\.07, bound ≥/);
    const [, target = ""] = /href="#([^"]+)">See logp_gap/.exec(markup) ?? [];
    assertStringIncludes(markup, `<div id="${target}">`);
    const shown = chartsOf(body).find((chart) => `${chart.id}-figure` === target);
    assert(shown?.series.some(({ name }) => name === "logp_gap"));
    assertMatch(markup, /A cause that is none of these: belief 0\.\d\d/);
    // The words for what was not checked.
    assertMatch(markup, /<b>Not applicable<\/b> \(1\)[\s\S]*reference_stays_behind/);
    assertMatch(markup, /Symptoms that are not checkable[\s\S]*needs check 1/);
    assertMatch(markup, /Symptoms that are not applicable[\s\S]*needs check 9/);
  }));

Deno.test("runPage() says first where to look when no cause explains a violated invariant", () =>
  withFolder(async (folder) => {
    const checks = [check(4, "violated", "x")];
    const { markup } = await pageOf(folder, { rows: HEALTHY.map(gap), checks });
    assertMatch(markup, /First:<\/b> Unknown cause: [^<]*Look first at the advantages \(check 4\)/);
    assertStringIncludes(markup, "a violated invariant that no known failure explains");
    assertMatch(markup, /<b>Violated<\/b> \(1\)[\s\S]*group_mean_zero/);
  }));

Deno.test("runPage() says next steps as it is told to, and calls no run healthy", () =>
  withFolder(async (folder) => {
    const told = await pageOf(folder, { rows: HEALTHY.map(gap), step: () => HOSTILE });
    assert(!told.markup.includes(HOSTILE), "escaped");
    assertStringIncludes(told.markup, "First:</b> &lt;");
    const { markup } = await pageOf(folder, { rows: HEALTHY });
    assertMatch(markup, /First:<\/b> nothing to do\.[^<]*not the same as healthy/);
    assertStringIncludes(markup, "No rule fired.");
  }));

Deno.test("runPage() shows a run that cannot be judged, and says why", () =>
  withFolder(async (folder) => {
    const rows = HEALTHY.map((row) => ({ ...row, step: 3 }));
    const { markup } = await pageOf(folder, { rows });
    assertMatch(markup, /Not judged:<\/b> Cannot use [^<]*step 3 follows step 3/);
    assert(markup.match(/<canvas/g)!.length > 5, "its charts are there");
  }));
