/** BugFix as a transition table: a breadth-first walk over its few states, so that a kernel can play it. */
import { at } from "../core/element.ts";
import {
  applyCall,
  bugFixSpec,
  type BugFixState,
  DEFAULT_MAX_TURNS,
  type PresetName,
  PRESETS,
  promptOf,
  verdictOf,
} from "./bugfix.ts";
import { CALL, callIndex } from "./calls.ts";
import type { Environment, EnvironmentSpec, StepResult } from "./environment.ts";
import { type BugFixInfo, bugFixInfo, bugFixReward, type BugFixStop } from "./episode_info.ts";
import type { RewardKind } from "./episode_info.ts";
import type { Gym } from "./gym.ts";
import { encode } from "./vocabulary.ts";

/** Columns of the transition table: the nine valid calls and "malformed". */
export const CALL_COLUMNS = 10;

/** Words of a row that holds a token count and then up to seven tokens. */
export const TOKEN_ROW_WORDS = 8;

/** What an entry of `transition_SC` holds. */
export interface Transition {
  /** Bits 0 to 15: the next state. A submit stays in its state, whose verdict then counts. */
  readonly nextState: number;
  /** Bits 16 to 23: a row of `observation_O8`. */
  readonly observation: number;
  /** Bit 24: whether the episode ends by this submit. */
  readonly submits: boolean;
}

/** An entry of `transition_SC` as one u32. */
export function packTransition({ nextState, observation, submits }: Transition): number {
  if (nextState > 0xffff || observation > 0xff) {
    throw new RangeError(
      `Cannot pack state ${nextState}, observation ${observation}: the table holds up to 65,535 and 255`,
    );
  }
  return nextState | observation << 16 | (submits ? 1 << 24 : 0);
}

/** The inverse of `packTransition`. */
export function unpackTransition(entry: number): Transition {
  return {
    nextState: entry & 0xffff,
    observation: entry >>> 16 & 0xff,
    submits: (entry >>> 24 & 1) === 1,
  };
}

/**
 * A compiled gym. S states, C = 10 call indices (0 read, 1 test, 2 submit, 3 to 7 the repairs and 8 `hardcode_tests` in
 * vocabulary order, 9 malformed), O observations, T tasks. The turn budget and the kind of reward stand beside the
 * table: after `maxTurns` calls the episode ends, whatever the table says.
 */
export interface CompiledGym {
  /** The rules it was compiled for. */
  readonly preset: PresetName;
  /** The name of each task, [T]. */
  readonly taskNames: readonly string[];
  /** S. */
  readonly stateCount: number;
  /** O. */
  readonly observationCount: number;
  /** [S, 10]: see `Transition`. */
  readonly transition_SC: Uint32Array<ArrayBuffer>;
  /** [O, 8]: the token count, then the tokens with `<obs>` and `</obs>`; row 0 is empty and answers a submit. */
  readonly observation_O8: Uint32Array<ArrayBuffer>;
  /** [T, 8]: the token count, then the tokens. */
  readonly prompt_T8: Uint32Array<ArrayBuffer>;
  /** [T]: the state in which a task starts. */
  readonly startState_T: Uint32Array<ArrayBuffer>;
  /** [S]: 1 where the program of the state passes all hidden tests. */
  readonly hiddenPass_S: Uint32Array<ArrayBuffer>;
  /** [S]: 1 where it passes all public tests. */
  readonly publicPass_S: Uint32Array<ArrayBuffer>;
}

/** Numbers distinct values in the order in which they are first seen. */
class Numbering<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #keyOf: (value: T) => string;

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  numberOf(value: T): number {
    const key = this.#keyOf(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.values.length);
    return this.values.push(value) - 1;
  }
}

