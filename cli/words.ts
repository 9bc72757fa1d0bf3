/** The words of the command line: settings as flags, other works of the program as commands to be copied into a shell. */
import { inWords, type Mention, type Sentence, type SettingValue } from "../src/core/mention.ts";
import { commandLine } from "../src/core/shell_words.ts";
import { flagOnCommandLine } from "./flags.ts";

/** The program, as it is written in help and answers. */
export const PROGRAM = "cli/agentrl";

/** Settings whose flags are called otherwise than they are in a program. */
const FLAGS: Readonly<Record<string, string>> = {
  algorithm: "--algo",
  ignoreChecks: "--no-gate",
  requireHardware: "--require-gpu",
  sets: "--set",
};

/** The flag by which a setting is given. */
export function flagOf(name: string): string {
  return Object.hasOwn(FLAGS, name) ? FLAGS[name] : flagOnCommandLine(name);
}

/**
 * A command of this program as a line for a shell.
 *
 * @param command Its name.
 * @param args Its arguments, unquoted. One that begins with a dash is a flag: paths of the user's need `./` before it.
 */
export function agentrlCommand(command: string, args: readonly string[]): string {
  return commandLine([PROGRAM, command, ...args]);
}

/** The arguments that give a setting; none for a switch that is off. */
function argumentsOf(name: string, value: SettingValue): string[] {
  const flag = flagOf(name);
  if (typeof value === "boolean") return value ? [flag] : [];
  if (typeof value === "object") return value.flatMap((one) => [flag, one]);
  return [flag, String(value)];
}

/** The arguments that give some settings. */
export function settingArguments(settings: Readonly<Record<string, SettingValue>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => argumentsOf(name, value));
}

/** A mention as it is typed. */
export function mentionWords(mention: Mention): string {
  switch (mention.kind) {
    case "setting": {
      const { name, value } = mention;
      if (value === undefined) return flagOf(name);
      return `${flagOf(name)} ${/\s/.test(value) ? commandLine([value]) : value}`;
    }
    case "command": {
      const { name, subjects, settings } = mention;
      return agentrlCommand(name, [...subjects, ...settingArguments(settings)]);
    }
    default:
      return mention satisfies never;
  }
}

/** A sentence in the words of the command line. */
export function say(sentence: Sentence): string {
  return inWords(sentence, mentionWords);
}
