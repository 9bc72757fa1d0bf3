/** What an evaluation in an environment of a user's says: rates and means with intervals, its own metrics, its own words. */
import { UserError } from "../src/core/errors.ts";
import { meanInterval } from "../src/core/statistics.ts";
import { terminalColumns } from "../src/files/terminal.ts";
import type { Split } from "../src/gym/task.ts";
import { type EpisodeRules, ownMetricName } from "../src/rollout/episode_source.ts";
import type { Evaluation } from "../src/rollout/evaluate.ts";
import { passInterval } from "../src/rl/metrics.ts";
import { formatTranscript } from "../src/rollout/transcript.ts";
import type { Trajectory } from "../src/rollout/trajectory.ts";
import type { Outcome } from "./command.ts";
import { formatTable } from "./flags.ts";
import { formatInterval, formatRate } from "./stats_table.ts";
import { formatColumns } from "./table.ts";

/** Tasks that have a row of their own at most. */
const MOST_TASK_ROWS = 20;

/** Numbers of some episodes, at least one; intervals are those of 95 %. */
export function environmentStats(episodes: readonly Trajectory[], rules: EpisodeRules) {
  const { rate, low, high } = passInterval(episodes, rules);
  const reward = meanInterval(episodes.map((episode) => episode.reward));
  const { malformed, turns, length } = rules.behaviour(episodes);
  return {
    episodes: episodes.length,
    reward: reward.mean,
    rewardLow: reward.low,
    rewardHigh: reward.high,
    passRate: rate,
    passRateLow: low,
    passRateHigh: high,
    turns,
    malformed,
    actionTokens: length,
  };
}

/** One row of statistics: a text a column of {@linkcode STATS_COLUMNS}. */
export function statsColumns(name: string, stats: ReturnType<typeof environmentStats>): string[] {
  return [
    name,
    String(stats.episodes),
    formatRate(stats.passRate),
    formatInterval({ low: stats.passRateLow, high: stats.passRateHigh }),
    formatRate(stats.reward),
    stats.turns.toFixed(1),
    formatRate(stats.malformed),
    stats.actionTokens.toFixed(1),
  ];
}

/** The columns of {@linkcode statsColumns}, as `formatColumns` takes them. */
export const STATS_COLUMNS = [
  "episodes",
  " n",
  " pass",
  " 95 %",
  " reward",
  " turns",
  " malformed",
  " tokens",
] as const;

/** How an agent did in an environment. */
export function describeEnvironmentEval(
  { trajectories, lostCount, logpGapMax }: Evaluation,
  options: {
    readonly rules: EpisodeRules;
    readonly split: Split;
    readonly temperature: number;
    readonly seed: number;
    readonly transcripts: number;
    readonly agent: string;
    readonly adapter: string;
    readonly remarks: readonly (readonly [string, string])[];
  },
): Outcome {
  const { rules, split, temperature, seed, agent, adapter } = options;
  if (trajectories.length === 0) {
    throw new UserError(`Cannot evaluate ${agent}: all ${lostCount} episodes were lost`);
  }
  const stats = environmentStats(trajectories, rules);
  const behaviour = rules.behaviour(trajectories);
  const byTask = Map.groupBy(trajectories, (episode) => rules.problemOf(episode));
  const tasks = [...byTask].sort(([, [a]], [, [b]]) => (a.task ?? 0) - (b.task ?? 0));
  const texts = trajectories.slice(0, options.transcripts).map((episode, i) =>
    formatTranscript(episode, `episode ${i}, ${episode.info.task}`, {
      columns: terminalColumns(),
      words: rules.words,
    }).join("\n")
  );
  const ownRows = rules.metrics.map((metric) =>
    [metric.name, `${formatRate(behaviour[ownMetricName(metric)])} ${metric.meaning}`] as const
  );
  const rewardInterval = formatInterval({ low: stats.rewardLow, high: stats.rewardHigh });
  return {
    document: {
      environment: rules.name,
      split,
      ...stats,
      lost: lostCount,
      metrics: Object.fromEntries(
        rules.metrics.map((metric) => [metric.name, behaviour[ownMetricName(metric)]]),
      ),
      logpGapMax,
      ...(options.transcripts > 0 && { transcripts: texts }),
    },
    text: [
      ...formatTable([
        ["agent", agent],
        ["played", `${split} tasks of ${rules.name}, temperature ${temperature}, seed ${seed}`],
        ["reward", `${formatRate(stats.reward)} (${rewardInterval})`],
        ...ownRows,
        ...(lostCount > 0 ? [["lost", `${lostCount} episodes, left out`] as const] : []),
        ["logp gap", `${logpGapMax} nats at most between sampler and trainer`],
        ["adapter", adapter],
        ...options.remarks,
      ]),
      "",
      ...formatColumns(STATS_COLUMNS, [
        statsColumns("all", stats),
        ...(tasks.length > MOST_TASK_ROWS
          ? []
          : tasks.map(([name, episodes]) => statsColumns(name, environmentStats(episodes, rules)))),
      ]),
      ...texts.map((transcript) => `\n${transcript}`),
    ].join("\n"),
  };
}
