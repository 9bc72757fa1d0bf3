/** The triage map in the page: a symptom that is chosen lights its tests and the faults that they point to. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { TriageMapRule } from "../page_data.ts";

/** Answers clicks on the symptoms of every map in the document. */
export function answerTriageMaps(rules: readonly TriageMapRule[]): void {
  for (const map of document.querySelectorAll(".triage-map")) {
    const symptoms = [...map.querySelectorAll<HTMLElement>("[data-rule]")];
    const answer = map.querySelector("[aria-live]");
    const choose = (chosen: HTMLElement) => {
      const { tests, causes, answer: text } = rules[Number(chosen.dataset.rule)];
      for (const symptom of symptoms) {
        symptom.setAttribute("aria-pressed", String(symptom === chosen));
      }
      for (const item of map.querySelectorAll<HTMLElement>("[data-test]")) {
        item.classList.toggle("on", tests.includes(item.dataset.test ?? ""));
      }
      for (const item of map.querySelectorAll<HTMLElement>("[data-cause]")) {
        item.classList.toggle("on", causes.includes(item.dataset.cause ?? ""));
      }
      map.classList.add("chosen");
      if (answer) answer.textContent = text;
    };
    for (const symptom of symptoms) symptom.addEventListener("click", () => choose(symptom));
  }
}
