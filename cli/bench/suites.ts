/** What `agentrl bench` can measure, by name: a file each. `bench all` runs those here, in this order. */
import type { Commands } from "../../src/gpu/commands.ts";
import type { Outcome } from "../command.ts";
import type { BenchFlags } from "./facts.ts";
import { benchGrowth } from "./growth.ts";
import { benchKernels } from "./kernels.ts";
import { benchLogprob } from "./logprob.ts";
import { benchRollout } from "./rollout.ts";
import { benchScore } from "./score.ts";
import { benchStep } from "./step.ts";
import { benchTrain } from "./train.ts";

/** Measures a suite. `flags.isShort` asks for what takes a minute on a CPU. */
export type Suite = (commands: Commands, flags: BenchFlags) => Promise<Outcome>;

/** The suites. What is added here is measured by `bench all` as well. */
export const SUITES: Readonly<Record<string, Suite>> = {
  kernels: benchKernels,
  rollout: benchRollout,
  train: benchTrain,
  step: benchStep,
  growth: benchGrowth,
  logprob: benchLogprob,
  score: benchScore,
};
