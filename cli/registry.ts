/** Every command: its line in `agentrl --help` and how its module is loaded. A start loads one command only. */
import type { Command } from "./command.ts";

/** A command before it is loaded. */
export interface CommandEntry {
  /** One line, at most 64 characters. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Commands under a heading of `agentrl --help`. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: Readonly<Record<string, CommandEntry>>;
}

/** The commands in groups: first what the user of another trainer came for. `test` and `deno` are the launcher's own. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Runs of any trainer",
    commands: {
      triage: {
        summary: "what is wrong with a run, whoever trained it, and what to do",
        load: () => import("./commands/triage.ts"),
      },
      report: {
        summary: "one HTML file about runs and experiments",
        load: () => import("./commands/report.ts"),
      },
      compare: {
        summary: "runs over seeds with intervals, or two runs step by step",
        load: () => import("./commands/compare.ts"),
      },
      watch: {
        summary: "a page on this machine that follows runs while they grow",
        load: () => import("./commands/watch.ts"),
      },
      formats: {
        summary: "which logs are supported, and how each framework writes them",
        load: () => import("./commands/formats.ts"),
      },
      convert: {
        summary: "convert any supported log or token dump to JSONL",
        load: () => import("./commands/convert.ts"),
      },
      referee: {
        summary: "which side of a token dump left the model, and how",
        load: () => import("./commands/referee.ts"),
      },
      vectors: {
        summary: "known-answer tests of anybody's loss, and verdicts about it",
        load: () => import("./commands/vectors.ts"),
      },
      metrics: {
        summary: "the metrics dictionary: formula, healthy range, what it flags",
        load: () => import("./commands/metrics.ts"),
      },
    },
  },
  {
    title: "The small agent and its trainer",
    commands: {
      train: {
        summary: "reinforcement learning, in a run folder that can be resumed",
        load: () => import("./commands/train.ts"),
      },
      sweep: {
        summary: "many runs from one file: here, on Slurm or on Kubernetes",
        load: () => import("./commands/sweep.ts"),
      },
      config: {
        summary: "the keys of its configuration: meaning, range, default",
        load: () => import("./commands/config.ts"),
      },
      eval: {
        summary: "pass rate with interval, behaviour and transcripts of an agent",
        load: () => import("./commands/eval.ts"),
      },
      replay: {
        summary: "re-run a step and check every statistic bit for bit",
        load: () => import("./commands/replay.ts"),
      },
      check: {
        summary: "the trainer's invariants, with or without a planted fault",
        load: () => import("./commands/check.ts"),
      },
      faults: {
        summary: "the catalogue of failures against matched healthy runs",
        load: () => import("./commands/faults.ts"),
      },
      live: {
        summary: "a page that trains in your browser, healthy beside broken",
        load: () => import("./commands/live.ts"),
      },
      base: {
        summary: "make a base agent: cloned on well-formed, unskilled play",
        load: () => import("./commands/base.ts"),
      },
      lab: {
        summary: "every experiment, next to the numbers it reproduces",
        load: () => import("./commands/lab.ts"),
      },
    },
  },
  {
    title: "Reference numbers, and this machine",
    commands: {
      score: {
        summary: "log-probs and entropies of a batch under our agent or a HF model",
        load: () => import("./commands/score.ts"),
      },
      grad: {
        summary: "a loss over a batch, its gradient, weights after Adam steps",
        load: () => import("./commands/grad.ts"),
      },
      bench: {
        summary: "how fast kernels, rollouts and training run, and how they scale",
        load: () => import("./commands/bench.ts"),
      },
      info: {
        summary: "the WebGPU adapter, its limits and features, the versions",
        load: () => import("./commands/info.ts"),
      },
      tune: {
        summary: "find and remember the fastest kernel layout on this machine",
        load: () => import("./commands/tune.ts"),
      },
    },
  },
];

/** The commands by name, in the order of the groups. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = Object.fromEntries(
  COMMAND_GROUPS.flatMap(({ commands }) => Object.entries(commands)),
);
