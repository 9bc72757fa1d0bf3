/** The commands that a sweep repeats: which settings each takes, what they amount to, and the arguments that give them. */
import { UserError } from "../../src/core/errors.ts";
import { suggestName } from "../../src/core/nearest.ts";
import { FAULT_NAMES, faultConfig, type FaultName } from "../../src/faults/faults.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { CONFIG_KEYS } from "../../src/rl/config_keys.ts";
import { findCheckpoint, readAgent } from "../../src/run/agent_file.ts";
import { baseSource, isBaseKind } from "../../src/run/run_settings.ts";
import type { CellRules } from "../../src/sweep/plan.ts";
import type {
  CellSetting,
  CellSettings,
  SweepCell,
  SweepCommand,
} from "../../src/sweep/sweep_folder.ts";
import type { Command } from "../command.ts";
import { COMMON_FLAGS, flagOnCommandLine, type Flags, parseFlags } from "../flags.ts";

/** A command as cells of a sweep. */
export interface CellCommandRules extends CellRules {
  /** True: it makes no folder of its own. */
  readonly keepsResult: boolean;
  /** The arguments of a cell's process. @param isBegun True: the run goes on. */
  argumentsOf(cell: Pick<SweepCell, "settings" | "seed" | "folder">, isBegun: boolean): string[];
}

/** A value behind `=`, as `--set` and flags take it. */
function written(value: CellSetting): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What `train` takes beside the keys of the configuration. */
const TRAIN_KEYS = ["base", "bug", "gate"] as const;

function textOf(settings: CellSettings, key: string): string | undefined {
  const value = settings[key];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new UserError(`${key} is ${JSON.stringify(value)}, but must be text`);
}

function bugOf(settings: CellSettings): FaultName | undefined {
  const bug = textOf(settings, "bug");
  const known = FAULT_NAMES.find((name) => name === bug);
  if (bug === undefined || known !== undefined) return known;
  throw new UserError(`bug is "${bug}", which is not a fault: ${suggestName(bug, FAULT_NAMES)}`);
}

function gateOf({ gate = true }: CellSettings): boolean {
  if (typeof gate === "boolean") return gate;
  throw new UserError(`gate is ${JSON.stringify(gate)}, but must be true or false`);
}

/** What is asked of files once, and not for each of a hundred thousand cells. */
function remembered<T>(ask: (name: string) => T): (name: string) => T {
  const answers = new Map<string, T>();
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = ask(name);
    answers.set(name, answer);
    return answer;
  };
}

function trainRules(): CellCommandRules {
  const agentOf = remembered((named) => {
    if (isBaseKind(named)) return { file: named };
    const { path, preset } = findCheckpoint(named);
    readAgent(path); // Refused before any run begins.
    return { file: path, ...(preset && { suited: { preset } }) };
  });
  const configOf = (settings: CellSettings) =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => !TRAIN_KEYS.some((own) => own === key)),
    );
  return {
    keys: [...Object.keys(CONFIG_KEYS).filter((key) => key !== "seed"), ...TRAIN_KEYS],
    keepsResult: false,
    complete(settings) {
      const bug = bugOf(settings);
      const named = textOf(settings, "base");
      const { file, suited } = named === undefined
        ? { file: undefined, suited: undefined }
        : { suited: undefined, ...agentOf(named) };
      const config = resolveConfig({
        ...(suited && { suited }),
        flags: { ...faultConfig(bug), ...configOf(settings) },
      });
      const gate = gateOf(settings);
      return (seed) => {
        const ofSeed = { ...config, seed };
        return { ...ofSeed, base: baseSource(file, ofSeed), bug: bug ?? null, gate };
      };
    },
    argumentsOf({ settings, seed, folder }, isBegun) {
      const gate = gateOf(settings) ? [] : ["--no-gate"];
      const place = [`--out=${folder}`, "--json", ...gate];
      if (isBegun) return ["train", ...place, "--resume"];
      const { algorithm, steps, ...rest } = configOf(settings);
      const named = ["base", "bug"].flatMap((key) => {
        const value = textOf(settings, key);
        return value === undefined ? [] : [`--${key}=${value}`];
      });
      return [
        "train",
        ...place,
        ...(algorithm === undefined ? [] : [`--algo=${written(algorithm)}`]),
        ...(steps === undefined ? [] : [`--steps=${written(steps)}`]),
        `--seed=${seed}`,
        ...named,
        ...Object.entries(rest).map(([key, value]) => `--set=${key}=${written(value)}`),
      ];
    },
  };
}

