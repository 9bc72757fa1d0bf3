/** An environment of six words: ask which of three doors hides the key, then open that one. */
import type { Environment, EnvironmentDefinition, EpisodeInfo } from "agentrl";

const WORDS = ["<start>", "ask", "left", "middle", "right", "<locked>"];
const DOORS = ["left", "middle", "right"];
const MAX_TURNS = 3;

interface DoorsInfo extends EpisodeInfo {
  readonly asked: boolean;
}

/** A call is one word. `ask` is answered with the door; doors stay locked until then, and opening one ends the episode. */
export class ThreeDoors implements Environment<DoorsInfo> {
  readonly spec = {
    callEnd: WORDS.indexOf("<start>"),
    maxCallTokens: 1,
    maxTurns: MAX_TURNS,
    maxEpisodeTokens: 2 * MAX_TURNS,
    taskCount: DOORS.length,
  };
  #door = "";
  #calls: string[] = [];

  reset(task: number) {
    this.#door = DOORS[task];
    this.#calls = [];
    return [WORDS.indexOf("<start>")];
  }

  step([word]: readonly number[]) {
    this.#calls.push(WORDS[word]);
    const answer = WORDS[word] === "ask" ? this.#door : "<locked>";
    const done = this.info().stop !== null;
    return { observation: done ? [] : [WORDS.indexOf(answer)], done };
  }

  reward() {
    return this.info().stop === "opened" && this.#calls.at(-1) === this.#door ? 1 : 0;
  }

  info() {
    const calls = this.#calls;
    const asked = calls.includes("ask");
    const opened = asked && DOORS.includes(calls.at(-1) ?? "");
    return {
      task: `the key is ${this.#door}`,
      turns: calls.length,
      malformed: calls.filter((call) => call.startsWith("<")).length,
      stop: opened ? "opened" : calls.length === MAX_TURNS ? "budget" : null,
      calls,
      asked,
    };
  }
}

export default {
  name: "three_doors",
  words: WORDS,
  tasks: { train: DOORS.length, heldout: 0 },
  metrics: [{ name: "asked", meaning: "share of episodes that ask", healthy: "higher" }],
  create: () => new ThreeDoors(),
} satisfies EnvironmentDefinition<DoorsInfo>;
