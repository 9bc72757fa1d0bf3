/** Whether the files of a command carry a SHA-256, as a row of its table. */

/** A file that was read. */
export interface ReadFile {
  readonly path: string;
  /** True where its SHA-256 was right. */
  readonly isVerified?: boolean | undefined;
}

/**
 * A row about files that carry no SHA-256: those of other programs and of earlier versions.
 *
 * @returns No row where every file was verified.
 */
export function unverifiedRows(files: readonly ReadFile[]): (readonly [string, string])[] {
  const names = files.filter(({ isVerified }) => isVerified !== true).map(({ path }) => path);
  if (names.length === 0) return [];
  return [["unverified", `${names.join(" and ")}: no SHA-256 in the file`]];
}
