/** The environment of a command: that of a module or a program of the user's, or none, which means the gym that ships. */
import { UserError } from "../src/core/errors.ts";
import type { SettingValue } from "../src/core/mention.ts";
import { splitWords } from "../src/core/shell_words.ts";
import type { EnvironmentDefinition } from "../src/gym/environment_definition.ts";
import {
  openModuleEnvironment,
  openProgramEnvironment,
  type Permissions,
} from "../src/sandbox/module_environment.ts";
import type { Flags, FlagValues, ListFlag } from "./flags.ts";
import { flagOf } from "./words.ts";

/** A permission of a module's process. */
function permission(help: string) {
  return { kind: "list", help: `with --env: ${help}` } as const satisfies ListFlag;
}

/** The flags that name an environment, and how its processes are run. */
export const ENVIRONMENT_FLAGS = {
  env: {
    kind: "string",
    help: "an environment of your own: a module whose default export defines it; when left " +
      "out, the gym that ships",
  },
  envCommand: {
    kind: "string",
    help: "the same in any language: a program that speaks JSON lines, such as " +
      "'python3 env.py' (docs/environments.md)",
  },
  envProcesses: {
    kind: "integer",
    min: 1,
    max: 256,
    help: "processes of the environment; results do not depend on it; when left out, one a " +
      "processor and 4 at most",
  },
  envTimeout: {
    kind: "number",
    min: 0.01,
    max: 86_400,
    help: "seconds that it may take for an answer; when left out, 60",
  },
  allowNet: permission("hosts that it may reach, or all; handed to Deno, as the next ones"),
  allowRead: permission("paths that it may read beside its own folder"),
  allowWrite: permission("paths that it may write"),
  allowEnv: permission("variables of the environment that it may read"),
  allowRun: permission("programs that it may start"),
  allowSys: permission("what it may ask of the system"),
  allowFfi: permission("native libraries that it may load"),
  allowImport: permission("hosts that it may import from"),
} as const satisfies Flags;

type EnvironmentFlags = FlagValues<typeof ENVIRONMENT_FLAGS>;

/** An environment that flags name, open until it is disposed of. */
export interface GivenEnvironment extends AsyncDisposable {
  readonly definition: EnvironmentDefinition;
  /** The flags that name it again, for the commands that a command prints. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

function permissionsOf(flags: EnvironmentFlags): Permissions {
  return {
    net: flags.allowNet,
    read: flags.allowRead,
    write: flags.allowWrite,
    env: flags.allowEnv,
    run: flags.allowRun,
    sys: flags.allowSys,
    ffi: flags.allowFfi,
    import: flags.allowImport,
  };
}

/** The flags that are given, by name. */
function givenOf(flags: EnvironmentFlags): Readonly<Record<string, SettingValue>> {
  // A command hands all of its flags.
  const given = Object.keys(ENVIRONMENT_FLAGS).flatMap((name): [string, SettingValue][] => {
    const value = flags[name as keyof EnvironmentFlags];
    return value === undefined || (Array.isArray(value) && value.length === 0)
      ? []
      : [[name, value]];
  });
  return Object.fromEntries(given);
}

/**
 * Opens the environment that flags name.
 *
 * @param flags The values of {@linkcode ENVIRONMENT_FLAGS}.
 * @returns Its definition, checked; undefined where none is named.
 * @throws {UserError} When flags contradict each other, it cannot be started, or its definition is not as required.
 */
export async function openEnvironment(
  flags: EnvironmentFlags,
): Promise<GivenEnvironment | undefined> {
  const settings = givenOf(flags);
  const { env, envCommand, envProcesses, envTimeout } = flags;
  if (env !== undefined && envCommand !== undefined) {
    throw new UserError("--env and --env-command both name an environment: give one of them");
  }
  const options = {
    processes: envProcesses,
    timeoutMs: envTimeout === undefined ? undefined : envTimeout * 1000,
  };
  if (env !== undefined) {
    const permissions = permissionsOf(flags);
    return givenBy(await openModuleEnvironment(env, { ...options, permissions }), settings);
  }
  const allowed = Object.keys(settings).find((name) => name.startsWith("allow"));
  if (allowed !== undefined) {
    throw new UserError(
      `${flagOf(allowed)} is for the module of --env: ${
        envCommand === undefined
          ? "give it, or leave the permission out"
          : "a program may do what you may, so leave it out"
      }`,
    );
  }
  if (envCommand !== undefined) {
    return givenBy(await openProgramEnvironment(splitWords(envCommand), options), settings);
  }
  const [alone] = Object.keys(settings);
  if (alone !== undefined) {
    throw new UserError(
      `${flagOf(alone)} is for an environment: name one with --env or --env-command`,
    );
  }
  return undefined;
}

function givenBy(
  pool: AsyncDisposable & Pick<GivenEnvironment, "definition">,
  settings: GivenEnvironment["settings"],
): GivenEnvironment {
  return {
    definition: pool.definition,
    settings,
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
