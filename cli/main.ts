/** The command line: finds the command, parses its flags, prints its outcome, and turns errors into exit codes. */
import denoConfig from "../deno.json" with { type: "json" };
import { DeviceLostError, UserError } from "../src/core/errors.ts";
import { suggestName } from "../src/core/nearest.ts";
import { escapeControls, escapeLines, oneSentence } from "../src/core/sentence.ts";
import { asUserError } from "../src/files/file_error.ts";
import { remark, writeText } from "../src/files/terminal.ts";
import type { Command } from "./command.ts";
import { COMMON_FLAGS, type Flags, formatFlags, formatTable, parseFlags } from "./flags.ts";
import { COMMAND_GROUPS, COMMANDS } from "./registry.ts";
import { PROGRAM, say } from "./words.ts";

/** What has no module of its own: the launcher's commands, and what is about all the others. */
const LAUNCHER_COMMANDS: readonly (readonly [name: string, summary: string])[] = [
  ["test", "the test suite; further arguments go to `deno test`"],
  ["completion", 'for bash and zsh: eval "$(cli/agentrl completion)"'],
  ["deno", "the Deno that runs all this, with the arguments given"],
];

/** Every command that can be called. */
function allNames(): string[] {
  return [...Object.keys(COMMANDS), ...LAUNCHER_COMMANDS.map(([own]) => own)];
}

function overview(): string {
  const groups = COMMAND_GROUPS.map(({ title, commands }) => ({
    title,
    rows: Object.entries(commands).map(([name, { summary }]) => [name, summary] as const),
  }));
  const all = [...groups, { title: "The program itself", rows: LAUNCHER_COMMANDS }];
  const names = all.flatMap(({ rows }) => rows.map(([name]) => name));
  return [
    `agentrl ${denoConfig.version}: why the reinforcement learning of an agent went wrong`,
    "",
    "Usage: cli/agentrl COMMAND [flags]",
    ...all.flatMap(({ title, rows }) => ["", `${title}:`, ...formatTable(rows, { names })]),
    "",
    "cli/agentrl COMMAND --help explains a command and its flags.",
  ].join("\n");
}

/** What the launcher adds before the user's arguments: how it was called. */
const CALLED_AS = "--called-as=";

/** Hints are written as from the repository's root, and printed as the user calls the program. */
function asCalled(text: string, calledAs: string): string {
  return text.replaceAll(/(?<![\w./-])cli\/agentrl(?= )/g, () => calledAs);
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

/** Runs one command. @returns The exit code. */
async function runCommand(args: readonly string[], calledAs: string): Promise<number> {
  const [name = "", ...rest] = args;
  const entry = COMMANDS[name];
  if (entry === undefined) throw new UserError("the command is not registered");
  const { command } = await entry.load();
  const { flags, positionals } = parseFlags(rest, flagsOf(command));
  if (flags.help === true) return print(helpOf(name, command), { calledAs });
  checkPositionals(positionals, command.positionals);
  const { document, text, isStyled, exitCode = 0 } = await command.run(flags, positionals);
  return flags.json === true
    ? print(jsonLine(document), { calledAs: PROGRAM, exitCode })
    : print(isStyled ? text : escapeLines(text), { calledAs, exitCode });
}

/** Prints what a shell reads to complete commands and flags. */
async function printCompletion(args: readonly string[], calledAs: string): Promise<number> {
  const { flags, positionals } = parseFlags(args, { help: COMMON_FLAGS.help });
  checkPositionals(positionals);
  if (flags.help) {
    return print('completion of commands and flags: eval "$(cli/agentrl completion)"', {
      calledAs,
    });
  }
  const { completionScript } = await import("./completion.ts");
  const loaded = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { load }]) =>
      [name, flagsOf((await load()).command)] as const
    ),
  );
  return print(completionScript(new Map(loaded), { names: allNames() }), { calledAs });
}

/** A package that is neither in Deno's cache nor to be had, as a sentence; other errors as they are. */
function asMissingPackage(error: unknown): unknown {
  // Deno has no class for this: "Failed caching npm package 'zod@4.6.7'", then the reasons, one a line.
  if (!(error instanceof TypeError && /\bnpm package\b/.test(error.message))) return error;
  const [what = "", why = ""] = error.message.split("\n");
  return new UserError(
    `Cannot start: ${what} (${
      why.replace(/^\s*0: /, "")
    }): the first start needs the npm registry ` +
      "and a folder for Deno's cache that can be written (DENO_DIR)",
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
      `${where}: this is a mistake in agentrl; please report it with the command and the lines above.\n`,
  );
  return 1;
}

/** Runs what the arguments say, errors and all. */
async function runArguments(args: readonly string[], calledAs: string): Promise<number> {
  const [name] = args;
  if (name === undefined) {
    remark(`${asCalled(overview(), calledAs)}\n`);
    return 2;
  }
  if (name === "--help" || name === "-h" || name === "help") return print(overview(), { calledAs });
  if (name === "--version") return print(`agentrl ${denoConfig.version}`, { calledAs });
  if (name === "completion") return await printCompletion(args.slice(1), calledAs);
  if (!Object.hasOwn(COMMANDS, name)) {
    const kind = name.startsWith("-") ? "flag before the command" : "command";
    throw new UserError(`unknown ${kind} "${name}": ${suggestName(name, allNames())}`);
  }
  return await runCommand(args, calledAs);
}

/**
 * Runs the command line.
 *
 * @param args The arguments after `agentrl`; the launcher puts `--called-as=NAME` before them, the name in hints.
 * @returns The exit code: 0; 1 where the result is bad, 2 where the input is, 3 where a run has something violated, 4 where the machine fails (a full disk); 129, 130 or
 *   143 where a signal ended the work.
 */
export async function main(args: readonly string[]): Promise<number> {
  const [first = ""] = args;
  const isNamed = first.startsWith(CALLED_AS);
  const calledAs = isNamed ? first.slice(CALLED_AS.length) : PROGRAM;
  const rest = isNamed ? args.slice(1) : args;
  try {
    return await runArguments(rest, calledAs);
  } catch (error) {
    const [name = ""] = rest;
    const where = Object.hasOwn(COMMANDS, name) ? `agentrl ${name}` : "agentrl";
    return reportError(where, { error: asMissingPackage(error), calledAs });
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
