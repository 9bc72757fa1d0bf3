/** What the rollout tests share: the golden base agent on the device and the compiled gyms. */
import { Commands } from "../../src/gpu/commands.ts";
import type { PresetName } from "../../src/gym/bugfix.ts";
import { type CompiledGym, compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { createParameters, type Parameters } from "../../src/model/parameters.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { golden } from "../e2e/command_line.ts";
import { testGpu } from "../gpu/gpu_test_device.ts";

/** A trained agent that makes valid and malformed calls. */
export async function goldenAgent(): Promise<{ commands: Commands; parameters: Parameters }> {
  const commands = new Commands(await testGpu());
  const { config, weights_W } = readCheckpoint(golden("model.safetensors"));
  return { commands, parameters: createParameters(commands, config, weights_W) };
}

/** The gym under a preset. */
export function compiledGym(preset: PresetName): CompiledGym {
  return compileGym(openGym(), preset);
}
