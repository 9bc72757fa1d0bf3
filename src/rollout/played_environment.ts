/** An environment while it is played: what it answers is checked, and a failure names the task and the call. */
import { UserError } from "../core/errors.ts";
import { describeValue } from "../core/schema.ts";
import type { BehaviourMetric } from "../gym/environment_definition.ts";
import {
  type Environment,
  type EnvironmentSpec,
  type EpisodeInfo,
  EpisodeLostError,
} from "../gym/environment.ts";

/** How an episode ended. */
export interface EpisodeEnding<Info extends EpisodeInfo> {
  /** The sum of what its calls were paid, or the environment's own answer. */
  readonly reward: number;
  /** What happened in it. */
  readonly info: Info;
}

/** What a sentence about a failure calls the environment, and what its tokens may be. */
export interface PlayedOptions {
  /** Its name; left out: "the environment". */
  readonly name?: string | undefined;
  /** V: ids run from 0 to V − 1. */
  readonly vocabSize: number;
  /** Numbers or booleans that its info must hold; none where left out. */
  readonly metrics?: readonly Pick<BehaviourMetric, "name">[] | undefined;
}

/** What an error says. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** One environment, one episode at a time. Everything that it is asked for may come as a promise. */
export class PlayedEnvironment<Info extends EpisodeInfo> {
  /** The environment's. */
  readonly spec: EnvironmentSpec;
  readonly #environment: Environment<Info>;
  readonly #options: PlayedOptions;
  #task = 0;
  #turns = 0;
  #paid: number | undefined;

  /** Waits for `reset`. */
  constructor(environment: Environment<Info>, options: PlayedOptions) {
    this.spec = environment.spec;
    this.#environment = environment;
    this.#options = options;
  }

  /** Calls of the episode that have been answered or are being answered. */
  get turns(): number {
    return this.#turns;
  }

  /** A sentence about this environment, at this place. */
  #refuse(what: string, cause?: unknown): UserError {
    const { name } = this.#options;
    const who = name === undefined ? "The environment" : `The environment ${name}`;
    const place = this.#turns === 0 ? "reset" : `call ${this.#turns}`;
    const error = new UserError(`${who} ${what.replace("#", `in task ${this.#task}, ${place}`)}`);
    error.cause = cause;
    return error;
  }

  /** Asks, and says where it failed. A lost episode is no failure. */
  async #ask<T>(question: () => T | Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      if (error instanceof EpisodeLostError) throw error;
      throw this.#refuse(`failed #: ${messageOf(error)}`, error);
    }
  }

  #requireTokens(tokens: unknown, what: string): readonly number[] {
    if (!Array.isArray(tokens)) {
      throw this.#refuse(`is wrong #: its ${what} ${describeValue(tokens)}, but must be a list`);
    }
    const { vocabSize } = this.#options;
    const bad = tokens.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
    if (bad >= 0) {
      throw this.#refuse(
        `is wrong #: token ${bad} of its ${what} ${
          describeValue(tokens[bad])
        }, but ids run from 0 to ${vocabSize - 1}`,
      );
    }
    return tokens;
  }

  /**
   * Starts an episode.
   * @throws {UserError} When the environment fails or its prompt is not allowed; {EpisodeLostError} when the episode is lost.
   */
  async reset(task: number): Promise<readonly number[]> {
    this.#task = task;
    this.#turns = 0;
    this.#paid = undefined;
    const prompt = this.#requireTokens(
      await this.#ask(() => this.#environment.reset(task)),
      "prompt",
    );
    const { maxEpisodeTokens, maxCallTokens } = this.spec;
    if (prompt.length === 0) {
      throw this.#refuse("is wrong #: its prompt is empty, but must have a token");
    }
    if (prompt.length + maxCallTokens > maxEpisodeTokens) {
      throw this.#refuse(
        `is wrong #: its prompt of ${prompt.length} tokens and a call of ${maxCallTokens} exceed ` +
          `the ${maxEpisodeTokens} of spec.maxEpisodeTokens`,
      );
    }
    return prompt;
  }

  /**
   * Answers a call.
   *
   * @param call The call's tokens.
   * @param length Tokens of the episode so far, the call among them.
   * @returns The observation, and undefined where the episode has ended.
   * @throws {UserError} When the environment fails or answers what is not allowed; {EpisodeLostError} when the episode is lost.
   */
  async step(call: readonly number[], length: number): Promise<readonly number[] | undefined> {
    this.#turns++;
    const answer: unknown = await this.#ask(() => this.#environment.step(call));
    const { observation, done, reward } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof done !== "boolean") {
      throw this.#refuse(`is wrong #: done ${describeValue(done)}, but must be true or false`);
    }
    if (reward !== undefined && reward !== null) {
      this.#paid = (this.#paid ?? 0) + this.#requireReward(reward);
    }
    const tokens = this.#requireTokens(observation, "observation");
    if (done) return undefined;
    const { maxTurns, maxCallTokens, maxEpisodeTokens } = this.spec;
    if (this.#turns >= maxTurns) {
      throw this.#refuse(
        `is wrong #: its spec allows ${maxTurns} calls, so this one must end the episode, but done is false`,
      );
    }
    if (tokens.length === 0) {
      throw this.#refuse(
        "is wrong #: its observation is empty, but the episode goes on, so it must have a token",
      );
    }
    if (length + tokens.length + maxCallTokens > maxEpisodeTokens) {
      throw this.#refuse(
        `is wrong #: ${length} tokens, ${tokens.length} observed and a call of ${maxCallTokens} exceed ` +
          `the ${maxEpisodeTokens} of spec.maxEpisodeTokens`,
      );
    }
    return tokens;
  }

  #requireReward(reward: unknown): number {
    if (typeof reward === "number" && Number.isFinite(reward)) return reward;
    throw this.#refuse(
      `is wrong #: its reward ${describeValue(reward)}, but must be a finite number`,
    );
  }

  /**
   * What the episode that has ended was paid, and what happened in it.
   * @throws {UserError} When the environment fails or answers what is not allowed; {EpisodeLostError} when the episode is lost.
   */
  async ending(): Promise<EpisodeEnding<Info>> {
    const reward = this.#paid ??
      this.#requireReward(await this.#ask(() => this.#environment.reward()));
    const info = await this.#ask(() => this.#environment.info());
    const { task, turns, malformed, calls } = (info ?? {}) as Readonly<Record<string, unknown>>;
    const wrong = typeof task !== "string"
      ? `info.task ${describeValue(task)}, but must be a text`
      : !isCount(turns)
      ? `info.turns ${describeValue(turns)}, but must be a count`
      : !isCount(malformed)
      ? `info.malformed ${describeValue(malformed)}, but must be a count`
      : !(Array.isArray(calls) && calls.every((call) => typeof call === "string"))
      ? `info.calls ${describeValue(calls)}, but must be a list of texts`
      : undefined;
    if (wrong !== undefined) throw this.#refuse(`is wrong #: ${wrong}`);
    for (const { name } of this.#options.metrics ?? []) {
      const value = Reflect.get(info, name);
      if (typeof value === "boolean" || Number.isFinite(value)) continue;
      throw this.#refuse(
        `is wrong #: info.${name} ${
          describeValue(value)
        }, but a metric must be a number or true or false`,
      );
    }
    return { reward, info };
  }
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}
