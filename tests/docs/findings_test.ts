/** Holds docs/triage.md to the findings that the rules can make. */
import { assertEquals } from "@std/assert";
import { RULES } from "../../src/diagnose/findings/judge_log.ts";
import { TOKEN_CHECKS } from "../../src/diagnose/tokens/judge_tokens.ts";

Deno.test("docs/triage.md names every finding of every rule and token check", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/triage.md", import.meta.url));
  const ids = new Set([...RULES, ...TOKEN_CHECKS].flatMap((rule) => rule.ids));
  assertEquals([...ids].filter((id) => !page.includes(`\`${id}\``)), []);
});
