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
  tune: {
    summary: "which layout of the kernels is fastest here, kept for later",
    load: () => import("./commands/tune.ts"),
  },
  base: {
    summary: "make a base agent: cloned on well-formed, unskilled play",
    load: () => import("./commands/base.ts"),
  },
  train: {
    summary: "reinforcement learning, in a run folder that can be resumed",
    load: () => import("./commands/train.ts"),
  },
  eval: {
    summary: "pass rate with interval, behaviour and transcripts of an agent",
    load: () => import("./commands/eval.ts"),
  },
  check: {
    summary: "the invariants of the trainer, with faults on purpose",
    load: () => import("./commands/check.ts"),
  },
  faults: {
    summary: "the catalogue of failures against matched healthy runs",
    load: () => import("./commands/faults.ts"),
  },
  metrics: {
    summary: "the metrics dictionary: formula, healthy range, what it flags",
    load: () => import("./commands/metrics.ts"),
  },
  score: {
    summary: "log-probs, entropies and logits of a batch under a checkpoint",
    load: () => import("./commands/score.ts"),
  },
  grad: {
    summary: "a loss over a batch, its gradient, weights after Adam steps",
    load: () => import("./commands/grad.ts"),
  },
  triage: {
    summary: "what is wrong with a run, whoever trained it, and what to do",
    load: () => import("./commands/triage.ts"),
  },
  formats: {
    summary: "the logs that are read, and how each framework writes one",
    load: () => import("./commands/formats.ts"),
  },
  convert: {
    summary: "any log that is read, as JSONL",
    load: () => import("./commands/convert.ts"),
  },
  replay: {
    summary: "a step of a run again, bit for bit or with a stage changed",
    load: () => import("./commands/replay.ts"),
  },
  lab: {
    summary: "every experiment, beside the numbers that it reproduces",
    load: () => import("./commands/lab.ts"),
  },
  report: {
    summary: "one HTML file about runs and experiments",
    load: () => import("./commands/report.ts"),
  },
  bench: {
    summary: "how fast kernels, rollouts and training run, and how time grows",
    load: () => import("./commands/bench.ts"),
  },
};