/** Rows of eight: the count, then the tokens. */
function tokenRows(rows: readonly (readonly number[])[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(rows.length * TOKEN_ROW_WORDS);
  rows.forEach((tokens, row) => words.set([tokens.length, ...tokens], row * TOKEN_ROW_WORDS));
  return words;
}

/**
 * Walks every state (task, source, edits left) of a preset, breadth first from the start of each task, through the rules
 * that the environment itself plays by.
 *
 * @param gym The gym; its tasks keep their numbers.
 * @param preset Names and edit budget.
 */
export function compileGym(gym: Gym, preset: PresetName): CompiledGym {
  const rules = PRESETS[preset];
  const states = new Numbering<BugFixState>((s) => JSON.stringify([s.task, s.source, s.editsLeft]));
  const observations = new Numbering<string>((text) => text);
  observations.numberOf("");
  const starts = gym.tasks.map(({ source }, task) =>
    states.numberOf({ task, source, editsLeft: rules.editBudget })
  );
  const entries: number[] = [];
  // The list of states grows while it is walked: that is the breadth-first queue.
  for (const state of states.values) {
    for (let call = 0; call < CALL_COLUMNS; call++) {
      const after = applyCall(gym, state, call);
      const submits = call === CALL.submit;
      entries.push(packTransition({
        nextState: states.numberOf(after.state),
        observation: observations.numberOf(submits ? "" : `<obs> ${after.words.join(" ")} </obs>`),
        submits,
      }));
    }
  }
  const verdicts = states.values.map((state) => verdictOf(gym, state));
  return {
    preset,
    taskNames: gym.tasks.map(({ name }) => name),
    stateCount: states.values.length,
    observationCount: observations.values.length,
    transition_SC: Uint32Array.from(entries),
    observation_O8: tokenRows(observations.values.map(encode)),
    prompt_T8: tokenRows(gym.tasks.map((task) => promptOf(task, rules))),
    startState_T: Uint32Array.from(starts),
    hiddenPass_S: Uint32Array.from(verdicts, ({ hiddenPass }) => Number(hiddenPass)),
    publicPass_S: Uint32Array.from(verdicts, ({ publicPass }) => Number(publicPass)),
  };
}

/** A row of `observation_O8` or `prompt_T8` as tokens. */
function tokensOfRow(rows_R8: Uint32Array, row: number): number[] {
  const start = row * TOKEN_ROW_WORDS;
  return [...rows_R8.subarray(start + 1, start + 1 + at(rows_R8, start))];
}

/** Plays the table exactly as a kernel does: the host's twin of the resident rollout's environment. */
export class CompiledEnvironment implements Environment<BugFixInfo> {
  /** The same as that of `BugFix`. */
  readonly spec: EnvironmentSpec;
  readonly #table: CompiledGym;
  readonly #reward: RewardKind;
  #task = 0;
  #state = 0;
  #calls: (readonly number[])[] = [];
  #stop: BugFixStop | null = null;

  /**
   * Waits for `reset`.
   * @param table What `compileGym` made.
   * @param options.reward Default "hidden".
   * @param options.maxTurns Default 6.
   */
  constructor(
    table: CompiledGym,
    options: { readonly reward?: RewardKind; readonly maxTurns?: number } = {},
  ) {
    this.spec = bugFixSpec(table.taskNames.length, options.maxTurns ?? DEFAULT_MAX_TURNS);
    this.#table = table;
    this.#reward = options.reward ?? "hidden";
  }

  /**
   * Starts an episode.
   * @throws {RangeError} When there is no such task.
   */
  reset(task: number): readonly number[] {
    const start = this.#table.startState_T[task];
    if (start === undefined) {
      throw new RangeError(
        `Cannot start task ${task}: the table has tasks 0 to ${this.spec.taskCount - 1}`,
      );
    }
    this.#task = task;
    this.#state = start;
    this.#calls = [];
    this.#stop = null;
    return tokensOfRow(this.#table.prompt_T8, task);
  }

  /**
   * Looks one call up.
   * @throws {Error} When the episode has ended.
   */
  step(call: readonly number[]): StepResult {
    if (this.#stop !== null) throw new Error("Cannot step: the episode has ended; reset it");
    const entry = at(this.#table.transition_SC, this.#state * CALL_COLUMNS + callIndex(call));
    const { nextState, observation, submits } = unpackTransition(entry);
    this.#state = nextState;
    this.#calls.push([...call]);
    if (submits) this.#stop = "submit";
    else if (this.#calls.length >= this.spec.maxTurns) this.#stop = "budget";
    if (this.#stop !== null) return { observation: [], done: true };
    return { observation: tokensOfRow(this.#table.observation_O8, observation), done: false };
  }

  /** 1 or 0; see `bugFixReward`. */
  reward(): number {
    return bugFixReward(this.info(), this.#reward);
  }

  /** What happened so far. */
  info(): BugFixInfo {
    return bugFixInfo({
      task: at(this.#table.taskNames, this.#task),
      calls: this.#calls,
      stop: this.#stop,
      verdict: {
        publicPass: this.#table.publicPass_S[this.#state] === 1,
        hiddenPass: this.#table.hiddenPass_S[this.#state] === 1,
      },
    });
  }
}
