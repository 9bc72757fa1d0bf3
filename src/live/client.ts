/** The page's half of the conversation: finds who answers, a worker, this thread, or else the recording. */
/// <reference lib="dom" />
import { bytesOf } from "./base64.ts";
import { BLOCKS } from "./blocks.ts";
import type { Answer, LiveData, Request } from "./messages.ts";
import { Replay } from "./replay.ts";
import type { Session, SessionOptions } from "./session.ts";
import { type FromWorker, SESSION_NAME, type ToWorker } from "./worker_messages.ts";

/** Who answers requests. */
interface Trainer {
  send(request: Request): void;
  /** Ends its work. */
  close(): void;
}

/** Takes an answer, and how many `begin`s came before it. */
type Post = (answer: Answer, begun: number) => void;

/** These say nothing about runs, so that no `begin` makes them late. */
const NOT_OF_RUNS: readonly Answer["kind"][] = ["opened", "played", "progress", "failed"];

/**
 * Begins a conversation. Answers about runs that a later `begin` has ended are held back.
 *
 * @param data What stands in the page.
 * @param onAnswer Takes the answers, in their order and never while `send` runs.
 */
export function connect(
  data: LiveData,
  onAnswer: (answer: Answer) => void,
): { send(request: Request): void } {
  return new Connection(data, onAnswer);
}

class Connection {
  readonly #data: LiveData;
  readonly #onAnswer: (answer: Answer) => void;
  /** Ways to get an answer that were not tried yet. */
  readonly #ways: ((post: Post) => Trainer | undefined)[];
  #trainer: Trainer | undefined;
  #begun = 0;

  constructor(data: LiveData, onAnswer: (answer: Answer) => void) {
    this.#data = data;
    this.#onAnswer = onAnswer;
    this.#ways = [
      (post) => workerTrainer(data, post),
      (post) => ownTrainer(data, post),
    ];
  }

  send(request: Request): void {
    if (request.kind === "begin") this.#begun++;
    this.#trainer ??= this.#nextTrainer() ?? this.#replay();
    this.#trainer.send(request);
  }

  #nextTrainer(): Trainer | undefined {
    for (;;) {
      const way = this.#ways.shift();
      if (way === undefined) return undefined;
      const trainer: Trainer | undefined = way((answer, begun) => {
        if (trainer !== undefined && this.#trainer === trainer) this.#hear(answer, begun);
      });
      if (trainer !== undefined) return trainer;
    }
  }

  #replay(): Trainer {
    return new Replay(this.#data.recording, (answer, begun) => this.#hear(answer, begun));
  }

  #hear(answer: Answer, begun: number): void {
    if (answer.kind === "failed" && answer.reason === "no-webgpu") {
      this.#trainer?.close();
      this.#begun = 0;
      this.#trainer = this.#nextTrainer();
      if (this.#trainer !== undefined) {
        this.#trainer.send({ kind: "open" });
        return;
      }
      this.#trainer = this.#replay();
    }
    if (begun < this.#begun && !NOT_OF_RUNS.includes(answer.kind)) return;
    this.#onAnswer(answer);
  }
}

/** The worker's text; undefined where the page holds none. */
function workerText(): string | undefined {
  const text = document.getElementById(BLOCKS.worker)?.textContent;
  return text ? JSON.parse(text) : undefined;
}

const NO_WORKER: Answer = {
  kind: "failed",
  reason: "no-webgpu",
  sentence: "Nothing can be computed here: the browser does not start the page's script.",
};

/** A worker that trains; undefined where the browser starts none. */
function workerTrainer({ base, config }: LiveData, post: Post): Trainer | undefined {
  const text = workerText();
  if (text === undefined) return undefined;
  let worker: Worker;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    worker = new Worker(address);
  } catch {
    URL.revokeObjectURL(address);
    return undefined;
  }
  let hasAnswered = false;
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    hasAnswered = true;
    post(data.answer, data.begun);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    const sentence = `The trainer ended: ${event.message}.`;
    post(hasAnswered ? { kind: "failed", reason: "mistake", sentence } : NO_WORKER, Infinity);
  };
  const send = (message: ToWorker) => worker.postMessage(message);
  send({ base, config });
  return {
    send,
    close: () => {
      worker.terminate();
      URL.revokeObjectURL(address);
    },
  };
}

/** A session in this thread: the worker's text as a script of the page, which its policy allows. */
function ownTrainer({ base, config }: LiveData, post: Post): Trainer | undefined {
  const text = workerText();
  if (text === undefined || navigator.gpu === undefined) return undefined;
  const script = document.createElement("script");
  script.textContent = text;
  document.body.append(script);
  script.remove();
  const open: unknown = Reflect.get(globalThis, SESSION_NAME);
  if (typeof open !== "function") return undefined;
  // In a turn of its own, so that nobody is answered while it asks.
  const later: Post = (answer, begun) => void setTimeout(() => post(answer, begun), 0);
  const options: SessionOptions = { base: bytesOf(base), config, post: later };
  const session: Session = open(options);
  return { send: (request) => session.send(request), close: () => {} };
}
