/** `agentrl base` in an environment of a user's: the agent is cloned from its demonstrations, and measured. */
import { UserError } from "../src/core/errors.ts";
import type { Commands } from "../src/gpu/commands.ts";
import type { EnvironmentDefinition } from "../src/gym/environment_definition.ts";
import { createParameters, hashWeights } from "../src/model/parameters.ts";
import { stderrProgress } from "../src/files/progress.ts";
import type { Split } from "../src/gym/task.ts";
import { CLONING } from "../src/rl/base_agent.ts";
import {
  environmentModel,
  makeEnvironmentAgent,
  openForTraining,
} from "../src/rl/environment_agent.ts";
import { evaluateAgent } from "../src/rollout/evaluate.ts";
import { writeCheckpoint } from "../src/run/checkpoint.ts";
import type { Outcome } from "./command.ts";
import { environmentStats, STATS_COLUMNS, statsColumns } from "./environment_eval.ts";
import { formatTable } from "./flags.ts";
import { adapterName } from "./gpu.ts";
import { formatColumns } from "./table.ts";

/** Episodes from which a split is measured: as many a task as in the gym, and no more than all of its training tasks have. */
const EPISODES_PER_TASK = 16;
const MOST_EPISODES = 320;

/** The kinds of agents in an environment. */
type Kind = "cloned" | "untrained";

/** The kind that is meant. @throws {UserError} When it is one of the gym's, or nothing can be cloned. */
export function environmentKind(
  kind: string | undefined,
  { name, demonstration }: EnvironmentDefinition,
): Kind {
  const chosen = kind ?? "cloned";
  if (chosen !== "cloned" && chosen !== "untrained") {
    throw new UserError(
      `--kind ${chosen} is an agent of the gym; in the environment ${name} it is cloned or untrained`,
    );
  }
  if (chosen === "untrained" || demonstration !== undefined) return chosen;
  throw new UserError(
    `--kind cloned needs demonstrations, and the environment ${name} has none; ask for --kind untrained`,
  );
}

/** Clones, writes and measures the agent. */
export async function makeEnvironmentBase(
  commands: Commands,
  definition: EnvironmentDefinition,
  { kind, out, seed }: { readonly kind: Kind; readonly out: string; readonly seed: number },
): Promise<Outcome> {
  const environment = await openForTraining(definition);
  const { source } = environment;
  const config = environmentModel(definition);
  using progress = stderrProgress({ label: "clone", total: CLONING.steps, alreadyDone: 0 });
  const weights_W = await makeEnvironmentAgent(commands, {
    environment,
    kind,
    seed,
    onProgress: (stepsDone) => progress.update(stepsDone),
  });
  writeCheckpoint(out, { config, weights_W, step: 0 });
  const parameters = createParameters(commands, config, weights_W);
  const splits = (["train", "heldout"] as const).filter((split) => source.tasks[split] > 0);
  const stats = new Map<Split, ReturnType<typeof environmentStats>>();
  for (const split of splits) {
    const episodes = Math.min(EPISODES_PER_TASK * source.tasks[split], MOST_EPISODES);
    const { trajectories } = await evaluateAgent(commands, parameters, {
      source,
      split,
      episodes,
      seed,
    });
    stats.set(split, environmentStats(trajectories, source));
  }
  const weightsHash = await hashWeights(weights_W);
  return {
    document: {
      environment: source.name,
      kind,
      seed,
      out,
      weightsHash,
      train: stats.get("train") ?? null,
      heldout: stats.get("heldout") ?? null,
    },
    text: [
      ...formatTable([
        ["base agent", `${kind}, seed ${seed}, in the environment ${source.name}`],
        ["weights", `${weightsHash.slice(0, 16)}… in ${out}`],
        ["adapter", adapterName(commands.gpu)],
      ]),
      "",
      ...formatColumns(STATS_COLUMNS, Array.from(stats, ([split, s]) => statsColumns(split, s)), {
        indent: 2,
      }),
    ].join("\n"),
  };
}
