/** Programs of a scheduler: started, waited for, and their refusals as sentences. */
import { UserError } from "../../src/core/errors.ts";
import { MACHINE_FAILED } from "../../src/files/file_error.ts";

/** What a program left. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a program with arguments and waits for its end. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramResult>;

/** {@linkcode RunProgram} on this machine. @throws {UserError} When there is no such program. */
export const runProgram: RunProgram = async (program, args) => {
  const decoder = new TextDecoder();
  try {
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: [...args],
      stdin: "null",
    }).output();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } catch (error) {
    // Deno may start only programs that were there when it began: one that is missing is one that is not allowed.
    const isMissing = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotCapable;
    if (!isMissing) throw error;
    throw new UserError(
      `Cannot find ${program}: this machine has no Slurm, or it is not in the PATH; choose another --engine`,
    );
  }
};

/** What a program printed, where it succeeded. @throws {UserError} With its own words where it did not. */
export function requireSuccess(program: string, { code, stdout, stderr }: ProgramResult): string {
  if (code === 0) return stdout;
  const said = stderr.trim().split("\n").map((line) => line.replace(/^\w+: error: /, "")).join(
    "; ",
  );
  throw new UserError(`${program} refused: ${said || `it ended with ${code}`}`, MACHINE_FAILED);
}
