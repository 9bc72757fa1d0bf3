/** `agentrl base`: clones a base agent, the point from which reinforcement learning starts, and measures it. */
import { UserError } from "../../src/core/errors.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import type { Split } from "../../src/gym/task.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { createParameters, hashWeights } from "../../src/model/parameters.ts";
import {
  BASE_AGENTS,
  CLONING,
  type DemonstrationMix,
  makeBaseAgent,
} from "../../src/rl/base_agent.ts";
import { BUGFIX_RULES, bugFixGoal } from "../../src/rollout/bugfix_source.ts";
import { evaluateAgent } from "../../src/rollout/evaluate.ts";
import { rolloutStats } from "../../src/rollout/rollout_stats.ts";
import { requireOutput } from "../../src/files/output.ts";
import { writeCheckpoint } from "../../src/run/checkpoint.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { environmentKind, makeEnvironmentBase } from "../environment_base.ts";
import { ENVIRONMENT_FLAGS, openEnvironment } from "../environment_flag.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { STATS_HEADER, statsRow } from "../stats_table.ts";
import { formatColumns } from "../table.ts";

/** Episodes of a task from which the table is measured. */
const EPISODES_PER_TASK = 16;

const SPLITS: Readonly<Record<Split, number>> = BUGFIX_RULES.tasks;

/** `reader:4:0.4` as a share of the demonstrations. */
function parseMix(text: string): DemonstrationMix {
  const [, policy, count, probability] =
    /^(random|blind|reader|oracle):(\d{1,4})(?::(0(?:\.\d+)?|1(?:\.0+)?))?$/.exec(text) ?? [];
  const isReader = policy === "reader";
  if (policy === undefined || Number(count) === 0 || (probability !== undefined && !isReader)) {
    throw new UserError(
      `--mix ${text}: it must be random, blind, oracle or reader, a colon and the episodes of a task, such as ` +
        "blind:8; a reader may add how often its edit is right, such as reader:4:0.4",
    );
  }
  return {
    policy: policy as DemonstrationMix["policy"],
    episodesPerTask: Number(count),
    ...(probability !== undefined && { rightProbability: Number(probability) }),
  };
}

/** Cloning with a bar; an untrained agent needs none. */
async function makeAgent(
  commands: Commands,
  options: Omit<Parameters<typeof makeBaseAgent>[1], "onProgress">,
) {
  using progress = stderrProgress({ label: "clone", total: CLONING.steps, alreadyDone: 0 });
  return await makeBaseAgent(commands, {
    ...options,
    onProgress: (stepsDone) => progress.update(stepsDone),
  });
}

/** The command `base`. */
export const command = defineCommand({
  flags: {
    kind: {
      kind: "string",
      choices: ["plain", "rl", "untrained", "cloned"],
      help: "plain: for the chapter6 gym; rl: for the rl gym; untrained: initial weights; " +
        "cloned, with --env only and the default there: from the environment's demonstrations",
    },
    out: { kind: "string", required: true, help: "file to write the weights to" },
    mix: {
      kind: "list",
      help: "other demonstrations, POLICY:COUNT of each task: random:8, blind:8, oracle:2, " +
        "reader:4:0.4 (its edit is right 4 times in 10)",
    },
    ...ENVIRONMENT_FLAGS,
    ...GPU_FLAGS,
  },
  async run(
    { kind, out, mix: mixTexts, seed, requireGpu, ...flags },
    _positionals,
    machine = THIS_MACHINE,
  ) {
    const mix = mixTexts.map(parseMix);
    await using given = await openEnvironment(flags);
    if (given !== undefined) {
      const own = environmentKind(kind, given.definition);
      if (mix.length > 0) throw new UserError("--mix is of the gym: leave it out with --env");
      requireOutput(out);
      const commands = await machine.openCommands({ requireGpu });
      return await makeEnvironmentBase(commands, given.definition, { kind: own, out, seed });
    }
    if (kind === undefined || kind === "cloned") {
      throw new UserError("--kind must be plain, rl or untrained; cloned needs --env");
    }
    if (kind === "untrained" && mix.length > 0) {
      throw new UserError("--mix has no effect on --kind untrained, which imitates nothing");
    }
    requireOutput(out);
    const { preset } = BASE_AGENTS[kind];
    const commands = await machine.openCommands({ requireGpu });
    const gym = compileGym(openGym(), preset);
    const weights_W = await makeAgent(commands, {
      kind,
      gym,
      seed,
      ...(mix.length > 0 && { mix }),
    });
    writeCheckpoint(out, { config: TINY_AGENT, weights_W, step: 0 });
    const parameters = createParameters(commands, TINY_AGENT, weights_W);
    const statsOf = async (split: Split) => {
      const episodes = EPISODES_PER_TASK * SPLITS[split];
      const request = { source: bugFixGoal(gym), split, episodes, seed };
      return rolloutStats((await evaluateAgent(commands, parameters, request)).trajectories);
    };
    const train = await statsOf("train");
    const heldout = await statsOf("heldout");
    const weightsHash = await hashWeights(weights_W);
    const lines = [
      ...formatTable([
        ["base agent", `${kind}, seed ${seed}, in the ${preset} gym`],
        ["weights", `${weightsHash.slice(0, 16)}… in ${out}`],
        ["adapter", adapterName(commands.gpu)],
      ]),
      "",
      ...formatColumns(STATS_HEADER, [statsRow("train", train), statsRow("heldout", heldout)], {
        indent: 2,
      }),
    ];
    return {
      document: { kind, preset, seed, out, weightsHash, train, heldout },
      text: lines.join("\n"),
    };
  },
});
