/** Completion for bash and zsh, from the table of commands and flags that help texts and the parser read, too. */
import { type Flags, spellingsOf } from "./flags.ts";

/** What follows a flag: one of its choices. */
function choicesOf(name: string, declared: Flags): (readonly [string, readonly string[]])[] {
  return [...spellingsOf(declared)].flatMap(([written, flagName]) => {
    const flag = declared[flagName];
    if (flag?.kind !== "string" || flag.choices === undefined) return [];
    return [[`${name} ${written}`, flag.choices] as const];
  });
}

const branch = (pattern: string, words: Iterable<string>) =>
  `    ${JSON.stringify(pattern)}) words=${JSON.stringify([...words].join(" "))} ;;`;

/**
 * The script that a shell reads once.
 *
 * @param commands The flags of every command.
 * @param options.names Every command, those of the launcher among them.
 * @returns Shell functions; where nothing is known, file names are completed.
 */
export function completionScript(
  commands: ReadonlyMap<string, Flags>,
  { names }: { readonly names: readonly string[] },
): string {
  const choices = [...commands].flatMap(([name, declared]) => choicesOf(name, declared));
  return [
    '# Completion of agentrl: eval "$(cli/agentrl completion)" in ~/.bashrc or ~/.zshrc.',
    'if [ -n "${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi',
    "_agentrl() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  local command="${COMP_WORDS[1]}"',
    '  case "$current" in -*) previous="" ;; esac',
    `  if [ "$COMP_CWORD" = 1 ]; then words=${JSON.stringify(names.join(" "))}`,
    '  else case "$command $previous" in',
    ...choices.map(([pattern, words]) => branch(pattern, words)),
    '    *) case "$current" in -*) case "$command" in',
    ...Array.from(commands, ([name, declared]) => branch(name, spellingsOf(declared).keys())),
    "    esac ;; esac ;;",
    "  esac; fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _agentrl agentrl cli/agentrl",
  ].join("\n");
}
