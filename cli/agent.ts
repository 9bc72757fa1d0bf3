/** The agent of a command: the weights in a checkpoint, or the base agent of the debugging runs, cloned with a bar. */
import type { Commands } from "../src/gpu/commands.ts";
import type { CompiledGym } from "../src/gym/compiled.ts";
import { type ModelConfig, TINY_AGENT } from "../src/model/config.ts";
import { CLONING, makeBaseAgent, RL_BASE_SEED } from "../src/rl/base_agent.ts";
import { readAgent } from "../src/run/agent_file.ts";
import { stderrProgress } from "../src/files/progress.ts";

/** A model and its weights [W]. */
export interface Agent {
  readonly config: ModelConfig;
  readonly weights_W: Float32Array<ArrayBuffer>;
}

/**
 * Reads the agent, or clones it (about ten seconds).
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
  using progress = stderrProgress({ label: "clone base", total: CLONING.steps, alreadyDone: 0 });
  const weights_W = await makeBaseAgent(commands, {
    kind: "rl",
    gym,
    seed: RL_BASE_SEED,
    onProgress: (stepsDone) => progress.update(stepsDone),
  });
  return { config: TINY_AGENT, weights_W };
}
