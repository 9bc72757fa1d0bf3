/**
 * What a turn of 64 episodes costs in environments of other processes, beyond decoding: docs/environments.md quotes it.
 * Usage: cli/agentrl deno run -A tests/sandbox/turn_overhead.ts
 */
import { fileURLToPath } from "node:url";
import type { EnvironmentDefinition } from "../../src/gym/environment_definition.ts";
import { median } from "../../src/core/statistics.ts";
import {
  openModuleEnvironment,
  openProgramEnvironment,
} from "../../src/sandbox/module_environment.ts";

const EPISODES = 64;
const ROUNDS = 200;

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

/** Milliseconds from the calls of all episodes to the answer to the last. */
async function turnMs({ create, words }: EnvironmentDefinition, call: string): Promise<number> {
  const environments = await Promise.all(Array.from({ length: EPISODES }, () => create()));
  const tokens = call.split(" ").map((word) => words.indexOf(word));
  const times_N: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(environments.map((environment) => environment.reset(0)));
    const beginMs = performance.now();
    await Promise.all(environments.map((environment) => environment.step(tokens)));
    times_N.push(performance.now() - beginMs);
  }
  return median(times_N);
}

for (const processes of [1, 2]) {
  await using python = await openProgramEnvironment([
    "python3",
    fileOf("environments/higher_lower.py"),
  ], {
    processes,
  });
  await using module = await openModuleEnvironment(fileOf("three_doors.ts"), { processes });
  const programMs = await turnMs(python.definition, "3");
  const moduleMs = await turnMs(module.definition, "ask");
  console.log(
    `${processes} processes, a turn of ${EPISODES} episodes: Python ${programMs.toFixed(2)} ms, ` +
      `a module ${moduleMs.toFixed(2)} ms`,
  );
}
