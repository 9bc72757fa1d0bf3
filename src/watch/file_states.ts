/** What files looked like when they were last read, and what has happened to them since. */
import { formatBytes } from "../files/read_file.ts";
import { infoOf } from "../files/paths.ts";

/** A file at one moment. */
export interface FileState {
  readonly sizeBytes: number;
  /** Tells one file from another that took its name. */
  readonly identity: string;
  readonly modifiedMs: number;
}

/** Files by path; what is not there is left out. */
export type FileStates = ReadonlyMap<string, FileState>;

/** Looks at files. @throws {UserError} When one cannot be looked at. */
export function lookAt(paths: readonly string[]): FileStates {
  return new Map(paths.flatMap((path) => {
    const info = infoOf(path);
    if (info === undefined) return [];
    const { size, mtime, birthtime, ino, dev } = info;
    // An inode's number is given away again; its birth is not.
    const identity = `${dev} ${ino} ${birthtime?.getTime()}`;
    return [[path, { sizeBytes: size, identity, modifiedMs: mtime?.getTime() ?? 0 }] as const];
  }));
}

/** True where nothing has changed that a reader would see. */
export function areEqual(a: FileStates, b: FileStates): boolean {
  return a.size === b.size && [...a].every(([path, state]) => {
    const other = b.get(path);
    return other !== undefined && other.sizeBytes === state.sizeBytes &&
      other.identity === state.identity && other.modifiedMs === state.modifiedMs;
  });
}

/**
 * What happened to the files of a log that is appended to, in sentences.
 *
 * @param before The files of the log when it was last read.
 * @param after The same paths as they are now.
 */
export function changesOf(before: FileStates, after: FileStates): string[] {
  return [...before].flatMap(([path, state]) => {
    const now = after.get(path);
    if (now === undefined) return [`${path} was deleted; what it held last is still shown`];
    if (now.identity !== state.identity) return [`${path} was replaced by another file`];
    if (now.sizeBytes < state.sizeBytes) {
      return [
        `${path} was cut from ${formatBytes(state.sizeBytes)} to ${formatBytes(now.sizeBytes)}`,
      ];
    }
    return [];
  });
}
