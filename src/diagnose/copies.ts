/**
 * Evidence that episodes are copies of others, as an e-value: a number whose mean over honest draws is at most 1, so that it
 * exceeds 1/α with probability α at most, whatever the batch (Markov's inequality; V. Vovk and R. Wang, "E-values", 2021).
 */
import { at } from "../core/element.ts";
import { OWNER } from "../core/owner.ts";
import type { CheckedEpisode } from "./invariant.ts";

/** An episode whose tokens are known. */
export type TokenEpisode = CheckedEpisode & { readonly ids: ArrayLike<number> };

/** Whether the tokens of every episode are known. */
export function haveTokens(episodes: readonly CheckedEpisode[]): episodes is TokenEpisode[] {
  return episodes.every(({ ids }) => ids !== undefined);
}

/** Shares of copies that are compared with honest draws: half of the episodes, some, few. */
const SHARES = [1 / 2, 1 / 8, 1 / 32];

/**
 * A running likelihood ratio of "a share of the draws are copies" to "all are honest". A copy always matches what it is
 * compared with, an honest draw by chance.
 */
class CopyEvidence {
  readonly #log_S = SHARES.map(() => 0);

  /** @param chance Probability that an honest draw matches. */
  add(matches: boolean, chance: number): void {
    if (!(chance > 0 && chance < 1)) return; // A certain match says nothing; an impossible one was not a draw.
    SHARES.forEach((share, s) => {
      const ratio = matches ? (share + (1 - share) * chance) / chance : 1 - share;
      this.#log_S[s] = at(this.#log_S, s) + Math.log(ratio);
    });
  }

  /** Logarithm of the e-value: of the mean of the ratios, which is an e-value as well. */
  get log(): number {
    const most = Math.max(...this.#log_S);
    return most +
      Math.log(this.#log_S.reduce((sum, log) => sum + Math.exp(log - most), 0) / SHARES.length);
  }
}

/** Logarithm of the probability with which the policy writes its part of an episode. */
function logProbability({ owners, logps }: CheckedEpisode): number {
  let sum = 0;
  for (let t = 0; t < logps.length; t++) {
    if (owners[t] === OWNER.policy) sum += logps[t] ?? NaN;
  }
  return sum;
}

/**
 * How much speaks for episodes that were put into a batch twice instead of drawn twice.
 *
 * @param episodes A batch.
 * @returns Logarithm of the e-value, in nats.
 */
export function repeatsWithin(episodes: readonly TokenEpisode[]): number {
  const evidence = new CopyEvidence();
  const seen = new Map<string | number, Map<string, number>>();
  for (const episode of episodes) {
    const earlier = seen.get(episode.problem) ?? new Map<string, number>();
    seen.set(episode.problem, earlier);
    const tokens = Array.from(episode.ids).join();
    const chance = [...earlier.values()].reduce((sum, probability) => sum + probability, 0);
    if (earlier.size > 0) evidence.add(earlier.has(tokens), chance);
    earlier.set(tokens, Math.exp(logProbability(episode)));
  }
  return evidence.log;
}

/**
 * How much speaks for random numbers that a step shares with the step before. Two episodes at one place of the batch are
 * followed as long as they have the same tokens: there the policy draws from one distribution twice.
 *
 * @param episodes A batch.
 * @param next The next one, of the same policy.
 * @returns Logarithm of the e-value, in nats.
 */
export function repeatsBetween(
  episodes: readonly TokenEpisode[],
  next: readonly TokenEpisode[],
): number {
  const evidence = new CopyEvidence();
  next.forEach((later, b) => {
    const { ids, owners, logps } = episodes[b] ?? later;
    if (episodes[b] === undefined) return;
    for (let t = 0; t < Math.min(ids.length, later.ids.length); t++) {
      if (owners[t] !== later.owners[t]) return;
      const matches = ids[t] === later.ids[t];
      if (owners[t] === OWNER.policy) evidence.add(matches, Math.exp(logps[t] ?? NaN));
      if (!matches) return;
    }
  });
  return evidence.log;
}
