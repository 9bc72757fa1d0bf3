/** Help texts: the overview of all commands, and that of one command. The program's name is written as the user calls it. */
import denoConfig from "../deno.json" with { type: "json" };
import { wrapText } from "../src/core/wrap_text.ts";
import { terminalColumns } from "../src/files/terminal.ts";
import { asCalled } from "./called_as.ts";
import type { Command } from "./command.ts";
import { COMMON_FLAGS, type Flags, formatFlags, formatTable } from "./flags.ts";
import { LAUNCHER_COMMANDS } from "./launcher_commands.ts";
import { COMMAND_GROUPS, COMMANDS } from "./registry.ts";

/** A help text with the name as it was called; a path that is too long for a line of it gives way to the bare name. */
export function helpAsCalled(text: string, calledAs: string): string {
  const lines = asCalled(text, calledAs).split("\n");
  const isTooWide = lines.some((line) =>
    line.includes(calledAs) && line.length > terminalColumns()
  );
  return isTooWide ? asCalled(text, "agentrl") : lines.join("\n");
}

/** Every command that can be called. */
export function allNames(): string[] {
  return [...Object.keys(COMMANDS), ...Object.keys(LAUNCHER_COMMANDS)];
}

/** The commands in their groups. */
export function overview(): string {
  const groups = [...COMMAND_GROUPS, {
    title: "The program itself",
    commands: LAUNCHER_COMMANDS,
  }].map(({ title, commands }) => ({
    title,
    rows: Object.entries(commands).map(([name, { summary }]) => [name, summary] as const),
  }));
  const names = groups.flatMap(({ rows }) => rows.map(([name]) => name));
  const title =
    `agentrl ${denoConfig.version}: why the reinforcement learning of an agent went wrong`;
  return [
    ...wrapText(title, { columns: terminalColumns() }),
    "",
    "Usage: cli/agentrl COMMAND [flags]",
    ...groups.flatMap(({ title, rows }) => ["", `${title}:`, ...formatTable(rows, { names })]),
    "",
    "cli/agentrl help COMMAND explains a command.",
  ].join("\n");
}

/** The command's flags, then the common ones that it does not declare itself. */
export function flagsOf(command: Command): Flags {
  return { ...command.flags, ...COMMON_FLAGS, ...command.flags };
}

/** The help text of a command with a module. */
export function helpOf(name: string, command: Command): string {
  const usage = ["cli/agentrl", name, ...(command.positionals ?? []), "[flags]"].join(" ")
    .replaceAll(/(\w)\|(?=\w)/g, "$1 | ");
  const title = `agentrl ${name}: ${COMMANDS[name]?.summary}`;
  return [
    ...wrapText(title, { columns: terminalColumns() }),
    "",
    ...wrapText(`Usage: ${usage}`, { columns: terminalColumns(), hanging: 2 }),
    "",
    ...formatFlags(flagsOf(command)),
  ].join("\n");
}
