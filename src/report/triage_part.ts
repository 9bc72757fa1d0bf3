/** What triage says of a run of ours: what to do first, the conclusion, the causes with their evidence, the findings. */
import { statisticWords } from "../diagnose/metric_series.ts";
import type { Evidence, Unchecked } from "../diagnose/triage/evaluate.ts";
import type { Cause, UncheckedSymptom } from "../diagnose/triage/triage.ts";
import { type ChartIds, chartLink, findingGroups, firstPart } from "./findings_part.ts";
import { formatBound, formatNumber } from "./format.ts";
import { type Html, html, NOTHING } from "./html.ts";
import type { RunData, RunJudgement } from "./run_data.ts";

/** The metric that a piece of evidence is about: of a ratio of two, the first. */
const metricOf = ({ metric }: Evidence) => metric.split("/")[0];

function evidenceItem(evidence: Evidence, ids: ChartIds): Html {
  const { metric, statistic, step, value, relation, bound, boundFrom } = evidence;
  const said = bound === null
    ? `${metric} is ${statistic} in step ${step}`
    : `${metric} (${statisticWords(statistic)}, step ${step}) is ${
      value === null ? "not a number" : formatNumber(value)
    }, bound ${formatBound(relation, bound)}`;
  return html`<p class="note">${said}${boundFrom === "" ? "" : ` (${boundFrom})`}${
    chartLink(metricOf(evidence), ids)
  }</p>`;
}

/** Evidence under its symptom. */
function symptoms(evidence: readonly Evidence[], ids: ChartIds): Html {
  const names = [...new Set(evidence.map(({ symptom }) => symptom))];
  return html`${
    names.map((name) =>
      html`<p>${name}</p>${
        evidence.filter(({ symptom }) => symptom === name).map((item) =>
          evidenceItem(item, ids)
        )
      }`
    )
  }`;
}

function causeItem(
  { fault, score, evidence }: Cause,
  { next, ids }: { readonly next: string | undefined; readonly ids: ChartIds },
): Html {
  return html`
    <li
      class="finding suspect-edge"><p><b>${fault}</b> belief ${score.toFixed(2)}</p>${symptoms(
        evidence,
        ids,
      )}${next === undefined ? NOTHING : html`<p><b>Next:</b> ${next}</p>`}</li>
  `;
}

const UNCHECKED: Readonly<Record<Unchecked, string>> = {
  "not-checkable": "Symptoms that are not checkable: the record lacks what they need",
  "not-applicable": "Symptoms that are not applicable: the setting has nothing of the kind",
};

function uncheckedPart(unchecked: readonly UncheckedSymptom[], kind: Unchecked): Html {
  const own = unchecked.filter(({ verdict }) => verdict === kind);
  if (own.length === 0) return NOTHING;
  const items = own.map(({ symptom, needs }) =>
    html`<li>${symptom} (needs ${needs.join(", ")})</li>`
  );
  return html`
    <details>
      <summary>${UNCHECKED[kind]} (${own.length})</summary>
      <ul>${items}</ul>
    </details>
  `;
}

function judgement({ report, findings }: RunJudgement, ids: ChartIds): Html {
  const { conclusion, causes, note, evidence, unchecked, unknown, notCompared } = report;
  const isCause = (id: string) => causes.some(({ fault }) => fault === id);
  const nextOf = (fault: string) => findings.find(({ id }) => id === fault)?.next;
  // Where there is a cause its next step is what to do: a violated invariant only says that there must be one.
  const suspects = findings.filter(({ id }) =>
    conclusion === "unknown-cause" ? id === "unknown_cause" : isCause(id)
  );
  return html`${firstPart(suspects.length > 0 ? suspects : findings)}<p>${note}</p>${
    causes.length === 0
      ? NOTHING
      : html`<ol class="findings">${
        causes.map((cause) => causeItem(cause, { next: nextOf(cause.fault), ids }))
      }</ol>`
  }${
    causes.length === 0
      ? NOTHING
      : html`<p>A cause that is none of these: belief ${unknown.toFixed(2)}</p>`
  }${symptoms(evidence, ids)}${findingGroups(findings.filter(({ id }) => !isCause(id)), ids)}${
    uncheckedPart(unchecked, "not-checkable")
  }${uncheckedPart(unchecked, "not-applicable")}${
    notCompared.length === 0
      ? NOTHING
      : html`<p class="note">Compared with no healthy runs: the pinned ones need ${
        notCompared.join(", ")
      }.</p>`
  }`;
}

/**
 * What triage says of a run.
 *
 * @param run The run; nothing where it was not triaged.
 * @param ids The charts of its page.
 */
export function triagePart({ triage }: RunData, ids: ChartIds): Html {
  if (triage === undefined) return NOTHING;
  if ("problem" in triage) return html`<p class="first"><b>Not judged:</b> ${triage.problem}</p>`;
  return judgement(triage, ids);
}
