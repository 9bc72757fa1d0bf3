/** The command line: finds the command, parses its flags, prints its outcome, and turns errors into exit codes. */
import denoConfig from "../deno.json" with { type: "json" };
import { DeviceLostError, UserError } from "../src/core/errors.ts";
import { suggestName } from "../src/core/nearest.ts";
import { escapeControls, escapeLines, oneSentence } from "../src/core/sentence.ts";
import { asUserError } from "../src/files/file_error.ts";
import { remark, writeText } from "../src/files/terminal.ts";
import type { Machine } from "./command.ts";
import { COMMON_FLAGS, parseFlags } from "./flags.ts";
import { asCalled, splitArguments } from "./called_as.ts";
import { allNames, flagsOf, helpAsCalled, helpOf, overview } from "./help.ts";
import { LAUNCHER_COMMANDS, launcherHelp } from "./launcher_commands.ts";
import { COMMANDS } from "./registry.ts";
import { emphasized } from "./style.ts";
import { PROGRAM, say } from "./words.ts";

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

interface PrintOptions {
  readonly calledAs: string;
  readonly exitCode?: number;
}

/**
 * Prints a result.
 *
 * @param options.exitCode The command's; it stays where the reader of stdout has seen enough and is gone.
 * @throws {UserError} When stdout cannot be written otherwise.
 */
function print(text: string, { calledAs, exitCode = 0 }: PrintOptions): number {
  try {
    writeText(Deno.stdout, `${asCalled(text, calledAs)}\n`);
    return exitCode;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return exitCode;
    const failure = asUserError(error, "Cannot print the result");
    // A bad result, or the signal that ended the work, says more than the stream does.
    if (exitCode === 0 || !(failure instanceof UserError)) throw failure;
    remark(`agentrl: ${oneSentence(say(failure.sentence))}\n`);
    return exitCode;
  }
}

/** One line of JSON in which a terminal finds nothing to obey. */
function jsonLine(document: unknown): string {
  return escapeControls(JSON.stringify(document));
}

/** How a start was made. */
interface Start {
  readonly calledAs: string;
  readonly machine: Machine | undefined;
}

/** Runs one command. @returns The exit code. */
async function runCommand(
  args: readonly string[],
  { calledAs, machine }: Start,
): Promise<number> {
  const [name = "", ...rest] = args;
  const entry = COMMANDS[name];
  if (entry === undefined) throw new UserError("the command is not registered");
  const { command } = await entry.load();
  const { flags, positionals } = parseFlags(rest, flagsOf(command));
  if (flags.help === true) return printHelp(helpOf(name, command), calledAs);
  checkPositionals(positionals, command.positionals);
  const { document, text, isStyled, emphasis = [], exitCode = 0 } = await command.run(
    flags,
    positionals,
    machine,
  );
  return flags.json === true
    ? print(jsonLine(document), { calledAs: PROGRAM, exitCode })
    : print(isStyled ? text : emphasized(escapeLines(text), emphasis), { calledAs, exitCode });
}

/** Prints a help text. */
function printHelp(text: string, calledAs: string): number {
  return print(helpAsCalled(text, calledAs), { calledAs: PROGRAM });
}

function unknownCommand(name: string): UserError {
  const kind = name.startsWith("-") ? "flag before the command" : "command";
  return new UserError(`unknown ${kind} "${name}": ${suggestName(name, allNames())}`);
}

/** `agentrl help`: the overview, or what one command does. */
async function explain(args: readonly string[], start: Start): Promise<number> {
  const { calledAs } = start;
  const { flags, positionals } = parseFlags(args, { help: COMMON_FLAGS.help });
  checkPositionals(positionals, ["[COMMAND]"]);
  const name = flags.help ? "help" : positionals[0];
  if (name === undefined) return printHelp(overview(), calledAs);
  if (Object.hasOwn(LAUNCHER_COMMANDS, name)) return printLauncherHelp(name, calledAs);
  if (!Object.hasOwn(COMMANDS, name)) throw unknownCommand(name);
  return await runCommand([name, "--help"], start);
}

function printLauncherHelp(name: string, calledAs: string): number {
  const command = LAUNCHER_COMMANDS[name];
  if (command === undefined) throw unknownCommand(name);
  return printHelp(launcherHelp(name, command), calledAs);
}

