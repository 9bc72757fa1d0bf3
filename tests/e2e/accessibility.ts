/** What axe-core (github.com/dequelabs/axe-core) finds against a page: rules of WCAG and of good practice. */
import axe from "axe-core";
import type { Page } from "./devtools.ts";

/** A rule that is broken, and where. */
interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** What it brings into the page. */
declare const globalThis: {
  readonly axe: {
    run(): Promise<{ readonly violations: readonly Violation[] }>;
  };
};

/** Rules that a page breaks, each with the first element. */
export async function accessViolations(page: Page): Promise<string[]> {
  await page.send("Runtime.evaluate", { expression: axe.source });
  const violations = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return violations.map(({ id, impact, nodes }) =>
    `${impact}: ${id} at ${nodes[0]?.html.slice(0, 200)}`
  );
}
