/** An environment that is played in another process: a slot of it. */
import {
  type Environment,
  type EnvironmentSpec,
  type EpisodeInfo,
  EpisodeLostError,
  type StepResult,
} from "../gym/environment.ts";
import { ProcessEndedError } from "./environment_process.ts";
import type { Ask, AskType, SlotAnswer } from "./environment_protocol.ts";
import type { Recovery } from "./recovery.ts";

/** The process of a slot. */
export interface SlotPlace {
  /** How many processes have ended in this place; an episode does not outlive its process. */
  ends(): number;
  /** Asks the process, a new one where the last has ended. @throws {ProcessEndedError} When it ends instead of answering. */
  ask<T extends AskType>(type: T, ask: Ask): Promise<SlotAnswer<T>>;
  /** Plays episodes again. */
  readonly recovery: Recovery;
}

/** What a proxy needs to know. */
export interface ProxyOptions {
  readonly spec: EnvironmentSpec;
  /** The vocabulary, for the texts of calls. */
  readonly words: readonly string[];
  readonly slot: number;
  readonly place: SlotPlace;
}

/** A slot of a process, as an environment. */
export class EnvironmentProxy implements Environment {
  /** As the first process said it. */
  readonly spec: EnvironmentSpec;
  readonly #options: ProxyOptions;
  #task = 0;
  #ends = 0;
  #calls: (readonly number[])[] = [];
  #last: SlotAnswer<"step"> | undefined;
  #paid: number | undefined;
  /** What was answered so far. */
  #read: (readonly number[])[] = [];

  /** Asks nothing yet. */
  constructor(options: ProxyOptions) {
    this.#options = options;
    this.spec = options.spec;
  }

  /** Begins an episode in the process. */
  async reset(task: number): Promise<readonly number[]> {
    this.#task = task;
    this.#calls = [];
    this.#read = [];
    this.#last = undefined;
    this.#paid = undefined;
    this.#ends = this.#options.place.ends();
    const { observation } = await this.#recovered(() => this.#begin(), () => this.#begin());
    this.#read.push(observation);
    return observation;
  }

  #begin(): Promise<SlotAnswer<"reset">> {
    const { slot, place } = this.#options;
    this.#ends = place.ends();
    return place.ask("reset", { slot, task: this.#task });
  }

  /** Takes a call to the process. */
  async step(call: readonly number[]): Promise<StepResult> {
    const { slot, place } = this.#options;
    const ask = () => place.ask("step", { slot, call });
    this.#last = await this.#recovered(ask, async () => {
      if (!this.#isPlayed) await this.#catchUp();
      return await ask();
    });
    this.#calls.push(call);
    const { observation, done, reward } = this.#last;
    this.#read.push(observation);
    if (typeof reward !== "number") return { observation, done };
    this.#paid = (this.#paid ?? 0) + reward;
    return { observation, done, reward };
  }

  /** Whether the process has the episode: none has ended since it began there. */
  get #isPlayed(): boolean {
    return this.#options.place.ends() === this.#ends;
  }

  async #recovered<T>(ask: () => Promise<T>, again: () => Promise<T>): Promise<T> {
    const { recovery } = this.#options.place;
    if (recovery.isBusy || !this.#isPlayed) return await recovery.run(again);
    try {
      return await recovery.track(ask());
    } catch (error) {
      if (!(error instanceof ProcessEndedError)) throw error;
      return await recovery.run(again, error);
    }
  }

  /** Makes the calls of the episode so far in a new process; it must answer them as the last one did. */
  async #catchUp(): Promise<void> {
    const { slot, place } = this.#options;
    const read = [(await this.#begin()).observation];
    for (const call of this.#calls) {
      read.push((await place.ask("step", { slot, call })).observation);
    }
    if (JSON.stringify(read) === JSON.stringify(this.#read)) return;
    throw new EpisodeLostError(
      "its process ended, and the next one answered the same calls otherwise",
    );
  }

  /** The sum of what its calls were paid. @throws {Error} When none was: silence is no reward of 0. */
  reward(): number {
    if (this.#paid !== undefined) return this.#paid;
    throw new Error("the episode has ended, and none of its answers has a reward");
  }

  /** What the process told with the call that ended the episode. */
  info(): EpisodeInfo {
    const info = this.#last?.info;
    if (info === undefined || info === null) {
      throw new Error("its answer to the call that ended the episode has no info");
    }
    const { words } = this.#options;
    const { passed, ...rest } = info;
    return {
      ...rest,
      ...(passed !== undefined && { passed }),
      task: info.task ?? `task ${this.#task}`,
      turns: info.turns ?? this.#calls.length,
      calls: info.calls ??
        this.#calls.map((call) => call.map((id) => words[id] ?? String(id)).join(" ")),
    };
  }
}
