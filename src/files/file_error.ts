/** What the file system refuses, as a sentence for the user. */
import { UserError } from "../core/errors.ts";

/**
 * Turns an error of the file system into a sentence for the user.
 *
 * @param error What was caught.
 * @param attempt What was attempted, for example `Cannot write runs/a/config.json`.
 * @returns A UserError where the file system refused, else the error itself (a mistake of ours keeps its stack).
 */
export function asUserError(error: unknown, attempt: string): unknown {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const reasons: readonly (readonly [new () => Error, string])[] = [
    [Deno.errors.NotFound, "there is no such file or folder"],
    [Deno.errors.PermissionDenied, "this user may not do that there"],
    [Deno.errors.NotCapable, "the command was started without the permission"],
    [Deno.errors.AlreadyExists, "something of that name is there already"],
    [Deno.errors.NotADirectory, "a part of the path is a file"],
    [Deno.errors.IsADirectory, "it is a folder"],
  ];
  const known = reasons.find(([errorClass]) => error instanceof errorClass);
  if (known !== undefined) return new UserError(`${attempt}: ${known[1]}`);
  // What the operating system refuses otherwise (disk full, read-only file system, name too long) says so itself.
  return /\(os error \d+\)/.test(error.message)
    ? new UserError(`${attempt}: ${error.message}`)
    : error;
}
