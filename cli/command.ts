/** What a command is: a summary, flags as data, and a function that returns plain data and its text. */
import type { Style } from "./style.ts";
import type { Commands } from "../src/gpu/commands.ts";
import type { COMMON_FLAGS, Flags, FlagValues } from "./flags.ts";
import type { GpuFlags } from "./gpu_layout.ts";

/** Words of a result that stand out on a terminal with colours: what is violated or fails. */
export interface Emphasis {
  /** With the flag `g`. */
  readonly pattern: RegExp;
  readonly style: Style;
}

/** What a command hands back. Progress and remarks go to stderr while it runs. */
export interface Outcome {
  /** Printed on stdout with `--json`: plain data, keys in camelCase. */
  readonly document: unknown;
  /** Printed on stdout without `--json`. */
  readonly text: string;
  /** What stands out in `text`. */
  readonly emphasis?: readonly Emphasis[];
  /** True where `text` has colours: then its writer has spelled out what others wrote in it. */
  readonly isStyled?: true;
  /**
   * 0 by default; 1: the result is bad (a violated check, NaN log-probs); 3: a run has something violated; 129, 130, 143: stopped by
   * that signal, work saved.
   */
  readonly exitCode?: 0 | 1 | 3 | 129 | 130 | 143;
}

/** What a command takes from the machine. Commands that run one after the other in a process may share a device. */
export interface Machine {
  /** Opens the device that the flags ask for. */
  readonly openCommands: (flags: GpuFlags) => Promise<Commands>;
}

/** One command of `agentrl`, in the file `cli/commands/NAME.ts`. */
export interface Command<F extends Flags = Flags> {
  /** The command's own flags; `--json`, `--seed` and `--help` are added where they are not declared here. */
  readonly flags: F;
  /** Names of the positional arguments; one in brackets may be left out, and a last one that ends in `…` repeated. */
  readonly positionals?: readonly string[];
  /** What the positional arguments are chosen from, for the completion of shells; left out where they are paths. */
  readonly choices?: readonly string[];
  /** Does the work; on the machine of its own process where no other is given. */
  run(
    flags: FlagValues<F & Omit<typeof COMMON_FLAGS, keyof F>>,
    positionals: readonly string[],
    machine?: Machine,
  ): Promise<Outcome>;
}

/**
 * Types a command's `run` by its flags.
 *
 * @param command The command.
 * @returns The same object, in the form that the registry holds.
 */
export function defineCommand<const F extends Flags>(command: Command<F>): Command {
  return command;
}
