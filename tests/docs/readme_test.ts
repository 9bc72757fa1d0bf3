/**
 * Holds README.md and docs/ to what their readers find: links, commands that are there, output as it is printed, the folders that are
 * listed, a tree that commands leave clean.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { spellingsOf } from "../../cli/flags.ts";
import { flagsOf } from "../../cli/help.ts";
import { LAUNCHER_COMMANDS } from "../../cli/launcher_commands.ts";
import { COMMANDS } from "../../cli/registry.ts";
import { agentrl } from "../e2e/command_line.ts";

const ROOT = new URL("../../", import.meta.url);

/** The pages of the top level and of docs/, by their path. */
function pages(): Map<string, string> {
  const names = Array.from(Deno.readDirSync(new URL("docs/", ROOT)), ({ name }) => `docs/${name}`);
  const top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  const paths = [...top, ...names.filter((name) => name.endsWith(".md"))];
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

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    Array.from(
      headings,
      ([, title = ""]) =>
        title.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(" ", "-"),
    ),
  );
}

Deno.test("README.md and docs: every link within the repository leads to something", () => {
  const dead: string[] = [];
  for (const [path, text] of pages()) {
    const links = text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g);
    for (const [, target = "", anchor] of links) {
      const url = target === "" ? new URL(path, ROOT) : new URL(target, new URL(path, ROOT));
      const isThere = exists(url) &&
        (anchor === undefined || anchorsOf(Deno.readTextFileSync(url)).has(anchor));
      if (!isThere) dead.push(`${path}: ${target}${anchor === undefined ? "" : `#${anchor}`}`);
    }
  }
  assertEquals(dead, []);
});

Deno.test("README.md and docs: every command and flag that they show is there", async () => {
  const unknown: string[] = [];
  let shown = 0;
  for (const [path, text] of pages()) {
    // A command that is broken into lines is one.
    const lines = text.replaceAll(/\\\n\s*/g, "").matchAll(/cli\/agentrl ([a-z]+)([^`\n|;#]*)/g);
    for (const [line, name = "", rest = ""] of lines) {
      shown++;
      if (Object.hasOwn(LAUNCHER_COMMANDS, name)) continue;
      const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      const flags = entry && spellingsOf(flagsOf((await entry.load()).command));
      const given = rest.match(/(?<=\s)--[a-z][\w-]*/g) ?? [];
      if (!flags || given.some((flag) => !flags.has(flag))) unknown.push(`${path}: ${line}`);
    }
  }
  assert(shown > 50);
  assertEquals(unknown, []);
});

Deno.test("README.md: the verdict that it shows is what triage prints, and its picture is small", async () => {
  const readme = Deno.readTextFileSync(new URL("README.md", ROOT));
  const [, block = ""] = /prints\n\n((?: {4}.*\n|\n)+)/.exec(readme) ?? [];
  const example = "docs/examples/trl_run";
  assertStringIncludes(readme, `cli/agentrl triage ${example}\n`);
  const { code, stdout } = await agentrl(["triage", fileURLToPath(new URL(example, ROOT))]);
  assertEquals(code, 0);
  const printed = stdout.split("\n").slice(2).join("\n");
  const quoted = block.replaceAll(/^ {4}/gm, "").trimEnd().split("\n").slice(2).join("\n");
  assert(quoted.length > 300);
  assert(printed.startsWith(quoted), printed);
  const [first = ""] = stdout.split("\n");
  assert(first.endsWith(`${example}/trainer_state.json:`), first);
  assert(block.trimStart().startsWith(`${example}/trainer_state.json:\n`), block);
  assert(Deno.statSync(new URL("docs/report.webp", ROOT)).size <= 150 * 1024);
});

Deno.test("README.md: short enough to be read, and every page of docs is linked from it or from docs/README.md", () => {
  const all = pages();
  const readme = all.get("README.md") ?? "";
  const size = new TextEncoder().encode(readme).length;
  assert(size <= 9 * 1024, `${size} bytes`);
  const index = all.get("docs/README.md") ?? "";
  const missing = [...all.keys()].filter((path) =>
    path !== "README.md" && !readme.includes(`(${path})`) &&
    !index.includes(`(${path.replace("docs/", "")})`)
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
