/** `agentrl eval`: how often an agent passes, how it behaves, and what it says. */
import { UserError } from "../../src/core/errors.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { openGym } from "../../src/gym/gym.ts";
import { createParameters } from "../../src/model/parameters.ts";
import { bugFixGoal } from "../../src/rollout/bugfix_source.ts";
import { environmentSource } from "../../src/rollout/environment_source.ts";
import {
  evaluateAgent,
  type Evaluation,
  type EvaluationRequest,
} from "../../src/rollout/evaluate.ts";
import { rolloutStats, rolloutStatsBy, taskOfEpisode } from "../../src/rollout/rollout_stats.ts";
import { formatTranscript } from "../../src/rollout/transcript.ts";
import { findCheckpoint, type NamedCheckpoint, readAgent } from "../../src/run/agent_file.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { requireSameEnvironment } from "../../src/run/environment_record.ts";
import { defineCommand, type Machine, type Outcome } from "../command.ts";
import { describeEnvironmentEval } from "../environment_eval.ts";
import { ENVIRONMENT_FLAGS, type GivenEnvironment, openEnvironment } from "../environment_flag.ts";
import { formatTable } from "../flags.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS, type GpuFlags } from "../gpu_layout.ts";
import { unverifiedRows } from "../verified.ts";
import { formatRate, STATS_HEADER, statsRow } from "../stats_table.ts";
import { formatColumns } from "../table.ts";

/** A row for each family, and below it one for each of its tasks. */
function familyRows(trajectories: Evaluation<BugFixInfo>["trajectories"]): string[][] {
  return Array.from(rolloutStatsBy(trajectories, "family")).flatMap(([family, stats]) => {
    const own = trajectories.filter((episode) => taskOfEpisode(episode).family === family);
    const tasks = Array.from(rolloutStatsBy(own, "task"), ([task, s]) => statsRow(`  ${task}`, s));
    return [statsRow(family, stats), ...tasks];
  });
}

function requireFinite(logpGapMax: number, checkpoint: string): void {
  if (Number.isFinite(logpGapMax)) return;
  throw new UserError(
    `Cannot evaluate ${checkpoint}: its log-probs are not finite, since these weights overflow f32`,
    1,
  );
}

/** Evaluates an agent in an environment, which must be that of its run. */
async function evaluateInEnvironment(
  { path: checkpoint, preset, environment }: NamedCheckpoint,
  { given, flags, played, machine }: {
    readonly given: GivenEnvironment | undefined;
    readonly flags: GpuFlags & { readonly preset?: string | undefined };
    readonly played: Omit<EvaluationRequest, "source"> & {
      readonly temperature: number;
      readonly transcripts: number;
    };
    readonly machine: Machine;
  },
): Promise<Outcome> {
  const source = given && await environmentSource(given.definition);
  // A file outside of runs does not say where it was trained.
  if (preset !== undefined || environment !== undefined || source === undefined) {
    requireSameEnvironment(environment, {
      given: source,
      attempt: `Cannot evaluate ${checkpoint}`,
    });
  }
  if (source === undefined) throw new UserError(`Cannot evaluate ${checkpoint}`);
  if (flags.preset !== undefined) {
    throw new UserError(`--preset is the gym's: leave it out in the environment ${source.name}`);
  }
  const { config, weights_W, isVerified } = readAgent(checkpoint, source);
  const commands = await machine.openCommands(flags);
  const parameters = createParameters(commands, config, weights_W);
  const evaluation = await evaluateAgent(commands, parameters, { ...played, source });
  requireFinite(evaluation.logpGapMax, checkpoint);
  return describeEnvironmentEval(evaluation, {
    ...played,
    rules: source,
    agent: checkpoint,
    adapter: adapterName(commands.gpu),
    remarks: unverifiedRows([{ path: checkpoint, isVerified }]),
  });
}

/** The command `eval`. */
export const command = defineCommand({
  flags: {
    checkpoint: {
      kind: "string",
      required: true,
      help: "the agent: a safetensors file, or a run's folder, whose latest checkpoint is used",
    },
    split: {
      kind: "string",
      default: "heldout",
      choices: ["train", "heldout"],
      help: "the 20 training tasks, or the 10 whose names never occur in training",
    },
    preset: {
      kind: "string",
      choices: ["chapter6", "rl"],
      help:
        "the gym: names shown and edits unlimited, or names hidden and one edit (default: that of the checkpoint's run)",
    },
    episodes: {
      kind: "integer",
      default: 160,
      min: 1,
      max: 100_000,
      help: "episodes in total, spread evenly over the split's tasks",
    },
    temperature: { kind: "number", default: 1, min: 1e-2, max: 1e2, help: "divides the logits" },
    transcripts: {
      kind: "integer",
      default: 0,
      min: 0,
      max: 1000,
      help: "how many episodes to print in full",
    },
    ...ENVIRONMENT_FLAGS,
    ...GPU_FLAGS,
  },
  async run(
    { checkpoint: named, split, episodes, seed, temperature, transcripts, ...flags },
    _positionals,
    machine = THIS_MACHINE,
  ) {
    const found = findCheckpoint(named);
    await using given = await openEnvironment(flags);
    if (given !== undefined || found.environment !== undefined) {
      const played = { split, episodes, seed, temperature, transcripts };
      return await evaluateInEnvironment(found, { given, flags, played, machine });
    }
    const { path: checkpoint, preset: own } = found;
    const preset = flags.preset ?? own;
    if (preset === undefined) {
      throw new UserError(
        `--preset is required, chapter6 or rl: ${checkpoint} is not in the folder of a run, which would say which`,
      );
    }
    const { config, weights_W, isVerified } = readAgent(checkpoint);
    const commands = await machine.openCommands(flags);
    const source = bugFixGoal(compileGym(openGym(), preset));
    const parameters = createParameters(commands, config, weights_W);
    const request = { source, split, episodes, seed, temperature };
    const { trajectories, logpGapMax } = await evaluateAgent(commands, parameters, request);
    requireFinite(logpGapMax, checkpoint);
    const stats = rolloutStats(trajectories);
    const texts = trajectories.slice(0, transcripts).map((episode, i) =>
      formatTranscript(episode, `episode ${i}, ${taskOfEpisode(episode).name}`, {
        columns: terminalColumns(),
      }).join("\n")
    );
    const text = [
      ...formatTable([
        ["agent", checkpoint],
        ["played", `${split} tasks of the ${preset} gym, temperature ${temperature}, seed ${seed}`],
        ["reward", formatRate(stats.reward)],
        ["tokens", `${stats.actionTokens.toFixed(1)} written by the agent in an episode`],
        ["hardcode", `${formatRate(stats.hardcode)} of the episodes`],
        ["logp gap", `${logpGapMax} nats at most between sampler and trainer`],
        ["adapter", adapterName(commands.gpu)],
        ...unverifiedRows([{ path: checkpoint, isVerified }]),
      ]),
      "",
      ...formatColumns(STATS_HEADER, [statsRow("all", stats), ...familyRows(trajectories)]),
      ...texts.map((transcript) => `\n${transcript}`),
    ].join("\n");
    return {
      document: {
        split,
        ...stats,
        logpGapMax,
        ...(transcripts > 0 && { transcripts: texts }),
      },
      text,
    };
  },
});
