/** A second, different environment: a key lies behind one of three doors; peek to find it, then open that door. */
import type { Environment, EpisodeInfo, StepResult } from "../../src/gym/environment.ts";
import { decode, encode, TOKEN } from "../../src/gym/vocabulary.ts";

/** The doors, named by words that the vocabulary has already. A task is the number of the door with the key. */
const DOORS = ["min", "guard", "max"];

/** Beside what every environment tells: how many doors were peeked behind. */
export interface KeyHuntInfo extends EpisodeInfo {
  readonly stop: "opened" | "budget" | null;
  readonly peeks: number;
}

/**
 * The prompt is `<task> range`. `<call> read DOOR </call>` peeks (`pass` where the key is, else `fail`),
 * `<call> submit DOOR </call>` opens and ends the episode with reward 1 or 0; four calls are allowed.
 */
export class ThreeDoors implements Environment<KeyHuntInfo> {
  readonly spec = {
    callEnd: TOKEN["</call>"],
    maxCallTokens: 4,
    maxTurns: 4,
    maxEpisodeTokens: 2 + 4 * 4 + 3 * 3,
    taskCount: DOORS.length,
  };
  #keyDoor = 0;
  #opened: string | null = null;
  #calls: string[] = [];

  reset(task: number): readonly number[] {
    this.#keyDoor = task;
    this.#opened = null;
    this.#calls = [];
    return encode("<task> range");
  }

  step(call: readonly number[]): StepResult {
    const text = decode(call);
    this.#calls.push(text);
    const [, verb, door] = text.match(/^<call> (read|submit) (min|guard|max) <\/call>$/) ?? [];
    if (verb === "submit") this.#opened = door;
    if (this.info().stop !== null) return { observation: [], done: true };
    const found = verb === "read" && door === DOORS[this.#keyDoor];
    const answer = verb === undefined ? "same" : found ? "pass" : "fail";
    return { observation: encode(`<obs> ${answer} </obs>`), done: false };
  }

  reward(): number {
    return this.#opened === DOORS[this.#keyDoor] ? 1 : 0;
  }

  info(): KeyHuntInfo {
    const count = (pattern: RegExp) => this.#calls.filter((call) => pattern.test(call)).length;
    const turns = this.#calls.length;
    const valid = count(/^<call> (read|submit) (min|guard|max) <\/call>$/);
    return {
      task: `key behind ${DOORS[this.#keyDoor]}`,
      turns,
      malformed: turns - valid,
      stop: this.#opened !== null ? "opened" : turns >= this.spec.maxTurns ? "budget" : null,
      calls: this.#calls,
      peeks: count(/^<call> read (min|guard|max) <\/call>$/),
    };
  }
}
