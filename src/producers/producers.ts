/** Every producer that is known; a new one is a file and a line here. */
import { AGENTRL } from "./agentrl.ts";
import type { Producer } from "./definition.ts";
import { PRIME_RL } from "./prime_rl.ts";
import { TRL } from "./trl.ts";
import { TRL_PREFERENCE, TRL_SFT } from "./trl_offline.ts";
import { VERL } from "./verl.ts";

/** The producers. Their order decides nothing: of two that are equally sure neither is taken. */
export const PRODUCERS: readonly Producer[] = [
  TRL,
  TRL_SFT,
  TRL_PREFERENCE,
  VERL,
  PRIME_RL,
  AGENTRL,
];

/** The producer of an id, for example of `--producer trl`. */
export function producerById(id: string): Producer | undefined {
  return PRODUCERS.find((producer) => producer.id === id);
}
