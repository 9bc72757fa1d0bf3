/** One process of an environment: questions of the same moment go to it in one message, and its answers are matched to them. */
import { EpisodeLostError } from "../gym/environment.ts";
import { holdToSchema } from "../core/schema.ts";
import {
  answerSchema,
  type Ask,
  type AskType,
  failureSchema,
  type Hello,
  helloSchema,
  PROTOCOL_VERSION,
  type Question,
  SLOT_ANSWERS,
  type SlotAnswer,
} from "./environment_protocol.ts";
import { LineProcess } from "./line_process.ts";

/** A process has at least so much time to say hello: it may have to load a large library. */
const START_MS = 120_000;

/** How much of a line that is no message is quoted. */
const QUOTED_CHARACTERS = 60;

/** How a process is started and heard. */
export interface EnvironmentProcessOptions {
  /** Program and arguments. */
  readonly words: readonly string[];
  /** How long it may say nothing while it owes an answer. */
  readonly timeoutMs: number;
  /** Whether it tells what it should; left out: it is the first. */
  readonly isExpected?: (hello: Hello) => boolean;
  /** Takes pieces of its standard error. */
  readonly onRemark: (text: string) => void;
  /** Called once when it has ended of itself or did not answer in time; before its questions are refused. */
  readonly onEnd: () => void;
}

/** A process has ended, or was ended because it did not answer in time: another one may do better. */
export class ProcessEndedError extends Error {
  /** The class. */
  override readonly name = "ProcessEndedError";
}

/** A question that waits for its answer. */
interface Waiting {
  readonly type: AskType;
  readonly ask: Ask;
  resolve(answer: SlotAnswer): void;
  reject(error: Error): void;
}

/** The slots that a message asks about and that have no answer yet. */
interface Asked {
  readonly type: AskType;
  readonly slots: Map<number, Waiting>;
}

