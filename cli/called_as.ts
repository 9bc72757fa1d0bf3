/** The program's name as the user calls it. */

import { PROGRAM } from "./words.ts";

/** What the launcher adds before the user's arguments: how it was called. */
const CALLED_AS = "--called-as=";

/** Takes the launcher's argument from the user's. */
export function splitArguments(
  args: readonly string[],
): { readonly calledAs: string; readonly args: readonly string[] } {
  const [first = "", ...rest] = args;
  return first.startsWith(CALLED_AS)
    ? { calledAs: first.slice(CALLED_AS.length), args: rest }
    : { calledAs: PROGRAM, args };
}

/** Hints are written as from the repository's root, and printed as the user calls the program. */
export function asCalled(text: string, calledAs: string): string {
  return text.replaceAll(/(?<![\w./-])cli\/agentrl(?= )/g, () => calledAs);
}
