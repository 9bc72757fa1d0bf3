/** What an environment is: the interface that users implement and that the rollout drivers play. */

/** What a rollout driver needs to know of an environment before it starts. */
export interface EnvironmentSpec {
  /** The token that ends a call of the policy. */
  readonly callEnd: number;
  /** A call also ends at this many tokens, whatever they are; at least 1. */
  readonly maxCallTokens: number;
  /** An episode ends after at most this many calls; at least 1. */
  readonly maxTurns: number;
  /** No episode has more tokens than this, prompt, calls and observations together: it sizes the KV cache. */
  readonly maxEpisodeTokens: number;
  /** Tasks are numbered 0 to taskCount - 1. */
  readonly taskCount: number;
}

/** What an environment answers to one call. */
export interface StepResult {
  /** Token ids that the policy reads next; empty when the episode is done. */
  readonly observation: readonly number[];
  /** Whether the episode has ended with this call. */
  readonly done: boolean;
  /**
   * What this call is paid. Where any call of an episode is paid, the episode's reward is the sum of what its calls are
   * paid, and `reward` is not asked. Every token of the episode is credited with that sum: a later call's pay also counts
   * for the calls before it.
   */
  readonly reward?: number;
}

/** What every environment tells about an episode; an environment of its own adds fields (see `BugFixInfo`). */
export interface EpisodeInfo {
  /** The name of the task. */
  readonly task: string;
  /** Calls made. */
  readonly turns: number;
  /** Calls that were not valid. */
  readonly malformed: number;
  /** Whether the episode counts as a success; left out: where its reward is above 0. */
  readonly passed?: boolean;
  /** Why the episode ended, in the environment's own words, for example "submit" or "budget"; null while it runs. */
  readonly stop: string | null;
  /** Each call as readable text. */
  readonly calls: readonly string[];
}

/**
 * An environment over token ids. It plays one episode at a time: `reset` starts one, `step` takes one call of the policy,
 * and after the step that is `done`, `reward` and `info` tell how it went. The rollout driver makes one environment a
 * slot, so it takes a factory, `() => new MyEnvironment()`. Each member may answer with a promise; the environments of
 * all slots are then asked at the same time.
 *
 * Everything that a step answers must follow from the task and the calls alone: then an episode can be replayed. A failure
 * of the environment itself (not of the call) is an error that throws or rejects, never an observation or a reward; with an
 * {@linkcode EpisodeLostError} this episode alone is lost, and any other error ends the rollout.
 */
export interface Environment<Info extends EpisodeInfo = EpisodeInfo> {
  /** Constant over the life of the environment. */
  readonly spec: EnvironmentSpec;
  /**
   * Starts an episode.
   * @param task 0 to spec.taskCount - 1.
   * @returns The token ids of the prompt, at least one.
   */
  reset(task: number): readonly number[] | Promise<readonly number[]>;
  /** Takes one call, which ended as `isCallComplete` says. */
  step(call: readonly number[]): StepResult | Promise<StepResult>;
  /** The reward of the episode that has ended; not asked where its calls were paid one by one. */
  reward(): number | Promise<number>;
  /** What happened in the episode so far. */
  info(): Info | Promise<Info>;
}

/**
 * The episode cannot be finished, and it is not the environment's rules that say so: a process that played it has died and
 * was started again, for example. The episode is marked as an error and left out of its batch; the environment that threw
 * this can be reset and played again.
 */
export class EpisodeLostError extends Error {
  /** The class name, by which workers know it as well. */
  override readonly name = "EpisodeLostError";
}

/**
 * Whether the policy has finished its call: at the token `callEnd`, or at `maxCallTokens` tokens whatever they are.
 *
 * @param spec The environment's spec.
 * @param call The tokens that the policy has written since the last observation.
 */
export function isCallComplete(spec: EnvironmentSpec, call: readonly number[]): boolean {
  return call.length >= spec.maxCallTokens || call.at(-1) === spec.callEnd;
}
