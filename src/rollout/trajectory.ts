/** What a rollout yields: token sequences with their owners, the sampler's log-probs, the reward and what happened. */
import { OWNER } from "../core/owner.ts";
import type { EpisodeInfo } from "../gym/environment.ts";

/** One sampled episode. */
export interface Trajectory<Info extends EpisodeInfo = EpisodeInfo> {
  /** Token ids [T]. */
  readonly ids: Uint32Array;
  /** Who wrote each token: 1 prompt, 2 policy, 3 tool; [T]. */
  readonly owners: Uint8Array;
  /** The sampler's log-prob of each policy token under its temperature, in nats; 0 elsewhere; [T]. */
  readonly logps: Float32Array;
  /** What the environment says it is worth. */
  readonly reward: number;
  /** What happened in it. */
  readonly info: Info;
  /** The number of its task, where an environment of a user's played it. */
  readonly task?: number;
  /** Why it was lost; then its reward is NaN, and it is no part of a batch. */
  readonly error?: string;
}

/** Tokens of an episode that the policy wrote. */
export function policyTokenCount({ owners }: Pick<Trajectory, "owners">): number {
  return owners.reduce((count, owner) => count + Number(owner === OWNER.policy), 0);
}

/** The tokens of an episode, before its environment has said what they are worth. */
export type RecordedTokens = Pick<Trajectory, "ids" | "owners" | "logps">;

/** The bits of a record's first word that hold the token; its owner is above them. */
export const TOKEN_BITS = 0xffffff;

/**
 * Reads one episode from the decoder's records (see shaders/slots.wgsl).
 * @param records_T2 (id | owner << 24, log-prob bits) of each position, then (length, turns).
 * @returns The tokens and the number of turns; undefined where the episode has not ended.
 */
export function readRecord(
  records_T2: Uint32Array<ArrayBuffer>,
): { readonly tokens: RecordedTokens; readonly turns: number } | undefined {
  const last = records_T2.length - 2;
  const length = records_T2[last] ?? 0;
  if (length === 0) return undefined;
  const bits = new Float32Array(records_T2.buffer, records_T2.byteOffset, records_T2.length);
  const ids = new Uint32Array(length);
  const owners = new Uint8Array(length);
  const logps = new Float32Array(length);
  for (let t = 0; t < length; t++) {
    const word = records_T2[2 * t] ?? 0;
    ids[t] = word & TOKEN_BITS;
    owners[t] = word >>> 24;
    logps[t] = bits[2 * t + 1] ?? 0;
  }
  return { tokens: { ids, owners, logps }, turns: records_T2[last + 1] ?? 0 };
}
