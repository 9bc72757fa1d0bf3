/** Holds README.md to what its reader finds: the folders that it lists, and a tree that its commands leave clean. */
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

Deno.test("README.md: its tree lists the folders of src", () => {
  const readme = Deno.readTextFileSync(new URL("README.md", ROOT));
  const listed = Array.from(readme.matchAll(/^ {4}src\/(\w+)\/ /gm), ([, name = ""]) => name);
  const folders = Array.from(Deno.readDirSync(new URL("src/", ROOT)), ({ name }) => name);
  assertEquals(listed.toSorted(), folders.toSorted());
});
