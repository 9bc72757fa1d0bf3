/** Environments of processes: a program in any language, or a module in a Deno of its own that may read its folder. */
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UserError } from "../core/errors.ts";
import { commandLine } from "../core/shell_words.ts";
import { asUserError } from "../files/file_error.ts";
import { exists } from "../files/paths.ts";
import { MAX_JSON_BYTES, readText } from "../files/read_file.ts";
import { EnvironmentPool, type PoolOptions } from "./environment_pool.ts";

/** What a module may be given beyond reading its folder, as Deno calls it. */
export const PERMISSIONS = ["net", "read", "write", "env", "run", "sys", "ffi", "import"] as const;

/** Values of each permission, such as hosts; the value `all` alone stands for everything. */
export type Permissions = Readonly<Partial<Record<typeof PERMISSIONS[number], readonly string[]>>>;

/** How the processes are run. */
export type ProcessOptions = Pick<PoolOptions, "processes" | "timeoutMs" | "onRemark">;

/** The folder of this program's own sources. */
const OWN_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

/** What a module that imports this library needs to read of it. */
const OWN_PARTS = ["mod.ts", "report.ts", "src", "shaders"];

/**
 * The configuration by which a module's imports are understood: that of its own project where it says where this library is,
 * else that of this program, which does.
 */
function configurationOf(folder: string): string {
  for (let place = folder;; place = dirname(place)) {
    for (const name of ["deno.json", "deno.jsonc"]) {
      const path = resolve(place, name);
      if (!exists(path)) continue;
      return /"agentrl"\s*:/.test(readText(path, { maxBytes: MAX_JSON_BYTES }))
        ? path
        : `${OWN_FOLDER}deno.json`;
    }
    if (dirname(place) === place) return `${OWN_FOLDER}deno.json`;
  }
}

/** A permission as Deno's flag. */
function permissionFlag(name: string, values: readonly string[]): string {
  if (values.includes("all")) return `--allow-${name}`;
  return `--allow-${name}=${values.join(",")}`;
}

function moduleCommand(
  path: string,
  { source, permissions }: { readonly source: string; readonly permissions: Permissions },
): string[] {
  const folder = dirname(path);
  const own = [folder, ...OWN_PARTS.map((part) => `${OWN_FOLDER}${part}`)];
  const allowed: Permissions = {
    ...permissions,
    read: [...own, ...permissions.read ?? []],
  };
  return [
    Deno.execPath(),
    "run",
    "--quiet",
    "--no-prompt",
    "--no-check",
    // A module's own packages are in no lock file of ours, and its project's is not to be written.
    "--no-lock",
    `--config=${configurationOf(folder)}`,
    ...Object.entries(allowed).flatMap(([name, values]) =>
      values.length > 0 ? [permissionFlag(name, values)] : []
    ),
    fileURLToPath(new URL("environment_host.ts", import.meta.url)),
    pathToFileURL(path).href,
    source,
  ];
}

/**
 * Opens the environment that a module's default export defines. It is played in processes of Deno that may read the module's
 * folder and nothing else; one that ends by itself, or does not answer in time, ends the work.
 *
 * Starting them needs the permission to run programs.
 *
 * @param file The module.
 * @param options.permissions What else it may do.
 * @throws {UserError} When it cannot be loaded, or its definition is not as required.
 */
export async function openModuleEnvironment(
  file: string,
  { permissions = {}, ...options }: ProcessOptions & { readonly permissions?: Permissions } = {},
): Promise<EnvironmentPool> {
  const attempt = `Cannot use the environment ${file}`;
  if (!exists(file)) throw new UserError(`${attempt}: there is no such file`);
  const path = realPath(file, attempt);
  if (!Deno.statSync(path).isFile) throw new UserError(`${attempt}: it is not a file`);
  if (dirname(path).includes(",")) {
    throw new UserError(
      `${attempt}: Deno takes the comma in its path for the end of a name; give it a folder without one`,
    );
  }
  const words = moduleCommand(path, { source: file, permissions });
  return await EnvironmentPool.open({ ...options, source: file, words, crashesInRow: 1 });
}

function realPath(file: string, attempt: string): string {
  try {
    return Deno.realPathSync(file);
  } catch (error) {
    throw asUserError(error, attempt);
  }
}

/**
 * Opens the environment that a program plays, in any language (the protocol: environment_protocol.ts). A process that ends, or
 * does not answer in time, loses the episode that causes it and is started again.
 *
 * @param words Program and arguments.
 * @throws {UserError} When it cannot be started, does not speak the protocol, or its environment is not as required.
 */
export async function openProgramEnvironment(
  words: readonly string[],
  options: ProcessOptions = {},
): Promise<EnvironmentPool> {
  return await EnvironmentPool.open({ ...options, source: commandLine(words), words });
}
