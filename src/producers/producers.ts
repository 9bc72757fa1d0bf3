/** Every producer that is known; a new one is a file and a line here. */
import { AGENTRL } from "./agentrl.ts";
import { CLEANRL } from "./cleanrl.ts";
import { MS_SWIFT } from "./ms_swift.ts";
import { NEMO_RL } from "./nemo_rl.ts";
import { OPEN_INSTRUCT } from "./open_instruct.ts";
import { OPENRLHF } from "./openrlhf.ts";
import { PRIME_RL } from "./prime_rl.ts";
import { RLLM } from "./rllm.ts";
import { ROLL } from "./roll.ts";
import { SKYRL } from "./skyrl.ts";
import { SLIME } from "./slime.ts";
import { SUPERVISED } from "./supervised.ts";
import { TINKER } from "./tinker.ts";
import { TRL } from "./trl.ts";
import { TRL_PPO_2024 } from "./trl_ppo_2024.ts";
import { UNSLOTH } from "./unsloth.ts";
import { VERL } from "./verl.ts";
import { TRL_PREFERENCE, TRL_SFT } from "./trl_offline.ts";
import type { Producer } from "./definition.ts";

/** The producers. Their order decides nothing: of two that are equally sure neither is taken. */
export const PRODUCERS: readonly Producer[] = [
  TRL,
  TRL_PPO_2024,
  TRL_SFT,
  TRL_PREFERENCE,
  SUPERVISED,
  UNSLOTH,
  MS_SWIFT,
  VERL,
  RLLM,
  ROLL,
  PRIME_RL,
  TINKER,
  OPENRLHF,
  NEMO_RL,
  SKYRL,
  SLIME,
  OPEN_INSTRUCT,
  CLEANRL,
  AGENTRL,
];

/** The producer of an id, for example of `--producer trl`. */
export function producerById(id: string): Producer | undefined {
  return PRODUCERS.find((producer) => producer.id === id);
}

/** What a producer is called; the id of one that is not known. */
export function producerTitle(id: string): string {
  return PRODUCERS.find((producer) => producer.id === id)?.title ?? id;
}
