/** The triage map (Figure 18.3): choose a symptom, see the tests that decide and the faults that they point to. */
import { command, type MentionWords } from "../core/mention.ts";
import { statisticWords } from "../diagnose/metric_series.ts";
import { checkName } from "../diagnose/triage/evaluate.ts";
import { type Bound, type RuleTest, TIERS, type TriageRule } from "../diagnose/triage/knowledge.ts";
import { CAUSES } from "../faults/triage_causes.ts";
import { RULES } from "../faults/triage_rules.ts";
import type { FaultName } from "../faults/faults.ts";
import type { Section } from "./document.ts";
import { formatNumber } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { TriageMapRule } from "./page_data.ts";
import { columnsOf, dataTable } from "./tables.ts";

const TIER_TITLES: Readonly<Record<TriageRule["tier"], string>> = {
  invariant: "1. Invariants",
  consistency: "2. Consistency metrics",
  reference: "3. Against a healthy run",
  outcome: "4. An independent outcome",
};

/** What is looked at; tests of one name share an item of the map. */
function testName(test: RuleTest): string {
  if ("check" in test) return checkName(test.check);
  return test.per === undefined ? test.metric : `${test.metric} / ${test.per}`;
}

function boundText(bound: Bound): string {
  if ("value" in bound) return formatNumber(bound.value);
  const end = bound.healthy === "low" ? "lowest" : "highest";
  return bound.times === 1 ? `healthy ${end}` : `${formatNumber(bound.times)} × healthy ${end}`;
}

/** The whole test in words. */
function testSentence(test: RuleTest): string {
  if ("check" in test) {
    const { check, verdict, isLater, value } = test;
    return `${checkName(check)} ${verdict}${value === undefined ? "" : ` with ${value}`}${
      isLater ? " at a later step" : ""
    }`;
  }
  const { statistic, relation, bound } = test;
  return `${testName(test)} ${statisticWords(statistic)} ${relation === "<=" ? "≤" : "≥"} ${
    boundText(bound)
  }`;
}

/** Causes, likeliest first. */
function causesOf({ causes }: TriageRule<FaultName>): (readonly [FaultName, number])[] {
  return (Object.entries(causes) as [FaultName, number][]).sort(([, a], [, b]) => b - a);
}

/** The causes in words. */
function pointsTo(rule: TriageRule<FaultName>): string {
  const causes = causesOf(rule).map(([fault, share]) =>
    `${fault} (${CAUSES[fault].summary}; belief ${share.toFixed(2)})`
  );
  return causes.length === 0 ? "No failure that is known" : `Points to ${causes.join(", then ")}`;
}

/** What the page's script needs of each rule, in the order of the map. */
export function triageData(): TriageMapRule[] {
  return RULES.map((rule) => ({
    tests: rule.tests.map(testName),
    causes: causesOf(rule).map(([fault]) => fault),
    answer: `${rule.symptom}. Test: ${rule.tests.map(testSentence).join(" and ")}. ${
      pointsTo(rule)
    }.`,
  }));
}

function column(title: string, items: Html): Html {
  return html`
    <div>
      <h3>${title}</h3>
      <ul>${items}</ul>
    </div>
  `;
}

function map(): Html {
  const tests = [...new Set(RULES.flatMap(({ tests }) => tests.map(testName)))];
  const causes = [...new Set(RULES.flatMap((rule) => causesOf(rule).map(([fault]) => fault)))];
  const symptoms = TIERS.map((tier) =>
    html`<li><b>${TIER_TITLES[tier]}</b></li>${
      RULES.flatMap((rule, i) =>
        rule.tier === tier
          ? [
            html`<li><button type="button" data-rule="${i}" aria-pressed="false">${rule.symptom}</button></li>`,
          ]
          : []
      )
    }`
  );
  return html`<div class="triage-map">
<p aria-live="polite" class="answer">Choose a symptom.</p>
${column("Symptom", html`${symptoms}`)}
${
    column(
      "Test",
      html`${tests.map((test) => html`<li class="item" data-test="${test}">${test}</li>`)}`,
    )
  }
${
    column(
      "Faults",
      html`${causes.map((fault) => html`<li class="item" data-cause="${fault}">${fault}</li>`)}`,
    )
  }
</div>`;
}

function table(): Html {
  const rules = dataTable({
    title: "Every rule of triage",
    hasCaption: false,
    columns: columnsOf("text", "symptom", "test", "faults, with belief"),
    rows: RULES.map((rule) => [
      rule.symptom,
      rule.tests.map(testSentence).join("; "),
      causesOf(rule).map(([fault, share]) => `${fault} ${share.toFixed(2)}`).join(", ") ||
      "none that is known",
    ]),
  });
  return html`<details class="data" open><summary>Table: every rule</summary>${rules}</details>`;
}

/** The page. @param words Says commands. */
export function triagePage(words: MentionWords): Section {
  return {
    id: "triage",
    title: "Triage map",
    body:
      html`<p>From a symptom to the cheapest test that decides between its causes, in order of cost. Fix what invariants and consistency
metrics name first: their faults imitate the symptoms below them. <code>${
        words(command("triage", {}, { subjects: ["RUN"] }))
      }</code> applies these rules to a run.</p>
${map()}
${table()}`,
  };
}
