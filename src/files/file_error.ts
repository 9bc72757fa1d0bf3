/** What the file system refuses, as a sentence for the user. */
import { UserError } from "../core/errors.ts";

/** The exit code of a machine that failed: the request was in order, and the same one may succeed later. */
export const MACHINE_FAILED = 4;

interface Reason {
  readonly text: string;
  readonly exitCode?: typeof MACHINE_FAILED;
}

const REASONS: Readonly<Record<string, Reason>> = {
  ENOENT: { text: "there is no such file or folder" },
  EACCES: { text: "permission denied" },
  EPERM: { text: "permission denied" },
  EEXIST: { text: "that name is already taken" },
  ENOTDIR: { text: "a part of the path is a file" },
  EISDIR: { text: "it is a folder" },
  EROFS: { text: "that file system is read-only" },
  ENAMETOOLONG: { text: "the name is too long" },
  ELOOP: { text: "its symbolic links lead in a circle" },
  ENXIO: { text: "it is a pipe or a device without a reader" },
  ENOSPC: { text: "the disk is full; make room and repeat the command", exitCode: MACHINE_FAILED },
  EDQUOT: {
    text: "this user's disk quota is used up; make room and repeat the command",
    exitCode: MACHINE_FAILED,
  },
  EFBIG: { text: "the file would exceed the size that is allowed here", exitCode: MACHINE_FAILED },
  EIO: { text: "the disk failed (input/output error)", exitCode: MACHINE_FAILED },
  EMFILE: { text: "too many files are open", exitCode: MACHINE_FAILED },
  ENFILE: { text: "too many files are open on this machine", exitCode: MACHINE_FAILED },
};

/** Classes of Deno's errors, for those that carry no code. */
const CODES: readonly (readonly [new () => Error, string])[] = [
  [Deno.errors.NotFound, "ENOENT"],
  [Deno.errors.PermissionDenied, "EACCES"],
  [Deno.errors.AlreadyExists, "EEXIST"],
  [Deno.errors.NotADirectory, "ENOTDIR"],
  [Deno.errors.IsADirectory, "EISDIR"],
];

function codeOf(error: Error): string | undefined {
  const code = "code" in error ? String(error.code) : undefined;
  return code ?? CODES.find(([errorClass]) => error instanceof errorClass)?.[1];
}

/**
 * Turns an error of the file system into a sentence for the user.
 *
 * @param error What was caught.
 * @param attempt What was attempted, for example `Cannot write runs/a/config.json`.
 * @returns A UserError where the file system refused, with exit code 4 where the disk is full or failing; else the error
 *   itself (a mistake of ours keeps its stack).
 */
export function asUserError(error: unknown, attempt: string): unknown {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const reason = REASONS[codeOf(error) ?? ""];
  if (reason !== undefined) return new UserError(`${attempt}: ${reason.text}`, reason.exitCode);
  if (error instanceof Deno.errors.NotCapable) {
    return new UserError(`${attempt}: the command was started without the permission`);
  }
  // Deno has no class for these two.
  if (/^Empty path /.test(error.message)) return new UserError(`${attempt}: the path is empty`);
  if (/unexpected NUL byte/.test(error.message)) {
    return new UserError(`${attempt}: the path holds a NUL character`);
  }
  // What the operating system refuses otherwise says so itself.
  return /\(os error \d+\)/.test(error.message)
    ? new UserError(`${attempt}: ${error.message}`)
    : error;
}
