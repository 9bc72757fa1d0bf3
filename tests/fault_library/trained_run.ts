/** One training run by sources in which a fault may be planted. */
import type { Gpu } from "../../src/gpu/device.ts";
import { ownKernels } from "./shared_gpu.ts";

/** What is trained. */
export interface RunRequest {
  /** `key=value` each, as `--set` takes them. */
  readonly settings: readonly string[];
  readonly seed: number;
  readonly steps: number;
  /** The base agent's checkpoint, or a kind that `--base` takes. */
  readonly base: string;
  /** Stopped after so many steps and resumed. */
  readonly resumeAt?: number | undefined;
}

/** How a run ended. */
export interface RunEnd {
  /** The sentence with which it ended early; undefined where all steps were done. */
  readonly ended: string | undefined;
}

/** What of the sources makes a run: the modules of the project, or those of a copy. */
interface TrainingModules {
  readonly Commands: typeof import("../../src/gpu/commands.ts").Commands;
  readonly resolveConfig: typeof import("../../src/rl/config.ts").resolveConfig;
  readonly settings: typeof import("../../src/run/run_settings.ts");
  readonly directory: typeof import("../../src/run/run_directory.ts");
  readonly runTraining: typeof import("../../src/run/training_run.ts").runTraining;
}

async function loadModules(folder: string): Promise<TrainingModules> {
  const load = (file: string) => import(`file://${Deno.realPathSync(folder)}/src/${file}`);
  const [{ Commands }, { resolveConfig }, settings, directory, { runTraining }] = await Promise.all(
    [
      "gpu/commands.ts",
      "rl/config.ts",
      "run/run_settings.ts",
      "run/run_directory.ts",
      "run/training_run.ts",
    ].map(load),
  );
  return { Commands, resolveConfig, settings, directory, runTraining };
}

/** Of these runs the metrics are read, and the last weights. */
const LEAN = ["episodesEvery=0", "checkpointEvery=0"];

/**
 * Makes a run in a folder; what was there is replaced. Violated invariants are written down and end nothing.
 *
 * @param path The folder of the run.
 * @param options.sources The folder of the sources, loaded now or as they were when they were loaded first.
 * @throws {Error} When a run ends otherwise than with a sentence for its user.
 */
export async function trainRun(
  path: string,
  { gpu, sources, request }: {
    readonly gpu: Gpu;
    readonly sources: string;
    readonly request: RunRequest;
  },
): Promise<RunEnd> {
  const { settings: sets, seed, base, steps, resumeAt } = request;
  const { Commands, resolveConfig, settings, directory, runTraining } = await loadModules(sources);
  const commands = new Commands(ownKernels(gpu));
  Deno.mkdirSync(path, { recursive: true });
  Deno.removeSync(path, { recursive: true });
  const config = resolveConfig({
    flags: { seed, steps: resumeAt ?? steps },
    sets: [...LEAN, ...sets],
  });
  const adapter = gpu.adapter.description;
  const source = settings.baseSource(base, config);
  let stored = { config, base: source, bug: null, baseHash: null, adapter } as Parameters<
    typeof settings.writeSettings
  >[1];
  const run = async (resume: boolean) => {
    using opened = directory.openRunDirectory(path, { resume });
    settings.writeSettings(opened.config, stored);
    await runTraining({ commands, directory: opened, settings: stored, ignoreChecks: true });
  };
  try {
    await run(false);
    if (resumeAt === undefined) return { ended: undefined };
    const { config: file } = directory.runPaths(path);
    stored = settings.resumeSettings(settings.readSettings(file), {
      sources: { flags: { steps } },
      base: undefined,
      bug: undefined,
      path,
    });
    await run(true);
    return { ended: undefined };
  } catch (error) {
    // A copy has an error class of its own.
    if (error instanceof Error && error.constructor.name === "UserError") {
      return { ended: error.message };
    }
    throw error;
  }
}
