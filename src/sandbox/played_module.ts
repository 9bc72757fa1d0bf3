/** Answers the protocol's messages for an environment that is a definition in this program. */
import { at } from "../core/element.ts";
import { UserError } from "../core/errors.ts";
import { remark } from "../files/terminal.ts";
import type { Environment, StepResult } from "../gym/environment.ts";
import type { EnvironmentDefinition } from "../gym/environment_definition.ts";
import {
  type Ask,
  type AskType,
  PROTOCOL_VERSION,
  type Question,
  type ResetAsk,
  type StepAsk,
} from "./environment_protocol.ts";

/** Where questions come from and answers go. */
export interface PlayedModuleOptions {
  /** Loads the definition; called once. */
  readonly load: () => Promise<EnvironmentDefinition>;
  /** Takes a line of the answer. */
  readonly say: (line: string) => void;
}

/** An environment in its slot. */
interface Slot {
  readonly environment: Environment;
  isPaid: boolean;
}

/** Numbers that JSON has not are texts, so that they are refused by name instead of as a `null`. */
function withoutNaN(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** An error as an answer; its stack goes to standard error. */
function failureOf(error: unknown): { readonly error: string } | { readonly lost: string } {
  if (!(error instanceof Error)) return { error: String(error) };
  if (error.name === "EpisodeLostError") return { lost: error.message };
  if (error.name === "UserError") return { error: error.message };
  remark(`${error.stack}\n`);
  return { error: error.message === "" ? error.name : `${error.name}: ${error.message}` };
}

/** Goes on with a value, at once where it is no promise. */
function chain<T, U>(
  value: T | PromiseLike<T>,
  next: (value: T) => U | PromiseLike<U>,
): U | PromiseLike<U> {
  const isPromise = typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
  // The check tells the two apart, which the type checker does not see.
  return isPromise ? Promise.resolve(value).then(next) : next(value as T);
}

/** Turns of the queue of microtasks in which a promise that waits for nothing outside is kept. */
const QUICK_TURNS = 8;

class PlayedModule {
  readonly #definition: EnvironmentDefinition;
  readonly #slots = new Map<number, Slot>();
  #spare: Environment | undefined;

  private constructor(definition: EnvironmentDefinition, first: Environment) {
    this.#definition = definition;
    this.#spare = first;
  }

  static async open(definition: EnvironmentDefinition): Promise<PlayedModule> {
    return new PlayedModule(definition, await definition.create());
  }

  get hello(): Readonly<Record<string, unknown>> {
    const { name, words, tasks, metrics = [], demonstration } = this.#definition;
    return {
      version: PROTOCOL_VERSION,
      name,
      words,
      tasks,
      metrics,
      spec: this.#spare?.spec,
      demonstrations: demonstration !== undefined,
    };
  }

  #place(slot: number): Slot | PromiseLike<Slot> {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const spare = this.#spare;
    this.#spare = undefined;
    return chain(spare ?? this.#definition.create(), (environment) => {
      const place = { environment, isPaid: false };
      this.#slots.set(slot, place);
      return place;
    });
  }

  #reset({ slot, task }: ResetAsk): object | PromiseLike<object> {
    return chain(this.#place(slot), (place) => {
      place.isPaid = false;
      return chain(place.environment.reset(task), (observation) => ({ observation }));
    });
  }

  #step({ slot, call }: StepAsk): object | PromiseLike<object> {
    const place = this.#slots.get(slot);
    if (place === undefined) throw new UserError("no episode has begun in this slot");
    return chain(place.environment.step(call), (result): object | PromiseLike<object> => {
      if (typeof result !== "object" || result === null) {
        throw new TypeError(`step answered ${result}, but must answer { observation, done }`);
      }
      place.isPaid ||= typeof result.reward === "number";
      return result.done === true ? this.#ending(place, result) : result;
    });
  }

  #ending({ environment, isPaid }: Slot, result: StepResult): object | PromiseLike<object> {
    return chain(
      isPaid ? result.reward : environment.reward(),
      (reward) => chain(environment.info(), (info) => ({ ...result, reward, info })),
    );
  }

  /** An answer, at once where the environment answers at once. */
  answer(type: AskType, ask: Ask): object | PromiseLike<object> {
    if ("call" in ask) return this.#step(ask);
    if (type === "reset") return this.#reset(ask);
    const { demonstration } = this.#definition;
    if (demonstration === undefined) throw new UserError("there are no demonstrations");
    return chain(demonstration.call(this.#definition, ask.task), (calls) => ({ calls }));
  }
}

/**
 * Plays a definition for whoever speaks the protocol. Every slot is answered in a line of its own and as soon as it can be, so
 * that the other side knows which slot a hang or a crash was in.
 *
 * @returns Takes a line; it ends when the line is answered.
 */
export function playedModule(
  { load, say }: PlayedModuleOptions,
): (line: string) => Promise<void> {
  const tell = (message: object) => say(JSON.stringify(message, withoutNaN));
  const opened: PlayedModule[] = [];
  return async (line) => {
    const question: Question = JSON.parse(line);
    const { id, type } = question;
    if (type === "close") return;
    if (type === "hello") {
      try {
        opened.push(await PlayedModule.open(await load()));
        tell({ id, ...at(opened, 0).hello });
      } catch (error) {
        tell({ id, ...failureOf(error) });
      }
      return;
    }
    const late: Promise<void>[] = [];
    for (const ask of question.ask) {
      const { slot } = ask;
      const answered = (answer: object) => tell({ id, answers: [{ ...answer, slot }] });
      const failed = (error: unknown) => answered(failureOf(error));
      try {
        const answer = at(opened, 0).answer(type, ask);
        if (!(answer instanceof Promise)) answered(answer);
        else {
          late.push(answer.then(answered).catch(failed));
          for (let turn = 0; turn < QUICK_TURNS; turn++) await undefined;
        }
      } catch (error) {
        failed(error);
      }
    }
    await Promise.all(late);
  };
}
