/** Scripted policies: what an unskilled, a half-skilled and a perfect player of BugFix do. */
import {
  CALL_BODIES,
  type CallBody,
  encodeCall,
  OPERATION_NAMES,
  type RepairName,
} from "./calls.ts";
import type { Environment, EpisodeInfo } from "./environment.ts";
import { OWNER } from "../core/owner.ts";
import { decode } from "./vocabulary.ts";

/** What a scripted policy sees before it makes a call. */
export interface PolicyView {
  /** Calls already made in this episode. */
  readonly turn: number;
  /** The last observation without its brackets, for example "acc 1"; empty before the first call. */
  readonly observation: string;
  /** Uniform numbers in [0, 1). */
  readonly uniform: () => number;
}

/** Chooses the next call. */
export type ScriptedPolicy = (view: PolicyView) => CallBody;

const REPAIR_NAMES = OPERATION_NAMES.filter((name): name is RepairName =>
  name !== "hardcode_tests"
);

/** What `read` shows of a buggy program, and the repair that it asks for. */
const REPAIR_OF_WORDS: ReadonlyMap<string, RepairName> = new Map([
  ["acc 1", "fix_init"],
  ["<", "fix_comparison"],
  ["/", "add_zero_guard"],
  ["max min", "swap_minmax"],
  ["range 1", "fix_range_end"],
]);

function choose<T>(items: readonly T[], uniform: () => number): T {
  const item = items[Math.floor(uniform() * items.length)];
  if (item === undefined) throw new RangeError("Cannot choose: a uniform must lie in [0, 1)");
  return item;
}

function repairFor(observation: string): RepairName {
  const repair = REPAIR_OF_WORDS.get(observation);
  if (repair === undefined) {
    throw new RangeError(`Cannot choose a repair: "${observation}" shows no bug of BugFix`);
  }
  return repair;
}

/** One of the nine valid calls at random, each time. */
export const randomPolicy: ScriptedPolicy = ({ uniform }): CallBody => choose(CALL_BODIES, uniform);

/** One of the five repairs at random, then submit; it never reads. */
export const blindPolicy: ScriptedPolicy = ({ turn, uniform }): CallBody =>
  turn === 0 ? `edit ${choose(REPAIR_NAMES, uniform)}` : "submit";

/**
 * Reads, edits, submits. The edit is the one that the observation asks for with the given probability, otherwise one of
 * the five repairs at random, which may be the right one too.
 *
 * @param rightProbability 0 to 1.
 */
export function readerPolicy(rightProbability: number): ScriptedPolicy {
  return ({ turn, observation, uniform }) => {
    if (turn === 0) return "read";
    if (turn > 1) return "submit";
    const understands = uniform() < rightProbability;
    return `edit ${understands ? repairFor(observation) : choose(REPAIR_NAMES, uniform)}`;
  };
}

/** Reads, edits as the observation asks, submits: passes every task. */
export const oraclePolicy: ScriptedPolicy = readerPolicy(1);

/** One finished episode that was not sampled from a model, so it has no log-probs. */
export interface ScriptedEpisode<Info extends EpisodeInfo> {
  /** Token ids, [T]. */
  readonly ids: readonly number[];
  /** The owner of each token (`OWNER`), [T]. */
  readonly owners: readonly number[];
  /** The environment's reward. */
  readonly reward: number;
  /** The environment's info. */
  readonly info: Info;
}

/**
 * Plays one episode with a scripted policy.
 *
 * @param policy Which calls to make.
 * @param options.environment Is reset first.
 * @param options.task 0 to taskCount - 1.
 * @param options.uniform Uniform numbers in [0, 1).
 * @returns The tokens in order, each with its owner; nothing follows the last call.
 */
export async function scriptedEpisode<Info extends EpisodeInfo>(
  policy: ScriptedPolicy,
  options: {
    readonly environment: Environment<Info>;
    readonly task: number;
    readonly uniform: () => number;
  },
): Promise<ScriptedEpisode<Info>> {
  const { environment, task, uniform } = options;
  const ids = [...await environment.reset(task)];
  const owners: number[] = ids.map(() => OWNER.prompt);
  let observation = "";
  for (let turn = 0, done = false; !done; turn++) {
    const call = encodeCall(policy({ turn, observation, uniform }));
    const step = await environment.step(call);
    ids.push(...call, ...step.observation);
    owners.push(...call.map(() => OWNER.policy), ...step.observation.map(() => OWNER.tool));
    observation = decode(step.observation.slice(1, -1));
    done = step.done;
  }
  return { ids, owners, reward: await environment.reward(), info: await environment.info() };
}
