/** A copy of the project's sources in which faults are planted, one at a time, before a process loads them. */
import { applyPatch, type Patch } from "./fault.ts";

/** What a training process loads. */
const COPIED = ["cli", "shaders", "src", "deno.json", "deno.lock", "mod.ts", "report.ts"] as const;

function copyTree(from: string, to: string): void {
  const { isDirectory } = Deno.statSync(from);
  if (!isDirectory) return Deno.copyFileSync(from, to);
  Deno.mkdirSync(to, { recursive: true });
  for (const { name } of Deno.readDirSync(from)) copyTree(`${from}/${name}`, `${to}/${name}`);
}

/** Sources of its own for one process after the other. */
export class PlantedSources {
  /** The folder of the copy; what was there is replaced. */
  readonly folder: string;
  readonly #root: string;
  #changed: string[] = [];

  /**
   * Copies the sources.
   *
   * @param root The project.
   * @param folder Where the copy goes.
   */
  constructor(root: string, folder: string) {
    this.#root = root;
    this.folder = folder;
    Deno.mkdirSync(folder, { recursive: true });
    for (const name of COPIED) {
      if (Deno.statSync(`${root}/${name}`).isDirectory) {
        Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
        Deno.removeSync(`${folder}/${name}`, { recursive: true });
      }
      copyTree(`${root}/${name}`, `${folder}/${name}`);
    }
  }

  /**
   * Plants patches in the place of those that were planted before; none gives the right sources.
   *
   * @throws {Error} When a text to replace does not occur exactly once.
   */
  plant(patches: readonly Patch[]): void {
    for (const file of this.#changed) {
      Deno.copyFileSync(`${this.#root}/${file}`, `${this.folder}/${file}`);
    }
    this.#changed = [...new Set(patches.map(({ file }) => file))];
    for (const patch of patches) {
      const path = `${this.folder}/${patch.file}`;
      Deno.writeTextFileSync(path, applyPatch(Deno.readTextFileSync(path), patch));
    }
  }
}
