/** Which commit a checkout stands at, read from git's own files: no program is started. */
import { resolve } from "node:path";

function readLine(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path).split("\n", 1)[0]?.trim();
  } catch {
    return undefined; // Missing or not to be read: then it is not known.
  }
}

/** git's folder of a checkout; in a linked worktree a file says where it lies. */
function gitFolder(root: string): string {
  const path = resolve(root, ".git");
  const [, linked] = /^gitdir: (.+)$/.exec(readLine(path) ?? "") ?? [];
  return linked === undefined ? path : resolve(root, linked);
}

function packedCommit(folder: string, reference: string): string | undefined {
  try {
    const lines = Deno.readTextFileSync(`${folder}/packed-refs`).split("\n");
    return lines.find((line) => line.endsWith(` ${reference}`))?.split(" ", 1)[0];
  } catch {
    return undefined;
  }
}

/**
 * The commit of a checkout. Changes that are not committed do not show in it.
 *
 * @param root The checkout's folder.
 * @returns Its hash; null where the folder is not a checkout.
 */
export function commitOf(root: string): string | null {
  const folder = gitFolder(root);
  const head = readLine(`${folder}/HEAD`);
  const [, reference] = /^ref: (.+)$/.exec(head ?? "") ?? [];
  const common = resolve(folder, readLine(`${folder}/commondir`) ?? ".");
  const found = reference === undefined
    ? head
    : readLine(`${common}/${reference}`) ?? packedCommit(common, reference);
  return found !== undefined && /^[0-9a-f]{40,64}$/.test(found) ? found : null;
}
