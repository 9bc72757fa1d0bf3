/** Next steps in words: the command that does one, to be copied into a shell. */
import { isRecord } from "../src/core/record.ts";
import type { FindingWords } from "../src/diagnose/finding.ts";
import type { NextStep } from "../src/diagnose/triage/next_step.ts";
import { UserError } from "../src/core/errors.ts";
import { readJson } from "../src/files/json.ts";
import { exists } from "../src/files/paths.ts";

import { checkpointPath, runPaths } from "../src/run/run_directory.ts";
import type { SettingValue } from "../src/core/mention.ts";
import { agentrlCommand, mentionWords, settingArguments } from "./words.ts";

/** A path that begins with a dash would be read as a flag. */
export function path(text: string): string {
  return text.startsWith("-") ? `./${text}` : text;
}

/** `key=value` of a configuration, as flags. */
function setFlags(config: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(config).flatMap(([key, value]) => [
    "--set",
    `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
}

function isSetting(entry: [string, unknown]): entry is [string, SettingValue] {
  const [, value] = entry;
  return Array.isArray(value)
    ? value.every((part) => typeof part === "string")
    : ["string", "number", "boolean"].includes(typeof value);
}

/**
 * The settings that name the environment of a run, as far as its folder tells. They are printed and no more, so that no schema is
 * asked: `triage` must start without any package.
 */
function environmentOf(run: string): Readonly<Record<string, SettingValue>> {
  const { config } = runPaths(run);
  try {
    const value = exists(config) ? readJson(config) : undefined;
    const environment = isRecord(value) ? value.environment : undefined;
    const settings = isRecord(environment) ? environment.settings : undefined;
    return isRecord(settings) ? Object.fromEntries(Object.entries(settings).filter(isSetting)) : {};
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}

/** The command that takes a step which triage recommends. */
export function nextCommand(next: NextStep): string {
  switch (next.kind) {
    case "replay": {
      const { run, step, replace } = next;
      const replaced = replace ? ["--replace", `${replace.stage}=${replace.fault}`] : [];
      const own = settingArguments(environmentOf(run));
      return agentrlCommand("replay", [path(run), "--step", String(step), ...own, ...replaced]);
    }
    case "train": {
      const { out, steps, config } = next;
      const length = steps === undefined ? [] : ["--steps", String(steps)];
      return agentrlCommand("train", [...length, ...setFlags(config), "--out", path(out)]);
    }
    case "evaluate": {
      const { run, steps, transcripts } = next;
      const checkpoint = ["--checkpoint", path(checkpointPath(run, steps))];
      const shown = ["--preset", "rl", "--transcripts", String(transcripts)];
      return agentrlCommand("eval", [...checkpoint, ...shown]);
    }
    case "say":
      return next.sentence;
    case "check":
      return agentrlCommand("check", ["--bug", next.fault]);
    case "make":
      return agentrlCommand("faults", [next.fault]);
    default:
      return next satisfies never;
  }
}

/** The words of the command line for what findings hold as data. */
export const COMMAND_WORDS: FindingWords = { step: nextCommand, mention: mentionWords };

/** The settings that name the environment of a run; none where it trains in the gym that ships. */
type EnvironmentSettings = Readonly<Record<string, SettingValue>>;

/** The command that takes a stopped run up again. */
export function resumeCommand(run: string, environment: EnvironmentSettings = {}): string {
  return agentrlCommand("train", [
    ...settingArguments(environment),
    "--out",
    path(run),
    "--resume",
  ]);
}

/** The commands that look at a run that has ended. */
export function lookCommands(
  run: string,
  environment?: { readonly settings: EnvironmentSettings; readonly hasHeldout: boolean },
): string[] {
  const { settings = {}, hasHeldout = true } = environment ?? {};
  return [
    agentrlCommand("triage", [path(run)]),
    agentrlCommand("report", [path(run)]),
    agentrlCommand("eval", [
      ...settingArguments(settings),
      ...["--checkpoint", path(run), ...hasHeldout ? [] : ["--split", "train"]],
      ...["--transcripts", "2"],
    ]),
  ];
}
