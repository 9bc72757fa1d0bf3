/** Experiment `base_agent`: an agent that writes valid calls and has no skill, the point where learning can start. */
import { type RolloutStats, rolloutStats } from "../rollout/rollout_stats.ts";
import { baseAgent, type BugFixTrajectory, sampleSplit } from "./agents.ts";
import { DRAW, type Experiment, type LabCheck, type LabContext, sizeOf } from "./experiment.ts";

const TUTORIAL = {
  "untrained, train": {
    reward: 0,
    validCalls: 0,
    submitRate: 0,
    turns: 6,
    actionTokens: 35.681,
  },
  "base agent, train": {
    reward: 0.119,
    validCalls: 0.979,
    submitRate: 0.781,
    turns: 3.134,
    actionTokens: 11.312,
  },
  "base agent, held-out": {
    reward: 0.138,
    validCalls: 0.988,
    submitRate: 0.825,
    turns: 3.013,
    actionTokens: 10.706,
  },
} as const;

/** The base agent's episodes on a split, 16 a task: where training curves start. */
export function baseEpisodes(
  context: LabContext,
  split: "train" | "heldout",
): Promise<BugFixTrajectory[]> {
  return context.shared(
    `base episodes ${split}`,
    async () =>
      await sampleSplit(context, await baseAgent(context, "plain"), {
        split,
        episodesPerTask: sizeOf(context, { full: 16, quick: 8 }),
        draw: DRAW.baseAgent,
      }),
  );
}

const RANGES = [
  ["reward", 0.06, 0.3],
  ["validCalls", 0.92, 1],
  ["submitRate", 0.5, 0.92],
  ["turns", 2.6, 4.4],
  ["actionTokens", 9, 16],
] as const;

function checksOf(measured: Readonly<Record<string, RolloutStats>>): LabCheck[] {
  const untrained = measured["untrained, train"];
  return [
    {
      requirement: "untrained: reward 0 and 6 turns, exactly",
      value: `${untrained.reward} and ${untrained.turns}`,
      holds: untrained.reward === 0 && untrained.turns === 6,
    },
    ...["base agent, train", "base agent, held-out"].flatMap((name) =>
      RANGES.map(([key, low, high]) => {
        const value = measured[name][key];
        const requirement = `${name}: ${key} from ${low} to ${high}`;
        return { requirement, value, holds: value >= low && value <= high };
      })
    ),
  ];
}

/** What the base agent does before any reinforcement learning, and the untrained one beside it. */
export const BASE_AGENT: Experiment = {
  name: "base_agent",
  title: "A base agent to learn from",
  shows:
    "An untrained agent never earns a reward, so there is nothing to reinforce. Cloned from random and blind play, it writes valid calls, submits, and now and then passes by luck.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 14,
  run: async (context) => {
    const untrained = await sampleSplit(context, await baseAgent(context, "untrained"), {
      split: "train",
      episodesPerTask: sizeOf(context, { full: 16, quick: 4 }),
      draw: DRAW.baseAgent,
    });
    const measured = {
      "untrained, train": rolloutStats(untrained),
      "base agent, train": rolloutStats(await baseEpisodes(context, "train")),
      "base agent, held-out": rolloutStats(await baseEpisodes(context, "heldout")),
    };
    const keys = ["reward", "validCalls", "submitRate", "turns", "actionTokens"] as const;
    return {
      tables: [{
        title: "means over the episodes",
        columns: ["agent", "source", "reward", "valid", "submitted", "turns", "tokens"],
        rows: (Object.keys(TUTORIAL) as (keyof typeof TUTORIAL)[]).flatMap((name) => [
          [name, "tutorial", ...keys.map((key) => TUTORIAL[name][key])],
          ["", "ours", ...keys.map((key) => measured[name][key])],
        ]),
      }],
      figures: [],
      checks: checksOf(measured),
      data: measured,
    };
  },
};
