/** The scripts of the page, each bundled into one text by Deno's bundler, which fetches esbuild from npm once. */
import { errorText, UserError } from "../../core/errors.ts";
import { isRecord } from "../../core/record.ts";
import { keptOrMade } from "./kept.ts";
import { projectPath, sourceHash } from "./source_hash.ts";

/** Where each script begins. */
const ENTRIES = {
  page: "src/live/script/main.ts",
  worker: "src/live/worker.ts",
} as const;

/** The trainer's sources decide what a recording shows. */
export const WORKER_ENTRY: string = ENTRIES.worker;

/** Scripts as texts. */
export interface BundledScripts {
  /** The page's own. */
  readonly page: string;
  /** The trainer's. */
  readonly worker: string;
}

/** Of Deno's bundler, which its types do not have yet: what is used here. */
interface Bundler {
  (options: {
    readonly entrypoints: string[];
    readonly platform: "browser";
    readonly format: "iife";
    readonly minify: boolean;
    readonly write: false;
  }): Promise<{
    readonly success: boolean;
    readonly errors: readonly { readonly text: string }[];
    readonly outputFiles?: readonly { text(): string }[];
  }>;
}

/** Bundles one entry. @throws {UserError} When the bundler is missing and cannot be fetched. */
async function bundle(path: string): Promise<string> {
  const attempt = `Cannot make the page's scripts from ${path}`;
  const bundler = Reflect.get(Deno, "bundle") as Bundler | undefined;
  if (bundler === undefined) {
    throw new UserError(
      `${attempt}: this Deno (${Deno.version.deno}) has no bundler; use Deno 2.9.6, which the launcher installs where there is none`,
      4,
    );
  }
  try {
    const { success, errors, outputFiles: [file] = [] } = await bundler({
      entrypoints: [projectPath(path)],
      platform: "browser",
      format: "iife",
      minify: true,
      write: false,
    });
    if (success && file) return file.text();
    throw new Error(errors[0]?.text ?? "the bundler returned nothing");
  } catch (error) {
    throw new UserError(
      `${attempt}: they are bundled by esbuild, which Deno fetches from npm once (${
        errorText(error)
      }); connect to the npm registry for the first page, or name yours in NPM_CONFIG_REGISTRY`,
      4,
    );
  }
}

function isScripts(value: unknown): value is BundledScripts {
  return isRecord(value) && Object.keys(ENTRIES).every((name) => typeof value[name] === "string");
}

/**
 * The scripts of the page, from the sources as they are.
 *
 * @param folder Where they are kept; undefined: nowhere.
 * @throws {UserError} When the bundler is missing and cannot be fetched, with exit code 4.
 */
export function bundledScripts(folder: string | undefined): Promise<BundledScripts> {
  return keptOrMade({ folder, name: "scripts", hash: sourceHash(Object.values(ENTRIES)) }, {
    isWhole: isScripts,
    make: async () => ({
      page: await bundle(ENTRIES.page),
      worker: await bundle(ENTRIES.worker),
    }),
  });
}
