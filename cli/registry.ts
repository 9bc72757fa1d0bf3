/** Every command: its line in `agentrl --help` and how its module is loaded. A start loads one command only. */
import type { Command } from "./command.ts";

/** A command before it is loaded. */
export interface CommandEntry {
  /** One line, at most 64 characters. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** The commands by name, in the order in which a newcomer needs them. `test` is the launcher's own. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  info: {
    summary: "the WebGPU adapter, its limits and features, the versions",
    load: () => import("./commands/info.ts"),
  },
  score: {
    summary: "log-probs, entropies and logits of a batch under a checkpoint",
    load: () => import("./commands/score.ts"),
  },
  grad: {
    summary: "a loss over a batch, its gradient, weights after Adam steps",
    load: () => import("./commands/grad.ts"),
  },
  bench: {
    summary: "how fast kernels run here, after a check that they are right",
    load: () => import("./commands/bench.ts"),
  },
};
