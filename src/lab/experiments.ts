/** Every experiment of the lab, in the order in which a lab runs them: first what stands alone, then what shares agents. */
import { AGGREGATION } from "./aggregation.ts";
import { BASE_AGENT } from "./base_agent.ts";
import { BASELINES_AGENT } from "./baselines_agent.ts";
import { BASELINES_MDP } from "./baselines_mdp.ts";
import { BISECT_VERSIONS } from "./bisect_versions.ts";
import { CATALOGUE_RUNS } from "./catalogue.ts";
import { CAUSALITY } from "./causality.ts";
import { DETACH } from "./detach.ts";
import { ESTIMATOR } from "./estimator.ts";
import type { Experiment } from "./experiment.ts";
import { GRADIENT_NOISE } from "./gradient_noise.ts";
import { MATRIX } from "./matrix.ts";
import { RARE_TOKENS } from "./rare_tokens.ts";
import { REINFORCE_RUN } from "./reinforce.ts";
import { RERUN_SPREAD } from "./rerun_spread.ts";
import { REWARD_HACKING } from "./reward_hacking.ts";
import { SUPPORT } from "./support.ts";
import { SURROGATE } from "./surrogate.ts";
import { ZERO_ADVANTAGE } from "./zero_advantage.ts";

/** To add an experiment, write its file and list its record here. Names are unique. */
export const EXPERIMENTS: readonly Experiment[] = [
  ESTIMATOR,
  SURROGATE,
  BASELINES_MDP,
  DETACH,
  BASE_AGENT,
  SUPPORT,
  AGGREGATION,
  BASELINES_AGENT,
  CAUSALITY,
  GRADIENT_NOISE,
  ZERO_ADVANTAGE,
  REINFORCE_RUN,
  RERUN_SPREAD,
  RARE_TOKENS,
  REWARD_HACKING,
  BISECT_VERSIONS,
  MATRIX,
  CATALOGUE_RUNS,
];
