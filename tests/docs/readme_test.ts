/** Holds README.md to what its reader finds: the tree stays clean. */
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

Deno.test("README.md: what its commands write, git ignores", () => {
  const readme = Deno.readTextFileSync(new URL("README.md", ROOT));
  const ignored = Deno.readTextFileSync(new URL(".gitignore", ROOT)).split("\n");
  const outputs = Array.from(readme.matchAll(/--out ([\w./-]+)/g), ([, path = ""]) => path);
  // `report` writes this where nothing else is said.
  const written = [...new Set([...outputs, "report.html"])];
  assert(written.length > 3);
  const isIgnored = (path: string) =>
    ignored.some((rule) =>
      rule === `/${path}` || (rule.endsWith("/") && `/${path}`.startsWith(rule))
    );
  assertEquals(written.filter((path) => !isIgnored(path)), []);
});