/** Flags that a sweep gives itself, or that show instead of working. */
const NOT_SWEPT = ["json", "help", "seed", "out", "list", "fresh", "requireGpu"];

/** A setting as arguments: a switch, a text, or a list as several. */
function flagArguments(key: string, { value, flags }: {
  readonly value: CellSetting;
  readonly flags: Flags;
}): string[] {
  const flag = flagOnCommandLine(key);
  if (flags[key]?.kind !== "boolean") {
    const values = Array.isArray(value) ? value : [value];
    return values.map((one) => `${flag}=${written(one)}`);
  }
  if (typeof value !== "boolean") {
    throw new UserError(`${key} is ${JSON.stringify(value)}, but must be true or false`);
  }
  if (flags[key].default === true) return value ? [] : [`--no-${flag.slice(2)}`];
  return value ? [flag] : [];
}

function namesOf(value: CellSetting | undefined, key: string): string[] {
  const names = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return names.map((name) => {
    if (typeof name === "string" && /^\w+$/.test(name)) return name;
    throw new UserError(`${key} holds ${JSON.stringify(name)}, but must hold names`);
  });
}

/** A command whose settings are its flags, and whose positional arguments are a list under a name. */
function flagRules(name: string, options: {
  readonly command: Command;
  /** The setting that holds its positional arguments; undefined: it takes none. */
  readonly list?: string;
  /** Refuses names that the command does not know. */
  readonly requireNames?: (names: readonly string[]) => void;
  readonly keepsResult: boolean;
}): CellCommandRules {
  const { command, list, requireNames, keepsResult } = options;
  const flags: Flags = { ...command.flags, ...COMMON_FLAGS, ...command.flags };
  const keys = Object.keys(flags).filter((key) => !NOT_SWEPT.includes(key));
  const given = (settings: CellSettings, seed: number) => [
    ...Object.entries(settings).flatMap(([key, value]) =>
      key === list ? [] : flagArguments(key, { value, flags })
    ),
    `--seed=${seed}`,
    ...(list === undefined ? [] : namesOf(settings[list], list)),
  ];
  return {
    keys: [...keys, ...(list === undefined ? [] : [list])],
    keepsResult,
    complete(settings) {
      const { flags: values, positionals } = parseFlags(given(settings, 0), flags);
      requireNames?.(positionals);
      const swept = Object.entries(values).filter(([key]) => !NOT_SWEPT.includes(key));
      return (seed) => ({ ...Object.fromEntries(swept), seed, names: positionals });
    },
    argumentsOf({ settings, seed, folder }) {
      const place = keepsResult ? [] : [`--out=${folder}`];
      return [name, ...place, "--json", ...given(settings, seed)];
    },
  };
}

/** What a sweep's command says of its cells. Loads that command. */
export async function rulesOf(name: SweepCommand): Promise<CellCommandRules> {
  switch (name) {
    case "train":
      return trainRules();
    case "eval": {
      const { command } = await import("../commands/eval.ts");
      return flagRules(name, { command, keepsResult: true });
    }
    case "faults": {
      const { command } = await import("../commands/faults.ts");
      const { CATALOGUE_NAMES } = await import("../../src/faults/catalogue.ts");
      const requireNames = (names: readonly string[]) => {
        const unknown = names.find((one) => !CATALOGUE_NAMES.some((known) => known === one));
        if (unknown === undefined) return;
        throw new UserError(`unknown run "${unknown}": ${suggestName(unknown, CATALOGUE_NAMES)}`);
      };
      return flagRules(name, { command, list: "runs", requireNames, keepsResult: false });
    }
    case "lab": {
      const { command } = await import("../commands/lab.ts");
      const { EXPERIMENTS } = await import("../../src/lab/experiments.ts");
      const { selectExperiments } = await import("../../src/lab/lab.ts");
      const requireNames = (names: readonly string[]) => {
        selectExperiments(EXPERIMENTS, names, undefined);
      };
      return flagRules(name, { command, list: "experiments", requireNames, keepsResult: false });
    }
    default:
      return name satisfies never;
  }
}
