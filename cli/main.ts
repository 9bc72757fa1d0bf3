/** The command line: finds the command, parses its flags, prints its outcome, and turns errors into exit codes. */
import denoConfig from "../deno.json" with { type: "json" };
import { DeviceLostError, UserError } from "../src/core/errors.ts";
import { suggestName } from "../src/core/nearest.ts";
import { escapeControls, escapeLines, oneSentence } from "../src/core/sentence.ts";
import { asUserError } from "../src/files/file_error.ts";
import { remark, writeText } from "../src/files/terminal.ts";
import type { Command } from "./command.ts";
import { COMMON_FLAGS, type Flags, formatFlags, formatTable, parseFlags } from "./flags.ts";
import { COMMANDS } from "./registry.ts";

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return [
    `agentrl ${denoConfig.version}: a laboratory for agent reinforcement learning on WebGPU`,
    "",
    "Usage: cli/agentrl COMMAND [flags]",
    "",
    ...formatTable([...rows, ["test", "the test suite; further arguments go to `deno test`"]]),
    "",
    "cli/agentrl COMMAND --help explains a command and its flags.",
  ].join("\n");
}

/** The command's flags, then the common ones that it does not declare itself. */
function flagsOf(command: Command): Flags {
  return { ...command.flags, ...COMMON_FLAGS, ...command.flags };
}

function helpOf(name: string, command: Command): string {
  const usage = ["cli/agentrl", name, ...(command.positionals ?? []), "[flags]"].join(" ");
  return [
    `agentrl ${name}: ${COMMANDS[name]?.summary}`,
    "",
    `Usage: ${usage}`,
    "",
    ...formatFlags(flagsOf(command)),
  ].join("\n");
}

function checkPositionals(given: readonly string[], names: readonly string[] = []): void {
  if (given.includes("")) {
    throw new UserError("an argument is empty: write a path or a name, or leave it out");
  }
  const missing = names.find((name, index) => !name.startsWith("[") && index >= given.length);
  if (missing !== undefined) throw new UserError(`${missing} is missing`);
  const extra = given[names.length];
  if (extra !== undefined && !names.at(-1)?.includes("…")) {
    const takes = names.length === 0 ? "no arguments" : names.join(" ");
    throw new UserError(`unexpected argument "${extra}": only flags and ${takes} are allowed`);
  }
}

/**
 * Prints a result.
 *
 * @param exitCode The command's; it stays where the reader of stdout has seen enough and is gone.
 * @throws {UserError} When stdout cannot be written otherwise.
 */
function print(text: string, exitCode = 0): number {
  try {
    writeText(Deno.stdout, `${text}\n`);
    return exitCode;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return exitCode;
    const failure = asUserError(error, "Cannot print the result");
    // A bad result, or the signal that ended the work, says more than the stream does.
    if (exitCode === 0 || !(failure instanceof UserError)) throw failure;
    remark(`agentrl: ${oneSentence(failure.message)}\n`);
    return exitCode;
  }
}

/** One line of JSON in which a terminal finds nothing to obey. */
function jsonLine(document: unknown): string {
  return escapeControls(JSON.stringify(document));
}

/** Runs one command. @returns The exit code. */
async function runCommand(name: string, args: readonly string[]): Promise<number> {
  const entry = COMMANDS[name];
  if (entry === undefined) throw new UserError("the command is not registered");
  const { command } = await entry.load();
  const { flags, positionals } = parseFlags(args, flagsOf(command));
  if (flags.help === true) return print(helpOf(name, command));
  checkPositionals(positionals, command.positionals);
  const { document, text, exitCode } = await command.run(flags, positionals);
  return print(flags.json === true ? jsonLine(document) : escapeLines(text), exitCode);
}

function reportError(where: string, error: unknown): number {
  if (error instanceof UserError || error instanceof DeviceLostError) {
    remark(`${where}: ${oneSentence(error.message)}\n`);
    return error instanceof UserError ? error.exitCode : 1;
  }
  remark(
    `${escapeLines(String(error instanceof Error ? error.stack : error))}\n` +
      `${where}: this is a mistake in agentrl; please report it with the command and the lines above.\n`,
  );
  return 1;
}

/** Runs what the arguments say, errors and all. */
async function runArguments(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    remark(`${overview()}\n`);
    return 2;
  }
  if (name === "--help" || name === "-h" || name === "help") return print(overview());
  if (!Object.hasOwn(COMMANDS, name)) {
    const known = [...Object.keys(COMMANDS), "test"];
    const kind = name.startsWith("-") ? "flag before the command" : "command";
    throw new UserError(`unknown ${kind} "${name}": ${suggestName(name, known)}`);
  }
  return await runCommand(name, rest);
}

/**
 * Runs the command line.
 *
 * @param args The arguments after `agentrl`.
 * @returns The exit code: 0; 1 where the result is bad, 2 where the input is, 4 where the machine fails (a full disk); 129, 130 or
 *   143 where a signal ended the work.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await runArguments(args);
  } catch (error) {
    const [name = ""] = args;
    return reportError(Object.hasOwn(COMMANDS, name) ? `agentrl ${name}` : "agentrl", error);
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
