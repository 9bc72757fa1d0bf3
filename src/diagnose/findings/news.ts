/** Which findings are news while a log grows. */
import type { FindingClass, SaidFinding } from "../finding.ts";

const NO_NEWS: ReadonlySet<FindingClass> = new Set(["holds", "not-checkable", "not-applicable"]);

/** Findings that say what the file lacks, or that all is well, are not news. */
export function isNews({ class: kind, id }: SaidFinding): boolean {
  return !NO_NEWS.has(kind) && id !== "too_little" && id !== "ended_early";
}

/** What a finding is known by: a class that has changed is news; a step that has moved is not. */
export function newsKey({ id, key, class: kind }: SaidFinding): string {
  return `${id} ${key} ${kind}`;
}
