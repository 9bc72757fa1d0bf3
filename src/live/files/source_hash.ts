/** Which sources a script is made of, and one hash of them all: a script that is kept is as good as its sources. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../../", import.meta.url);

/** What decides which versions of packages, and which files, a specifier without a path stands for. */
const SETTINGS = ["deno.json", "deno.lock"];

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g;

/** The file that a specifier stands for; undefined for a package. */
function fileOf(specifier: string, importer: URL): URL | undefined {
  if (specifier.startsWith(".")) return new URL(specifier, importer);
  if (specifier.startsWith("#shaders/")) return new URL(specifier.slice(1), ROOT);
  if (specifier.startsWith("@std/")) return new URL(`src/std/${specifier.slice(5)}.ts`, ROOT);
  return undefined;
}

/** The files that an entry imports, directly or through others, with their texts, in the order of their paths. */
function sourcesOf(entries: readonly URL[]): [path: string, text: string][] {
  const found = new Map(entries.map((url) => [url.href, url]));
  const texts = new Map<string, string>();
  // A map visits what is added while it is walked.
  for (const url of found.values()) {
    const text = Deno.readTextFileSync(url);
    texts.set(url.href.slice(ROOT.href.length), text);
    if (!/\.[jt]s$/.test(url.pathname)) continue;
    for (const [, specifier = ""] of text.matchAll(SPECIFIER)) {
      const imported = fileOf(specifier, url);
      if (imported !== undefined) found.set(imported.href, imported);
    }
  }
  return [...texts].sort(([a], [b]) => a < b ? -1 : 1);
}

/** A file of this project. */
export function projectFile(path: string): URL {
  return new URL(path, ROOT);
}

/** A file of this project as a path. */
export function projectPath(path: string): string {
  return fileURLToPath(projectFile(path));
}

/**
 * SHA-256, as hexadecimal, of the files that entries are made of, of the versions of their packages, and of the bundler's.
 *
 * @param entries Paths below the project's root.
 * @throws {Deno.errors.NotFound} When a file that is imported is not there.
 */
export function sourceHash(entries: readonly string[]): string {
  const hash = createHash("sha256").update(`deno ${Deno.version.deno}\n`);
  for (const path of SETTINGS) hash.update(Deno.readTextFileSync(projectFile(path)));
  for (const [path, text] of sourcesOf(entries.map(projectFile))) {
    hash.update(`\n${path} ${text.length}\n${text}`);
  }
  return hash.digest("hex");
}
