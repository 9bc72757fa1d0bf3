/** All forms of token dumps that are read. A new one is a file with a reader, and a line here. */
import { COMMON_DUMP } from "./common_dump.ts";
import { NEMO_RL } from "./nemo_rl.ts";
import { OWN_EPISODES } from "./own_episodes.ts";
import { TINKER_ROLLOUTS } from "./tinker_rollouts.ts";
import { TOKEN_EXPORTS } from "./token_exports.ts";
import type { TokenReader } from "./token_reader.ts";
import { TRACES } from "./traces.ts";
import { TRL_COMPLETIONS } from "./trl_completions.ts";
import { VERL_ROLLOUTS } from "./verl_rollouts.ts";

/** The readers, in the order in which they are listed. */
export const TOKEN_READERS: readonly TokenReader[] = [
  TOKEN_EXPORTS,
  TRACES,
  NEMO_RL,
  COMMON_DUMP,
  OWN_EPISODES,
  VERL_ROLLOUTS,
  TRL_COMPLETIONS,
  TINKER_ROLLOUTS,
];
