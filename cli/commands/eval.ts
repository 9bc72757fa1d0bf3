/** `agentrl eval`: how often an agent passes, how it behaves, and what it says. */
import { UserError } from "../../src/core/errors.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { createParameters } from "../../src/model/parameters.ts";
import { evaluateAgent, type Evaluation } from "../../src/rollout/evaluate.ts";
import { rolloutStats, rolloutStatsBy, taskOfEpisode } from "../../src/rollout/rollout_stats.ts";
import { formatTranscript } from "../../src/rollout/transcript.ts";
import { findCheckpoint, readAgent } from "../../src/run/agent_file.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, openCommands } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { unverifiedRows } from "../verified.ts";
import { formatRate, STATS_HEADER, statsRow } from "../stats_table.ts";
import { formatColumns } from "../table.ts";

/** A row for each family, and below it one for each of its tasks. */
function familyRows(trajectories: Evaluation["trajectories"]): string[][] {
  return Array.from(rolloutStatsBy(trajectories, "family")).flatMap(([family, stats]) => {
    const own = trajectories.filter((episode) => taskOfEpisode(episode).family === family);
    const tasks = Array.from(rolloutStatsBy(own, "task"), ([task, s]) => statsRow(`  ${task}`, s));
    return [statsRow(family, stats), ...tasks];
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
    ...GPU_FLAGS,
  },
  async run({ checkpoint: named, split, episodes, seed, temperature, transcripts, ...flags }) {
    const { path: checkpoint, preset: own } = findCheckpoint(named);
    const preset = flags.preset ?? own;
    if (preset === undefined) {
      throw new UserError(
        `--preset is required, chapter6 or rl: ${checkpoint} is not in the folder of a run, which would say which`,
      );
    }
    const { config, weights_W, isVerified } = readAgent(checkpoint);
    const commands = await openCommands(flags);
    const gym = compileGym(openGym(), preset);
    const parameters = createParameters(commands, config, weights_W);
    const request = { gym, split, episodes, seed, temperature };
    const { trajectories, logpGapMax } = await evaluateAgent(commands, parameters, request);
    if (!Number.isFinite(logpGapMax)) {
      throw new UserError(
        `Cannot evaluate ${checkpoint}: its log-probs are not finite, since these weights overflow f32`,
        1,
      );
    }
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
