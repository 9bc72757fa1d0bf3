/** `agentrl bench`: how fast things run here, after a check that they are right. */
import { UserError } from "../../src/core/errors.ts";
import { SCORE_SHAPES, type ScoreShape } from "../../src/bench/score.ts";
import { suggestName } from "../../src/core/nearest.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import type { BenchFlags } from "../bench/facts.ts";
import { benchGrowth } from "../bench/growth.ts";
import { benchKernels } from "../bench/kernels.ts";
import { benchLogprob } from "../bench/logprob.ts";
import { benchRollout } from "../bench/rollout.ts";
import { benchScore } from "../bench/score.ts";
import { benchStep } from "../bench/step.ts";
import { benchTrain } from "../bench/train.ts";
import { defineCommand, type Outcome } from "../command.ts";
import type { Flags } from "../flags.ts";
import { THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";

/** What can be measured, by name: a file each in cli/bench. */
const SUITES = {
  kernels: benchKernels,
  rollout: benchRollout,
  train: benchTrain,
  growth: benchGrowth,
  logprob: benchLogprob,
  step: benchStep,
  score: benchScore,
} as const satisfies Record<
  string,
  (commands: Commands, flags: BenchFlags) => Promise<Outcome>
>;

const BENCH_FLAGS = {
  ...GPU_FLAGS,
  rounds: {
    kind: "integer",
    default: 7,
    min: 1,
    max: 1000,
    help: "measured rounds (all but kernels)",
  },
  peer: {
    kind: "string",
    default: "",
    help: "a program that times the same cases (step, logprob, score)",
  },
  shape: {
    kind: "string",
    choices: Object.keys(SCORE_SHAPES) as ScoreShape[],
    default: "qwen2.5-0.5b",
    help: "score: the model; small takes seconds",
  },
  tokens: {
    kind: "integer",
    default: 512,
    min: 1,
    max: 32_768,
    help: "score: tokens of the sequence",
  },
  weights: {
    kind: "string",
    choices: ["bf16", "f32"],
    default: "bf16",
    help: "score: how the model lies in memory",
  },
} as const satisfies Flags;

/** The command `bench`. */
export const command = defineCommand({
  flags: BENCH_FLAGS,
  positionals: [Object.keys(SUITES).join("|")],
  choices: Object.keys(SUITES),
  async run(flags, [name = ""], machine = THIS_MACHINE) {
    const suite = Object.entries(SUITES).find(([known]) => known === name)?.[1];
    if (suite === undefined) {
      throw new UserError(`unknown benchmark "${name}": ${suggestName(name, Object.keys(SUITES))}`);
    }
    return await suite(await machine.openCommands(flags), flags);
  },
});
