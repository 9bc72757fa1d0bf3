/** Holds docs/triage.md to the findings that the rules can make. */
import { assertEquals } from "@std/assert";
import { RULES } from "../../src/diagnose/findings/judge_log.ts";

Deno.test("docs/triage.md names every finding of every rule", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/triage.md", import.meta.url));
  const ids = new Set(RULES.flatMap((rule) => rule.ids));
  assertEquals([...ids].filter((id) => !page.includes(`\`${id}\``)), []);
});
