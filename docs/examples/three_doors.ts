/** An environment in five members: a key lies behind one of three doors. */
import { decode, encode, type Environment, TOKEN } from "agentrl";

const DOORS = ["min", "guard", "max"];

/** `read DOOR` peeks behind a door, `submit DOOR` opens it, which ends the episode. */
export class ThreeDoors implements Environment {
  spec = {
    callEnd: TOKEN["</call>"],
    maxCallTokens: 4,
    maxTurns: 4,
    maxEpisodeTokens: 27,
    taskCount: 3,
  };
  #task = 0;
  #calls: string[] = [];
  reset(task: number) {
    this.#task = task;
    this.#calls = [];
    return encode("<task> range");
  }
  step(call: readonly number[]) {
    this.#calls.push(decode(call));
    const done = this.info().stop !== null;
    const isKey = decode(call) === `<call> read ${DOORS[this.#task]} </call>`;
    return { observation: done ? [] : encode(`<obs> ${isKey ? "pass" : "fail"} </obs>`), done };
  }
  reward() {
    return this.#calls.at(-1) === `<call> submit ${DOORS[this.#task]} </call>` ? 1 : 0;
  }
  info() {
    const calls = this.#calls;
    const isOpened = calls.at(-1)?.startsWith("<call> submit") === true;
    const stop = isOpened ? "opened" : calls.length === 4 ? "budget" : null;
    return { task: `door ${this.#task}`, turns: calls.length, malformed: 0, stop, calls };
  }
}