/** NaN and ±Infinity as Python writes them; JSON has none. Texts are no schema's numbers, so that they are refused by name. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    try {
      return JSON.parse(line.replace(/(?<=[:,[]\s*)(-?(?:NaN|Infinity))(?=\s*[,\]}])/g, '"$1"'));
    } catch {
      return undefined;
    }
  }
}

/** One process, from its start to its end. */
export class EnvironmentProcess {
  /** What it says of its environment; rejects where it does not say it as required. */
  readonly hello: Promise<Hello>;
  readonly #options: EnvironmentProcessOptions;
  readonly #process: LineProcess;
  readonly #greeting = Promise.withResolvers<Hello>();
  readonly #asked = new Map<number, Asked>();
  #queue: Waiting[] = [];
  #nextId = 1;
  #isGreeted = false;
  #failure: Error | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts it. @throws {UserError} When it cannot be started. */
  constructor(options: EnvironmentProcessOptions) {
    this.#options = options;
    this.hello = this.#greeting.promise;
    // Whoever asks hears of it.
    this.hello.catch(() => {});
    this.#process = new LineProcess(options.words, {
      onLine: (line) => this.#hear(line),
      onRemark: options.onRemark,
      onEnd: (how) => this.#hearEnd(how),
    });
    this.#say({ id: 0, type: "hello", version: PROTOCOL_VERSION });
    this.#setTimer(Math.max(START_MS, options.timeoutMs), "did not say hello");
  }

  /**
   * Asks about a slot. All that is asked before the next moment goes in one message for each type.
   *
   * @returns What it answers, held to the schema.
   * @throws {ProcessEndedError} When it has ended; {EpisodeLostError} when it says so; {Error} for every other failure.
   */
  ask<T extends AskType>(type: T, ask: Ask): Promise<SlotAnswer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<SlotAnswer>();
    if (this.#failure !== undefined) reject(this.#failure);
    else {
      if (this.#queue.length === 0) queueMicrotask(() => this.#send());
      this.#queue.push({ type, ask, resolve, reject });
    }
    // It was held to the schema of its type.
    return promise as Promise<SlotAnswer<T>>;
  }

  #send(): void {
    if (!this.#isGreeted) return;
    const queue = this.#queue;
    this.#queue = [];
    let asked: Asked | undefined;
    const messages: Asked[] = [];
    for (const waiting of queue) {
      if (asked?.type !== waiting.type || asked.slots.has(waiting.ask.slot)) {
        asked = { type: waiting.type, slots: new Map() };
        messages.push(asked);
      }
      asked.slots.set(waiting.ask.slot, waiting);
    }
    for (const message of messages) {
      const id = this.#nextId++;
      this.#asked.set(id, message);
      const ask = Array.from(message.slots.values(), (waiting) => waiting.ask);
      // A union of messages, each of which has questions of its type alone.
      this.#say({ id, type: message.type, ask } as Question);
    }
    this.#wait();
  }

  #say(question: Question): void {
    this.#process.say(JSON.stringify(question));
  }

  #setTimer(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#process.end(`${what} within ${ms / 1000} s`);
    }, ms);
  }

  /** Begins to wait again, or no more. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#asked.size > 0) this.#setTimer(this.#options.timeoutMs, "gave no answer");
  }

  #hear(line: string): void {
    if (line.trim() === "") return;
    const message = holdToSchema(parseLine(line), answerSchema);
    if ("problem" in message) {
      const start = line.slice(0, QUOTED_CHARACTERS);
      return this.#misspeak(
        `wrote to its standard output what is no answer, ${JSON.stringify(start)}${
          start === line ? "" : "…"
        }; whatever else it prints must go to standard error`,
      );
    }
    const { id, error, answers } = message.value;
    if (id === 0 && !this.#isGreeted) return this.#hearHello(message.value);
    const asked = this.#asked.get(id);
    if (asked === undefined) {
      return this.#misspeak(`answered message ${id}, which does not wait for an answer`);
    }
    if (error !== undefined) {
      for (const waiting of asked.slots.values()) waiting.reject(new Error(error));
      this.#asked.delete(id);
    } else if (answers === undefined) {
      return this.#misspeak(`answered message ${id} without answers`);
    }
    for (const answer of error === undefined ? answers ?? [] : []) {
      const waiting = asked.slots.get(answer.slot);
      if (waiting === undefined) {
        return this.#misspeak(
          `answered message ${id} for slot ${answer.slot}, which does not wait for an answer`,
        );
      }
      asked.slots.delete(answer.slot);
      this.#answer(waiting, answer);
    }
    if (asked.slots.size === 0) this.#asked.delete(id);
    this.#wait();
  }

  #answer({ type, resolve, reject }: Waiting, answer: unknown): void {
    const failure = holdToSchema(answer, failureSchema);
    const held = holdToSchema<SlotAnswer>(answer, SLOT_ANSWERS[type]);
    if ("value" in failure && failure.value.error !== undefined) {
      reject(new Error(failure.value.error));
    } else if ("value" in failure && failure.value.lost !== undefined) {
      reject(new EpisodeLostError(failure.value.lost));
    } else if ("value" in held) resolve(held.value);
    else reject(new Error(`its answer is wrong: ${held.problem}`));
  }

  #hearHello(message: Readonly<Record<string, unknown>>): void {
    const { version, error } = message;
    if (typeof error === "string") return this.#fail(new Error(error));
    if (Number.isInteger(version) && version !== PROTOCOL_VERSION) {
      return this.#misspeak(
        `speaks version ${version} of the protocol, and this program version ${PROTOCOL_VERSION}`,
      );
    }
    const hello = holdToSchema(message, helloSchema);
    if ("problem" in hello) return this.#fail(new Error(`its hello is wrong: ${hello.problem}`));
    if (this.#options.isExpected?.(hello.value) === false) {
      return this.#misspeak("says hello otherwise than the first process of the environment did");
    }
    this.#isGreeted = true;
    this.#greeting.resolve(hello.value);
    this.#wait();
    this.#send();
  }

  #misspeak(what: string): void {
    this.#fail(new Error(`its process ${what}`));
  }

  /** Refuses everything that is asked from now on. */
  #fail(error: Error): void {
    this.#failure ??= error;
    clearTimeout(this.#timer);
    this.#process.end("");
    this.#greeting.reject(error);
    const waiting = [...this.#asked.values()].flatMap(({ slots }) => [...slots.values()]);
    this.#asked.clear();
    for (const { reject } of [...waiting, ...this.#queue]) reject(error);
    this.#queue = [];
  }

  #hearEnd(how: string): void {
    // It was ended because it failed.
    if (this.#failure !== undefined) return;
    const { lastRemark } = this.#process;
    this.#options.onEnd();
    this.#fail(
      new ProcessEndedError(
        `its process ${how}${
          lastRemark === ""
            ? ""
            : `; the last line of its standard error is ${JSON.stringify(lastRemark)}`
        }`,
      ),
    );
  }

  /** Lets it end; it is asked nothing any more. */
  async close(): Promise<void> {
    if (this.#failure === undefined) {
      this.#failure = new Error("its process was closed");
      clearTimeout(this.#timer);
      this.#say({ id: this.#nextId, type: "close" });
    }
    await this.#process.close();
  }
}
