/** Tells our own runs from other people's by what lies at a path. */
import { missingKey } from "../producers/agentrl.ts";
import { infoOf, isFolder } from "./paths.ts";

/**
 * The largest file of episodes whose tokens are judged together with their run, which is to take seconds: a run's default is
 * 1 MB.
 */
export const MAX_JUDGED_BYTES = 16 * 2 ** 20;

/** Bytes in which the first row of a metrics.jsonl ends: it has about forty numbers. */
const HEAD_BYTES = 64 * 1024;

function headOf(path: string): string {
  if (infoOf(path)?.isFile !== true) return "";
  try {
    using file = Deno.openSync(path);
    const head = new Uint8Array(HEAD_BYTES);
    return new TextDecoder().decode(head.subarray(0, file.readSync(head) ?? 0));
  } catch {
    return ""; // Whoever reads it says why it cannot be read.
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True where the first row has every key of a row of ours; a file that shares some of the names is someone else's. */
function hasOwnRows(path: string): boolean {
  const [line = ""] = headOf(path).split("\n", 1);
  const row = parsed(line);
  if (typeof row !== "object" || row === null) return false;
  return missingKey((key) => Object.hasOwn(row, key)) === undefined;
}

/** True of a config.json that agentrl wrote: other trainers have one beside a metrics.jsonl as well. */
function isOwnConfig(path: string): boolean {
  const config = parsed(headOf(path));
  return typeof config === "object" && config !== null && "versions" in config &&
    typeof config.versions === "object" && config.versions !== null && "agentrl" in config.versions;
}

/**
 * Whether a path leads to a run of ours: its folder, or its metrics.jsonl.
 *
 * @param path A path, `-` for standard input.
 * @returns True where agentrl's config.json is in the folder, or every key of a row in the metrics.
 */
export function isOwnRun(path: string): boolean {
  if (path === "-") return false;
  if (!isFolder(path)) return hasOwnRows(path);
  return isOwnConfig(`${path}/config.json`) || hasOwnRows(`${path}/metrics.jsonl`);
}
