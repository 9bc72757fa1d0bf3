/** Holds README.md and docs/ to what their readers find: links, the folders that are listed, a tree that commands leave clean. */
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** README.md and the pages of docs/, by their path. */
function pages(): Map<string, string> {
  const names = Array.from(Deno.readDirSync(new URL("docs/", ROOT)), ({ name }) => `docs/${name}`);
  const paths = ["README.md", ...names.filter((name) => name.endsWith(".md"))];
  return new Map(paths.map((path) => [path, Deno.readTextFileSync(new URL(path, ROOT))]));
}

function exists(url: URL): boolean {
  try {
    return Deno.statSync(url) !== undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("README.md and docs: every link within the repository leads to something", () => {
  const dead: string[] = [];
  for (const [path, text] of pages()) {
    const links = text.matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g);
    for (const [, target = ""] of links) {
      if (!exists(new URL(target, new URL(path, ROOT)))) dead.push(`${path}: ${target}`);
    }
  }
  assertEquals(dead, []);
});

Deno.test("README.md: short enough to be read, and every page of docs is linked from it", () => {
  const all = pages();
  const readme = all.get("README.md") ?? "";
  const size = new TextEncoder().encode(readme).length;
  assert(size <= 9 * 1024, `${size} bytes`);
  const missing = [...all.keys()].filter((path) =>
    path !== "README.md" && !readme.includes(`(${path}`)
  );
  assertEquals(missing, []);
});

Deno.test("README.md and docs: what their commands write, git ignores", () => {
  const readme = [...pages().values()].join("\n");
  const ignored = Deno.readTextFileSync(new URL(".gitignore", ROOT)).split("\n");
  const outputs = Array.from(readme.matchAll(/--out ([\w./-]+)/g), ([, path = ""]) => path);
  // `report` of several runs writes this where nothing else is said.
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
