/** Copies of the project's sources with faults planted in them, as modules of their own beside the right ones. */
import { applyPatch, type Patch } from "./fault.ts";

/** What training loads. */
const COPIED = ["shaders", "src", "deno.json"] as const;

/** The import map knows one folder of shaders; a copy has its own. */
const MAPPED = 'from "#shaders/';
const RELATIVE = 'from "../../shaders/';

function copyTree(from: string, to: string): void {
  if (Deno.statSync(from).isDirectory) {
    Deno.mkdirSync(to, { recursive: true });
    for (const { name } of Deno.readDirSync(from)) copyTree(`${from}/${name}`, `${to}/${name}`);
  } else if (from.endsWith(".ts")) {
    Deno.writeTextFileSync(to, Deno.readTextFileSync(from).replaceAll(MAPPED, RELATIVE));
  } else Deno.copyFileSync(from, to);
}

/**
 * Copies the sources and plants a fault in the copy.
 *
 * @param root The project.
 * @param folder Where the copy goes; a copy that is there is replaced. A process loads each of its modules once, so every
 *   fault needs a folder of its own.
 * @param patches The fault; none gives the right sources.
 * @throws {Error} When a text to replace does not occur exactly once.
 */
export function plantSources(
  { root, folder }: { readonly root: string; readonly folder: string },
  patches: readonly Patch[],
): void {
  for (const name of COPIED) {
    if (Deno.statSync(`${root}/${name}`).isDirectory) {
      Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
      Deno.removeSync(`${folder}/${name}`, { recursive: true });
    }
    copyTree(`${root}/${name}`, `${folder}/${name}`);
  }
  for (const patch of patches) {
    const path = `${folder}/${patch.file}`;
    Deno.writeTextFileSync(path, applyPatch(Deno.readTextFileSync(path), patch));
  }
}
