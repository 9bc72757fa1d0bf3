/** Starts the real command line as a child process and collects what it leaves: exit code, both streams, files. */
import { assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";

/** The launcher. */
export const LAUNCHER = fileURLToPath(new URL("../../cli/agentrl", import.meta.url));

/** What a finished command leaves. */
export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the launcher with arguments, and with variables beside those of this process, and waits for its end. No layout of the
 * kernels is looked up or measured, and no base agent kept, unless a test says where.
 */
export async function agentrl(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const output = await new Deno.Command(LAUNCHER, {
    args: [...args],
    env: { AGENTRL_TUNING: "", AGENTRL_AGENTS: "", AGENTRL_LIVE: "", ...env },
  }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

/** The path of a file in tests/golden. */
export function golden(name: string): string {
  return fileURLToPath(new URL(`../golden/${name}`, import.meta.url));
}

/** Names of the files in a folder, sorted. */
export function namesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
}

/** Asserts that a command refused: its exit code, nothing on stdout, and one sentence without a stack on stderr. */
export function assertRefused(
  { code, stdout, stderr }: Result,
  expected: { readonly code: 1 | 2; readonly sentence: RegExp },
): void {
  assertEquals([code, stdout], [expected.code, ""], stderr);
  assertMatch(stderr, expected.sentence);
  assertMatch(stderr, /^agentrl \w+: [^\n]+\n$/, "one line");
}
