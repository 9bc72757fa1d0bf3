/** A copy of the sources in a temporary folder, into which recipes of docs/extending.md are worked. */
import { assert } from "@std/assert";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Insertion, Recipe } from "../../docs/examples/extending/recipes.ts";

/** The repository. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

const EXAMPLES = "docs/examples/extending";

/**
 * A text with an insertion.
 *
 * @throws {Error} When the line that it goes beside does not stand there exactly once.
 */
export function inserted(text: string, insertion: Insertion): string {
  const anchor = "after" in insertion ? insertion.after : insertion.before;
  const lines = text.split("\n");
  const places = lines.flatMap((line, i) => line === anchor ? [i] : []);
  if (places.length !== 1) {
    throw new Error(
      `${insertion.path}: the line ${
        JSON.stringify(anchor)
      } must stand there once, found ${places.length}: bring docs/examples/extending/recipes.ts up to date`,
    );
  }
  const place = places[0]! + ("after" in insertion ? 1 : 0);
  return lines.toSpliced(place, 0, ...insertion.insert).join("\n");
}

/** An example as it reads at its place: what it imports of src is named from there. */
export function movedExample(text: string, path: string): string {
  return text.replaceAll(/(?<=from ")(?:\.\.\/){3}(src\/[^"]+)(?=";)/g, (_, target: string) => {
    const specifier = relative(dirname(path), target);
    return specifier.startsWith(".") ? specifier : `./${specifier}`;
  });
}

/**
 * Lends a folder for the copy, which is empty, to one test at a time. Its path is the same every time, so that Deno remembers
 * what it has type-checked.
 */
export async function withTree(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = `${Deno.env.get("TMPDIR") ?? "/tmp"}/extended${ROOT.replace(/\W+/g, "-")}`;
  using lock = Deno.openSync(`${folder}.lock`, { create: true, write: true });
  lock.lockSync(true);
  const clear = () => rmSync(folder, { recursive: true, force: true });
  clear(); // What a test left that was killed.
  try {
    mkdirSync(folder);
    await use(folder);
  } finally {
    clear();
  }
}

/** Copies what programs need. */
export function copySources(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ["src", "cli", "shaders", "docs", "mod.ts", "report.ts", "deno.json"]) {
    cpSync(`${ROOT}/${name}`, `${folder}/${name}`, { recursive: true });
  }
  cpSync(`${ROOT}/deno.lock`, `${folder}/deno.lock`);
}

/**
 * Writes a project that imports from a copy: its types are checked as strictly as ours, and so more strictly than with the
 * README's settings, but with the declarations of Deno that a project has which names none.
 */
export function writeProject(folder: string, tree: string): void {
  mkdirSync(folder);
  cpSync(`${ROOT}/tests/library/project/report.ts`, `${folder}/report.ts`);
  const { compilerOptions: { lib: _, ...compilerOptions } } = JSON.parse(
    Deno.readTextFileSync(`${ROOT}/deno.json`),
  );
  const imports = { agentrl: `${tree}/mod.ts`, "agentrl/report": `${tree}/report.ts` };
  Deno.writeTextFileSync(`${folder}/deno.json`, JSON.stringify({ imports, compilerOptions }));
}

/** Works one recipe into a copy. */
export function apply({ files, lines }: Recipe, folder: string): void {
  for (const { example, path } of files) {
    const text = Deno.readTextFileSync(`${folder}/${EXAMPLES}/${example}`);
    mkdirSync(dirname(`${folder}/${path}`), { recursive: true });
    Deno.writeTextFileSync(`${folder}/${path}`, movedExample(text, path), { createNew: true });
  }
  for (const insertion of lines) {
    const path = `${folder}/${insertion.path}`;
    Deno.writeTextFileSync(path, inserted(Deno.readTextFileSync(path), insertion));
  }
}

/** Runs Deno in a copy and hands back what it prints. */
export async function denoIn(folder: string, ...args: readonly string[]): Promise<string> {
  const output = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1", AGENTRL_TUNING: "" },
  }).output();
  const decoder = new TextDecoder();
  const [stdout, stderr] = [decoder.decode(output.stdout), decoder.decode(output.stderr)];
  assert(output.success, `deno ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}
