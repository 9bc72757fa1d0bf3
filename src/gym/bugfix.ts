/** The BugFix environment: find the one bug of a small program, repair it, submit. */
import { CALL, callIndex, editOf, MAX_CALL_TOKENS } from "./calls.ts";
import type { Environment, EnvironmentSpec, StepResult } from "./environment.ts";
import { type BugFixInfo, bugFixInfo, bugFixReward, type BugFixStop } from "./episode_info.ts";
import type { RewardKind } from "./episode_info.ts";
import type { Gym, Verdict } from "./gym.ts";
import { applyOperation, wordsOfSource } from "./operations.ts";
import type { Task } from "./task.ts";
import { encode, TOKEN, type Word } from "./vocabulary.ts";

/** What differs between the presets. */
export interface BugFixRules {
  /** Whether the prompt says `fail` instead of the task's name. */
  readonly hideNames: boolean;
  /** How many edits of an episode take effect; every well-formed one counts, also one that changes nothing. */
  readonly editBudget: number;
}

/** The name of a preset. */
export type PresetName = "chapter6" | "rl";

/**
 * `chapter6`: names shown, edits unlimited. `rl`: names hidden and only the first edit takes effect, so that neither a
 * memorised name nor stacked edits replace reading: blind guessing passes 1 in 5.
 */
export const PRESETS: Readonly<Record<PresetName, BugFixRules>> = Object.freeze({
  chapter6: { hideNames: false, editBudget: Infinity },
  rl: { hideNames: true, editBudget: 1 },
});

/** Where an episode stands, apart from its turns. */
export interface BugFixState {
  /** The task's number. */
  readonly task: number;
  /** The program as edited so far. */
  readonly source: string;
  /** Edits that can still take effect. */
  readonly editsLeft: number;
}

/** The turn budget where none is given. */
export const DEFAULT_MAX_TURNS = 6;

/** The longest prompt and the longest observation: `<task> NAME` and `<obs> max min </obs>`. */
const PROMPT_TOKENS = 2;
const MAX_OBSERVATION_TOKENS = 4;

/** The shape of BugFix episodes for a turn budget. No observation follows the last call. */
export function bugFixSpec(taskCount: number, maxTurns: number): EnvironmentSpec {
  if (!(Number.isInteger(maxTurns) && maxTurns >= 1)) {
    throw new RangeError(`Cannot make BugFix with ${maxTurns} turns: at least 1 is required`);
  }
  return {
    callEnd: TOKEN["</call>"],
    maxCallTokens: MAX_CALL_TOKENS,
    maxTurns,
    maxEpisodeTokens: PROMPT_TOKENS + maxTurns * MAX_CALL_TOKENS +
      (maxTurns - 1) * MAX_OBSERVATION_TOKENS,
    taskCount,
  };
}

/** Token ids of the prompt of a task. */
export function promptOf(task: Task, rules: BugFixRules): number[] {
  return encode(`<task> ${rules.hideNames ? "fail" : task.name}`);
}

/** The task with this number. @throws {RangeError} When there is none. */
export function taskOf(gym: Gym, task: number): Task {
  const found = gym.tasks[task];
  if (found === undefined) {
    throw new RangeError(
      `Cannot start task ${task}: the gym has tasks 0 to ${gym.tasks.length - 1}`,
    );
  }
  return found;
}

/** The verdict of the program of a state. */
export function verdictOf(gym: Gym, { task, source }: BugFixState): Verdict {
  const verdict = gym.verdicts[task]?.get(source);
  if (verdict === undefined) {
    throw new RangeError(`Cannot judge task ${task}: no edits lead to this source:\n${source}`);
  }
  return verdict;
}

/**
 * The rules of the gym but for its turn budget: what one call does to a state and the words that answer it (none to a
 * submit).
 *
 * @param gym The gym.
 * @param state The state before the call; it is not changed.
 * @param call A call index, 0 to 9 (calls.ts).
 */
