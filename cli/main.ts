/** The command line: finds the command, parses its flags, prints its outcome, and turns errors into exit codes. */
import denoConfig from "../deno.json" with { type: "json" };
import { DeviceLostError, UserError } from "../src/core/errors.ts";
import { suggestName } from "../src/core/nearest.ts";
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
  const missing = names.find((name, index) => !name.startsWith("[") && index >= given.length);
  if (missing !== undefined) throw new UserError(`${missing} is missing`);
  const extra = given[names.length];
  if (extra !== undefined && !names.at(-1)?.includes("…")) {
    const takes = names.length === 0 ? "no arguments" : names.join(" ");
    throw new UserError(`unexpected argument "${extra}": only flags and ${takes} are allowed`);
  }
}

/** Runs one command. @returns The exit code. */
async function runCommand(name: string, args: readonly string[]): Promise<number> {
  const entry = COMMANDS[name];
  if (entry === undefined) throw new UserError("the command is not registered");
  const { command } = await entry.load();
  const { flags, positionals } = parseFlags(args, flagsOf(command));
  if (flags.help === true) {
    console.log(helpOf(name, command));
    return 0;
  }
  checkPositionals(positionals, command.positionals);
  const outcome = await command.run(flags, positionals);
  console.log(flags.json === true ? JSON.stringify(outcome.document) : outcome.text);
  return outcome.exitCode ?? 0;
}

function reportError(where: string, error: unknown): number {
  if (error instanceof Deno.errors.BrokenPipe) return 0; // The reader of stdout has seen enough.
  if (error instanceof UserError || error instanceof DeviceLostError) {
    console.error(`${where}: ${error.message}`);
    return error instanceof UserError ? error.exitCode : 1;
  }
  console.error(error instanceof Error ? error.stack : error);
  console.error(
    `${where}: this is a mistake in agentrl; please report it with the command and the lines above.`,
  );
  return 1;
}

/**
 * Runs the command line.
 *
 * @param args The arguments after `agentrl`.
 * @returns The exit code: 0, 1 where the result is bad, 2 where the input is.
 */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    console.error(overview());
    return 2;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    console.log(overview());
    return 0;
  }
  try {
    if (!Object.hasOwn(COMMANDS, name)) {
      const known = [...Object.keys(COMMANDS), "test"];
      const kind = name.startsWith("-") ? "flag before the command" : "command";
      throw new UserError(`unknown ${kind} "${name}": ${suggestName(name, known)}`);
    }
    return await runCommand(name, rest);
  } catch (error) {
    return reportError(Object.hasOwn(COMMANDS, name) ? `agentrl ${name}` : "agentrl", error);
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
