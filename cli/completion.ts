/** Completion for shells, from the table of commands and flags that help texts and the parser read as well. */
import { type Flags, spellingsOf } from "./flags.ts";

/** The shells that are known. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** A command that a shell may complete. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: Flags;
  /** What its positional arguments are chosen from; empty where they are paths. */
  readonly choices: readonly string[];
}

/** What follows a flag: one of its choices. */
function choicesOf({ name, flags }: CompletedCommand): (readonly [string, readonly string[]])[] {
  return [...spellingsOf(flags)].flatMap(([written, flagName]) => {
    const flag = flags[flagName];
    if (flag?.kind !== "string" || flag.choices === undefined) return [];
    return [[`${name} ${written}`, flag.choices] as const];
  });
}

const branch = (pattern: string, words: Iterable<string>) =>
  `    ${JSON.stringify(pattern)}) words=${JSON.stringify([...words].join(" "))} ;;`;

/** Every flag that takes a value. */
function valueFlags(commands: readonly CompletedCommand[]): string[] {
  const flags = commands.flatMap(({ flags }) =>
    [...spellingsOf(flags)].flatMap(([written, name]) =>
      flags[name]?.kind === "boolean" ? [] : [written]
    )
  );
  return [...new Set(flags)];
}

/** For bash, and for zsh through its `bashcompinit`. */
function bashScript(commands: readonly CompletedCommand[]): string {
  const names = JSON.stringify(commands.map(({ name }) => name).join(" "));
  return [
    '# Completion of agentrl: eval "$(cli/agentrl completion)" in ~/.bashrc or ~/.zshrc.',
    // A zsh whose user has not switched completion on yet knows no compdef, which bashcompinit needs.
    'if [ -n "${ZSH_VERSION-}" ]; then',
    "  if ! whence compdef >/dev/null; then autoload -U compinit && compinit -i; fi",
    "  autoload -U +X bashcompinit && bashcompinit",
    "fi",
    "_agentrl() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words="" before=""',
    '  local command="${COMP_WORDS[1]}"',
    // bash makes three words of --algo=grpo, zsh one.
    '  case "$current" in',
    '    =) current="" ;;',
    '    --*=*) previous="${current%%=*}" before="${current%%=*}=" current="${current#*=}" ;;',
    '    -*) previous="" ;;',
    '    *) if [ "$previous" = "=" ]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi ;;',
    "  esac",
    `  if [ "$COMP_CWORD" = 1 ]; then words=${names}`,
    '  else case "$command $previous" in',
    ...commands.flatMap(choicesOf).map(([pattern, words]) => branch(pattern, words)),
    '    *) case "$current" in -*) case "$command" in',
    ...commands.map(({ name, flags }) => branch(name, spellingsOf(flags).keys())),
    `    esac ;; *) case "$previous" in ${
      valueFlags(commands).join("|")
    }) ;; *) case "$command" in`,
    ...commands.filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => branch(name, choices)),
    "    esac ;; esac ;; esac ;;",
    "  esac; fi",
    '  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _agentrl agentrl cli/agentrl",
  ].join("\n");
}

/** A text that fish takes as it is. */
const fishQuoted = (text: string) => `'${text.replaceAll(/[\\']/g, (special) => `\\${special}`)}'`;

/** One flag of a command for fish. A value that has no choices is completed as a file. */
function fishFlags({ name, flags }: CompletedCommand): string[] {
  return [...spellingsOf(flags)].map(([written, flagName]) => {
    const flag = flags[flagName];
    const choices = flag?.kind === "string" ? flag.choices : undefined;
    const value = flag === undefined || flag.kind === "boolean"
      ? ""
      : choices === undefined
      ? " -r"
      : ` -x -a ${fishQuoted(choices.join(" "))}`;
    const help = flag === undefined ? "" : ` -d ${fishQuoted(flag.help)}`;
    return `complete -c agentrl -n '__agentrl_is ${name}' -l ${written.slice(2)}${value}${help}`;
  });
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const names = (condition: string) =>
    commands.map(({ name, summary }) =>
      `complete -c agentrl -n '${condition}' -f -a ${name} -d ${fishQuoted(summary)}`
    );
  return [
    "# Completion of agentrl: cli/agentrl completion fish | source, in ~/.config/fish/config.fish.",
    "function __agentrl_is",
    "  set -l words (commandline -opc)",
    '  test (count $words) -ge 2; and test "$words[2]" = $argv[1]',
    "end",
    "function __agentrl_begins",
    "  test (count (commandline -opc)) -eq 1",
    "end",
    ...names("__agentrl_begins"),
    ...names("__agentrl_is help"),
    ...commands.filter(({ choices, name }) => name !== "help" && choices.length > 0).map((
      { name, choices },
    ) => `complete -c agentrl -n '__agentrl_is ${name}' -f -a ${fishQuoted(choices.join(" "))}`),
    ...commands.flatMap(fishFlags),
  ].join("\n");
}

/**
 * The script that a shell reads once.
 *
 * @param shell The shell.
 * @param commands Every command, those of the launcher among them.
 * @returns Shell functions; where nothing is known, file names are completed.
 */
export function completionScript(
  shell: typeof SHELLS[number],
  commands: readonly CompletedCommand[],
): string {
  switch (shell) {
    case "bash":
    case "zsh":
      return bashScript(commands);
    case "fish":
      return fishScript(commands);
    default:
      return shell satisfies never;
  }
}
