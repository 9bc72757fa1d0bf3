/** The agent of a command: the weights in a checkpoint, or the base agent of the debugging runs, cloned once and kept. */
import { createHash } from "node:crypto";
import denoConfig from "../deno.json" with { type: "json" };
import { UserError } from "../src/core/errors.ts";
import type { Commands } from "../src/gpu/commands.ts";
import type { CompiledGym } from "../src/gym/compiled.ts";
import { type ModelConfig, TINY_AGENT } from "../src/model/config.ts";
import { BASE_AGENTS, CLONING, makeBaseAgent, RL_BASE_SEED } from "../src/rl/base_agent.ts";
import {
  environmentModel,
  makeEnvironmentAgent,
  type OpenedEnvironment,
} from "../src/rl/environment_agent.ts";
import { readAgent } from "../src/run/agent_file.ts";
import { type Checkpoint, writeCheckpoint } from "../src/run/checkpoint.ts";
import { asUserError } from "../src/files/file_error.ts";
import { exists } from "../src/files/paths.ts";
import { stderrProgress } from "../src/files/progress.ts";

/** A model and its weights [W]. */
export interface Agent {
  readonly config: ModelConfig;
  readonly weights_W: Float32Array<ArrayBuffer>;
}

/**
 * Where the base agent is kept. Its name has a hash of all that decides its bits.
 *
 * @param adapter The adapter's description.
 * @returns undefined where the launcher names no folder: then it is kept nowhere.
 */
export function keptAgentPath(adapter: string): string | undefined {
  const folder = Deno.env.get("AGENTRL_AGENTS");
  if (!folder) return undefined;
  const settings = {
    ...BASE_AGENTS.rl,
    cloning: CLONING,
    model: TINY_AGENT,
    adapter,
    os: Deno.build.os,
    deno: Deno.version.deno,
    agentrl: denoConfig.version,
  };
  const hash = createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
  return `${folder}/rl-${RL_BASE_SEED}-${hash}.safetensors`;
}

/** The agent in a file that an earlier command kept; undefined where there is none that is whole. */
function readKept(path: string | undefined): Checkpoint | undefined {
  try {
    return path !== undefined && exists(path) ? readAgent(path) : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Keeps the agent for later commands. Where that cannot be, they clone it again. */
function keep(path: string, { config, weights_W }: Agent): void {
  try {
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    writeCheckpoint(path, { config, weights_W, step: 0 });
  } catch (error) {
    if (!(asUserError(error, path) instanceof UserError)) throw error;
  }
}

/**
 * Reads the agent, or clones it, which takes about ten seconds the first time.
 *
 * @param checkpoint The file; undefined: the base agent.
 * @param gym Compiled for the `rl` preset.
 * @throws {UserError} When the file cannot be used.
 */
export async function agentOf(
  checkpoint: string | undefined,
  { commands, gym }: { readonly commands: Commands; readonly gym: CompiledGym },
): Promise<Agent> {
  if (checkpoint !== undefined) return readAgent(checkpoint);
  const path = keptAgentPath(commands.gpu.adapter.description);
  const kept = readKept(path);
  if (kept !== undefined) return kept;
  using progress = stderrProgress({ label: "clone base", total: CLONING.steps, alreadyDone: 0 });
  const weights_W = await makeBaseAgent(commands, {
    kind: "rl",
    gym,
    seed: RL_BASE_SEED,
    onProgress: (stepsDone) => progress.update(stepsDone),
  });
  const agent = { config: TINY_AGENT, weights_W };
  if (path !== undefined) keep(path, agent);
  return agent;
}

/**
 * The agent of a command in an environment of a user's: read, or cloned from its demonstrations, or untrained where it has none.
 *
 * @throws {UserError} When the file cannot be used, or a demonstration is not as required.
 */
export async function environmentAgentOf(
  checkpoint: string | undefined,
  { commands, environment, seed }: {
    readonly commands: Commands;
    readonly environment: OpenedEnvironment;
    readonly seed: number;
  },
): Promise<Agent> {
  const { definition, source } = environment;
  if (checkpoint !== undefined) return readAgent(checkpoint, source);
  const kind = definition.demonstration === undefined ? "untrained" : "cloned";
  return {
    config: environmentModel(definition),
    weights_W: await makeEnvironmentAgent(commands, { environment, kind, seed }),
  };
}
