/** Answers requests from a recording, with the pace in which it was made. */
import type { Answer, Recording, Request } from "./messages.ts";

/** A step takes at least so long, so that eyes can follow. */
const LEAST_STEP_MS = 120;
/** And at most so long: a recording may come from a slow machine. */
const MOST_STEP_MS = 1000;

/** The kinds of answers to each request, in a recording. */
const TO_OPEN: readonly Answer["kind"][] = ["played"];
const TO_BEGIN: readonly Answer["kind"][] = ["checked", "ready"];
const TO_STEP: readonly Answer["kind"][] = ["stepped", "triaged", "ended"];

/** Calls `run` after so many milliseconds. */
type Later = (run: () => void, ms: number) => void;

/** The trainer's half of a conversation, as it was. Its settings are those of the recording, whatever is asked for. */
export class Replay {
  readonly #recording: Recording;
  readonly #post: (answer: Answer, begun: number) => void;
  readonly #later: Later;
  /** The answers to steps that are still to come. */
  #rest: Recording["answers"] = [];
  #begun = 0;
  /** Steps that are still wanted. */
  #wanted = 0;
  #isPlaying = false;
  /** True where `paused` is to be said behind the step that is being played. */
  #isPausing = false;

  /** @param later Timer (default the browser's). */
  constructor(
    recording: Recording,
    post: (answer: Answer, begun: number) => void,
    later: Later = (run, ms) => void setTimeout(run, ms),
  ) {
    this.#recording = recording;
    this.#post = post;
    this.#later = later;
  }

  /** As a session takes it. */
  send(request: Request): void {
    switch (request.kind) {
      case "open": {
        const { adapter } = this.#recording;
        this.#soon([{ kind: "opened", adapter, isReplay: true }, ...this.#answers(TO_OPEN)]);
        return;
      }
      case "begin":
        this.#begun++;
        this.#wanted = 0;
        this.#rest = this.#recording.answers.filter(({ answer }) => TO_STEP.includes(answer.kind));
        this.#soon(this.#answers(TO_BEGIN));
        return;
      case "step":
        this.#wanted = request.steps === "all" ? Infinity : this.#wanted + 1;
        this.#play();
        return;
      case "pause":
        this.#wanted = 0;
        if (!this.#isPlaying) this.#soon([{ kind: "paused" }]);
        this.#isPausing = this.#isPlaying;
        return;
      case "download":
        return; // A recording holds no files.
      default:
        return request satisfies never;
    }
  }

  /** Ends it. */
  close(): void {
    this.#rest = [];
    this.#wanted = 0;
  }

  #answers(kinds: readonly Answer["kind"][]): Answer[] {
    return this.#recording.answers.map(({ answer }) => answer)
      .filter(({ kind }) => kinds.includes(kind));
  }

  /** Answers in a turn of their own, as a worker's come. */
  #soon(answers: readonly Answer[]): void {
    const begun = this.#begun;
    this.#later(() => answers.forEach((answer) => this.#post(answer, begun)), 0);
  }

  /** Plays steps, one of each run, as long as some are wanted. */
  #play(): void {
    if (this.#isPlaying || this.#wanted === 0 || this.#rest.length === 0) return;
    this.#isPlaying = true;
    const round = this.#takeStep();
    const ms = Math.min(Math.max(round.ms, LEAST_STEP_MS), MOST_STEP_MS);
    const begun = this.#begun;
    this.#later(() => {
      this.#isPlaying = false;
      if (begun === this.#begun) {
        this.#wanted = Math.max(0, this.#wanted - 1);
        round.answers.forEach((answer) => this.#post(answer, begun));
        if (this.#isPausing) this.#post({ kind: "paused" }, begun);
      }
      this.#isPausing = false;
      this.#play();
    }, ms);
  }

  /** The answers about the next step, and how long it took. */
  #takeStep(): { readonly answers: readonly Answer[]; readonly ms: number } {
    const isOfStep = (step: number, answer: Answer) =>
      answer.kind !== "stepped" || answer.row.step === step;
    const [first] = this.#rest;
    const step = first?.answer.kind === "stepped" ? first.answer.row.step : 0;
    const next = this.#rest.findIndex(({ answer }) => !isOfStep(step, answer));
    const count = next < 0 ? this.#rest.length : next;
    const taken = this.#rest.slice(0, count);
    this.#rest = this.#rest.slice(count);
    return {
      answers: taken.map(({ answer }) => answer),
      ms: taken.reduce((sum, { answer }) => sum + (answer.kind === "stepped" ? answer.ms : 0), 0),
    };
  }
}
