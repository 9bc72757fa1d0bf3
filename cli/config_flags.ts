/** The flags of commands that take a training configuration. */
import { type AlgorithmName, ALGORITHMS } from "../src/rl/algorithms.ts";
import { CONFIG_KEYS } from "../src/rl/config_keys.ts";
import type { Flags } from "./flags.ts";

/** The algorithm and single keys. */
export const CONFIG_FLAGS = {
  algo: {
    kind: "string",
    choices: Object.keys(ALGORITHMS) as AlgorithmName[],
    help: "the algorithm (default grpo)",
  },
  set: {
    kind: "list",
    keys: Object.keys(CONFIG_KEYS),
    help: "KEY=VALUE of the configuration, such as lr=0.001; `agentrl config` lists the keys",
  },
} as const satisfies Flags;
