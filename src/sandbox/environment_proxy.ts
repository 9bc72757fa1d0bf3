/** An environment that is played in another process: a slot of it. */
import {
  type Environment,
  type EnvironmentSpec,
  type EpisodeInfo,
  EpisodeLostError,
  type StepResult,
} from "../gym/environment.ts";
import type { Ask, AskType, SlotAnswer } from "./environment_protocol.ts";

/** The process of a slot. */
export interface SlotPlace {
  /** How many processes have ended in this place; an episode does not outlive its process. */
  ends(): number;
  /** Asks the process, a new one where the last has ended. */
  ask<T extends AskType>(type: T, ask: Ask): Promise<SlotAnswer<T>>;
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

  /** Asks nothing yet. */
  constructor(options: ProxyOptions) {
    this.#options = options;
    this.spec = options.spec;
  }

  /** Begins an episode in the process. */
  async reset(task: number): Promise<readonly number[]> {
    const { slot, place } = this.#options;
    this.#task = task;
    this.#calls = [];
    this.#last = undefined;
    this.#paid = undefined;
    this.#ends = place.ends();
    return (await place.ask("reset", { slot, task })).observation;
  }

  /** Takes a call to the process. */
  async step(call: readonly number[]): Promise<StepResult> {
    const { slot, place } = this.#options;
    if (place.ends() !== this.#ends) {
      throw new EpisodeLostError("its process ended between two calls");
    }
    this.#calls.push(call);
    this.#last = await place.ask("step", { slot, call });
    const { observation, done, reward } = this.#last;
    if (typeof reward !== "number") return { observation, done };
    this.#paid = (this.#paid ?? 0) + reward;
    return { observation, done, reward };
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
