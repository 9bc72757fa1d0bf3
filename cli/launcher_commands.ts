/** The commands that have no module of their own: those of the launcher, and those about all the others. */
import { wrapText } from "../src/core/wrap_text.ts";
import { terminalColumns } from "../src/files/terminal.ts";
import { formatTable } from "./flags.ts";

/** Such a command. */
export interface LauncherCommand {
  /** One line, at most 64 characters. */
  readonly summary: string;
  /** What follows its name. */
  readonly usage: string;
  /** A paragraph. */
  readonly explanation: string;
  /** What can be given or typed, and what it does. */
  readonly rows: readonly (readonly [string, string])[];
}

/** The commands by name. */
export const LAUNCHER_COMMANDS: Readonly<Record<string, LauncherCommand>> = {
  help: {
    summary: "what a command does, and its flags",
    usage: "[COMMAND]",
    explanation: "The same as cli/agentrl COMMAND --help; without a command, the list of them.",
    rows: [],
  },
  test: {
    summary: "the test suite; further arguments go to `deno test`",
    usage: "[FILE…] [flags of deno test]",
    explanation: "Runs as many test files at a time as there are processors. The last line is " +
      "`N passed, N failed`; the exit code is 1 where a test fails. On Linux the first start " +
      "installs what the tests need where it may, and otherwise says what to install.",
    rows: [
      ["tests/cli", "only the tests in this folder, or file"],
      ["--filter TEXT", "only tests whose names contain it"],
      ["--fail-fast", "stop at the first failure"],
    ],
  },
  completion: {
    summary: "completion of commands and flags for bash, zsh and fish",
    usage: "[bash | zsh | fish]",
    explanation: "Prints a script that the shell reads when it starts. Without an argument it is " +
      "the one for bash and zsh.",
    rows: [
      ["~/.bashrc", 'eval "$(cli/agentrl completion bash)"'],
      ["~/.zshrc", 'eval "$(cli/agentrl completion zsh)"'],
      ["~/.config/fish/config.fish", "cli/agentrl completion fish | source"],
    ],
  },
  deno: {
    summary: "the Deno that runs all this, with the arguments given",
    usage: "[ARGUMENT…]",
    explanation: "All arguments go to Deno: cli/agentrl deno --help prints its help.",
    rows: [["deno bench -A tests/bench", "every kernel of an update, timed"]],
  },
};

/** The help text of such a command; `cli/agentrl` stands for the program. */
export function launcherHelp(name: string, command: LauncherCommand): string {
  const { summary, usage, explanation, rows } = command;
  const columns = terminalColumns();
  return [
    ...wrapText(`agentrl ${name}: ${summary}`, { columns }),
    "",
    `Usage: cli/agentrl ${name} ${usage}`,
    "",
    ...wrapText(explanation, { columns }),
    ...(rows.length === 0 ? [] : ["", ...formatTable(rows)]),
  ].join("\n");
}