export function applyCall(
  gym: Gym,
  state: BugFixState,
  call: number,
): { readonly state: BugFixState; readonly words: readonly Word[] } {
  const operation = editOf(call);
  if (operation !== null) {
    const source = state.editsLeft > 0
      ? applyOperation(operation, { ...taskOf(gym, state.task), source: state.source })
      : state.source;
    const editsLeft = Math.max(0, state.editsLeft - 1);
    return {
      state: { ...state, source, editsLeft },
      words: [source === state.source ? "same" : "ok"],
    };
  }
  switch (call) {
    case CALL.read:
      return { state, words: wordsOfSource(state.source) };
    case CALL.test:
      return { state, words: [verdictOf(gym, state).publicPass ? "pass" : "fail"] };
    case CALL.submit:
      return { state, words: [] };
    default:
      return { state, words: ["fail", "same"] };
  }
}

/** What makes a BugFix environment beside its gym. */
export interface BugFixOptions {
  /** Names and edit budget. */
  readonly preset: PresetName;
  /** Default "hidden". */
  readonly reward?: RewardKind;
  /** Calls an episode may have; default 6. */
  readonly maxTurns?: number;
}

/**
 * One BugFix episode at a time.
 *
 * A call that is none of the nine valid ones costs a turn and is answered `fail same`. The episode ends at `submit` or
 * after the turn budget, then without an observation.
 *
 * @example
 * ```ts
 * import { BugFix } from "./bugfix.ts";
 * import { encodeCall } from "./calls.ts";
 * import { openGym } from "./gym.ts";
 * import { decode } from "./vocabulary.ts";
 * const environment = new BugFix(openGym(), { preset: "chapter6" });
 * console.log(decode(environment.reset(0))); // <task> total
 * console.log(decode(environment.step(encodeCall("read")).observation)); // <obs> acc 1 </obs>
 * ```
 */
export class BugFix implements Environment<BugFixInfo> {
  /** The turn budget and what follows from it. */
  readonly spec: EnvironmentSpec;
  readonly #gym: Gym;
  readonly #rules: BugFixRules;
  readonly #reward: RewardKind;
  #state: BugFixState | null = null;
  #calls: (readonly number[])[] = [];
  #stop: BugFixStop | null = null;

  /**
   * Waits for `reset`.
   * @throws {RangeError} When maxTurns is not a whole number from 1.
   */
  constructor(gym: Gym, options: BugFixOptions) {
    this.spec = bugFixSpec(gym.tasks.length, options.maxTurns ?? DEFAULT_MAX_TURNS);
    this.#gym = gym;
    this.#rules = PRESETS[options.preset];
    this.#reward = options.reward ?? "hidden";
  }

  /**
   * Starts an episode; its prompt is `<task> NAME`, or `<task> fail` where names are hidden.
   * @throws {RangeError} When there is no such task.
   */
  reset(task: number): readonly number[] {
    const { source } = taskOf(this.#gym, task);
    this.#state = { task, source, editsLeft: this.#rules.editBudget };
    this.#calls = [];
    this.#stop = null;
    return promptOf(taskOf(this.#gym, task), this.#rules);
  }

  /**
   * Answers one call.
   * @throws {Error} When no episode is running.
   */
  step(call: readonly number[]): StepResult {
    if (this.#stop !== null) throw new Error("Cannot step BugFix: its episode has ended; reset it");
    const index = callIndex(call);
    const { state, words } = applyCall(this.#gym, this.#current(), index);
    this.#state = state;
    this.#calls.push([...call]);
    if (index === CALL.submit) this.#stop = "submit";
    else if (this.#calls.length >= this.spec.maxTurns) this.#stop = "budget";
    if (this.#stop !== null) return { observation: [], done: true };
    return { observation: encode(`<obs> ${words.join(" ")} </obs>`), done: false };
  }

  /** 1 or 0; see `bugFixReward`. */
  reward(): number {
    return bugFixReward(this.info(), this.#reward);
  }

  /** What happened so far. */
  info(): BugFixInfo {
    const state = this.#current();
    return bugFixInfo({
      task: taskOf(this.#gym, state.task).name,
      calls: this.#calls,
      stop: this.#stop,
      verdict: verdictOf(this.#gym, state),
    });
  }

  #current(): BugFixState {
    if (this.#state === null) throw new Error("Cannot use BugFix before reset(task)");
    return this.#state;
  }
}
