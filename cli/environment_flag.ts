/** The environment of a command: that of a module of the user's, or none, which means the gym that ships. */
import { pathToFileURL } from "node:url";
import { UserError } from "../src/core/errors.ts";
import type { SettingValue } from "../src/core/mention.ts";
import { exists } from "../src/files/paths.ts";
import {
  type EnvironmentDefinition,
  requireDefinition,
} from "../src/gym/environment_definition.ts";
import type { Flags, FlagValues } from "./flags.ts";

/** The flags that name an environment. */
export const ENVIRONMENT_FLAGS = {
  env: {
    kind: "string",
    help: "an environment of your own: a module whose default export defines it; when left " +
      "out, the gym that ships",
  },
} as const satisfies Flags;

/** An environment that flags name, open until it is disposed of. */
export interface GivenEnvironment extends AsyncDisposable {
  readonly definition: EnvironmentDefinition;
  /** The flags that name it again, for the commands that a command prints. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/**
 * Opens the environment that flags name.
 *
 * @param flags The values of {@linkcode ENVIRONMENT_FLAGS}.
 * @returns Its definition, checked; undefined where none is named.
 * @throws {UserError} When it cannot be loaded, or its definition is not as required.
 */
export async function openEnvironment(
  { env }: FlagValues<typeof ENVIRONMENT_FLAGS>,
): Promise<GivenEnvironment | undefined> {
  if (env === undefined) return undefined;
  if (!exists(env)) throw new UserError(`Cannot use the environment ${env}: there is no such file`);
  const module = await loadModule(env);
  return {
    definition: requireDefinition(module.default, { source: env }),
    settings: { env },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UserError(`Cannot use the environment ${path}: it cannot be loaded: ${message}`);
  }
}