/** Prints what a shell reads to complete commands and flags. */
async function printCompletion(args: readonly string[], calledAs: string): Promise<number> {
  const { flags, positionals } = parseFlags(args, { help: COMMON_FLAGS.help });
  if (flags.help) return printLauncherHelp("completion", calledAs);
  checkPositionals(positionals, ["[bash | zsh | fish]"]);
  const [shell = "bash"] = positionals;
  const { completionScript, SHELLS } = await import("./completion.ts");
  const known = SHELLS.find((name) => name === shell);
  if (known === undefined) {
    throw new UserError(`unknown shell "${shell}": ${suggestName(shell, SHELLS)}`);
  }
  const commands = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { summary, load }]) => {
      const { command } = await load();
      return { name, summary, flags: flagsOf(command), choices: command.choices ?? [] };
    }),
  );
  const others = Object.entries(LAUNCHER_COMMANDS).map(([name, { summary }]) => ({
    name,
    summary,
    flags: {},
    choices: name === "help" ? allNames() : name === "completion" ? SHELLS : [],
  }));
  return print(completionScript(known, [...commands, ...others]), { calledAs });
}

/** A package that is neither in Deno's cache nor available, as a sentence; other errors as they are. */
function asMissingPackage(error: unknown): unknown {
  // Deno has no class for this: "Failed caching npm package 'zod@4.6.7'", then the reasons, one a line.
  if (!(error instanceof TypeError && /\bnpm package\b/.test(error.message))) return error;
  const [what = "", why = ""] = error.message.split("\n");
  return new UserError(
    `Cannot start: ${what} (${
      why.replace(/^\s*0: /, "")
    }): the first start needs the npm registry ` +
      "and a writable folder for Deno's cache (DENO_DIR)",
    4,
  );
}

function reportError(where: string, { error, calledAs }: { error: unknown; calledAs: string }) {
  if (error instanceof UserError || error instanceof DeviceLostError) {
    const message = error instanceof UserError ? say(error.sentence) : error.message;
    remark(`${where}: ${oneSentence(asCalled(message, calledAs))}\n`);
    return error instanceof UserError ? error.exitCode : 1;
  }
  remark(
    `${escapeLines(String(error instanceof Error ? error.stack : error))}\n` +
      `${where}: this is a bug in agentrl; please report it with the command and the lines above.\n`,
  );
  return 1;
}

/** Runs what the arguments say, errors and all. */
async function runArguments(args: readonly string[], start: Start): Promise<number> {
  const { calledAs } = start;
  const [name, ...rest] = args;
  if (name === undefined) {
    remark(`${helpAsCalled(overview(), calledAs)}\n`);
    return 2;
  }
  if (name === "--help" || name === "-h") return printHelp(overview(), calledAs);
  if (name === "help") return await explain(rest, start);
  if (name === "--version") return print(`agentrl ${denoConfig.version}`, { calledAs });
  if (name === "completion") return await printCompletion(rest, calledAs);
  if (Object.hasOwn(COMMANDS, name)) return await runCommand(args, start);
  if (!Object.hasOwn(LAUNCHER_COMMANDS, name)) throw unknownCommand(name);
  if (["--help", "-h"].includes(rest[0] ?? "")) return printLauncherHelp(name, calledAs);
  throw new UserError(`${name} is a command of the launcher: start cli/agentrl ${name}`);
}

/**
 * Runs the command line.
 *
 * @param args The arguments after `agentrl`; the launcher puts `--called-as=NAME` before them, the name in hints.
 * @param machine What commands get in place of the machine of their process.
 * @returns The exit code: 0; 1 where the result is bad, 2 where the input is, 3 where a run has something violated, 4 where the machine fails (a full disk); 129, 130 or
 *   143 where a signal ended the work.
 */
export async function main(args: readonly string[], machine?: Machine): Promise<number> {
  const { calledAs, args: rest } = splitArguments(args);
  try {
    return await runArguments(rest, { calledAs, machine });
  } catch (error) {
    const [name = ""] = rest;
    const where = Object.hasOwn(COMMANDS, name) ? `agentrl ${name}` : "agentrl";
    return reportError(where, { error: asMissingPackage(error), calledAs });
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
