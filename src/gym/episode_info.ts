/** What is told about a BugFix episode: a pure function of its calls, its end and the verdict of its last program. */
import { at } from "../core/element.ts";
import { CALL, callIndex, describeCall, editOf, type OperationName } from "./calls.ts";
import type { EpisodeInfo } from "./environment.ts";
import type { Verdict } from "./gym.ts";
import { OWNER } from "../core/owner.ts";

/** Why a BugFix episode ended: it was submitted, or the turn budget ran out. */
export type BugFixStop = "submit" | "budget";

/** Which tests the reward looks at: the hidden ones, or the public ones, which can be hacked. */
export type RewardKind = "hidden" | "public";

/** What happened in an episode of BugFix. */
export interface BugFixInfo extends EpisodeInfo {
  /** Why it ended; null while it runs. */
  readonly stop: BugFixStop | null;
  /** Every well-formed edit in order, including those that changed nothing. */
  readonly ops: readonly OperationName[];
  /** Calls of `read`. */
  readonly reads: number;
  /** Calls of `test`. */
  readonly tests: number;
  /** Whether `stop` is "submit". */
  readonly submitted: boolean;
  /** Whether the last program passes all hidden tests, submitted or not. */
  readonly hiddenPass: boolean;
  /** Whether the last program passes all public tests, submitted or not. */
  readonly publicPass: boolean;
}

/** What a BugFix episode consists of, as token ids. */
export interface BugFixEpisode {
  /** The task's name. */
  readonly task: string;
  /** The tokens of each call. */
  readonly calls: readonly (readonly number[])[];
  /** Why it ended; null while it runs. */
  readonly stop: BugFixStop | null;
  /** The verdict of the last program. */
  readonly verdict: Verdict;
}

/** The info of an episode, wherever it was played: on the host, from the table, or on the GPU. */
export function bugFixInfo({ task, calls, stop, verdict }: BugFixEpisode): BugFixInfo {
  const indices = calls.map(callIndex);
  const countOf = (index: number) => indices.filter((i) => i === index).length;
  return {
    task,
    turns: calls.length,
    malformed: countOf(CALL.malformed),
    ops: indices.map(editOf).filter((operation) => operation !== null),
    reads: countOf(CALL.read),
    tests: countOf(CALL.test),
    submitted: stop === "submit",
    hiddenPass: verdict.hiddenPass,
    publicPass: verdict.publicPass,
    stop,
    calls: calls.map(describeCall),
  };
}

/** 1 where the program was submitted and passes the tests that the reward looks at; otherwise 0. */
export function bugFixReward(
  info: Pick<BugFixInfo, "submitted" | "hiddenPass" | "publicPass">,
  kind: RewardKind,
): number {
  return info.submitted && (kind === "hidden" ? info.hiddenPass : info.publicPass) ? 1 : 0;
}

/**
 * The calls of a recorded episode: its unbroken runs of policy tokens. An observation stands between any two calls, so
 * none of them touch.
 *
 * @param ids Token ids of one episode.
 * @param owners The owner of each token.
 */
export function splitCalls(ids: ArrayLike<number>, owners: ArrayLike<number>): number[][] {
  const calls: number[][] = [];
  for (let t = 0; t < ids.length; t++) {
    if (owners[t] !== OWNER.policy) continue;
    if (owners[t - 1] !== OWNER.policy) calls.push([]);
    calls.at(-1)?.push(at(ids, t));
  }
  return calls;
}
