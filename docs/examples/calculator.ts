/** A calculator as a tool: press `=` to see the sum, then say it. The host judges each call and pays it by itself. */
import type { Environment, EnvironmentDefinition, EpisodeInfo } from "agentrl";

const NUMBERS = Array.from({ length: 9 }, (_, n) => String(n));
const WORDS = [...NUMBERS, "+", "=", "?"];
const id = (word: string) => WORDS.indexOf(word);
const MAX_TURNS = 3;

/** Sums of two digits from 0 to 4; every fifth is held out. */
const ALL = Array.from({ length: 25 }, (_, i) => [i % 5, Math.floor(i / 5)] as const);
const HELD_OUT = ALL.filter((_, i) => i % 5 === 3);
const SUMS = [...ALL.filter((_, i) => i % 5 !== 3), ...HELD_OUT];

interface SumInfo extends EpisodeInfo {
  readonly usedTool: boolean;
}

/** The prompt is `3 + 4`. `=` is answered with the sum and earns 0.2 once; a number ends the episode and earns 1 where it is right. */
class Calculator implements Environment<SumInfo> {
  readonly spec = {
    callEnd: id("="),
    maxCallTokens: 1,
    maxTurns: MAX_TURNS,
    maxEpisodeTokens: 3 + 2 * MAX_TURNS,
    taskCount: SUMS.length,
  };
  #sum: readonly [number, number] = [0, 0];
  #calls: string[] = [];

  reset(task: number) {
    this.#sum = SUMS[task];
    this.#calls = [];
    const [a, b] = this.#sum;
    return [a, id("+"), b];
  }

  step([word]: readonly number[]) {
    const text = WORDS[word];
    const isFirstUse = text === "=" && !this.#calls.includes("=");
    this.#calls.push(text);
    const { stop, passed } = this.info();
    const done = stop !== null;
    const [a, b] = this.#sum;
    const answer = text === "=" ? String(a + b) : "?";
    return {
      observation: done ? [] : [id(answer)],
      done,
      reward: passed ? 1 : isFirstUse ? 0.2 : 0,
    };
  }

  /** Not asked: every call is paid. */
  reward = () => 0;

  info() {
    const calls = this.#calls;
    const [a, b] = this.#sum;
    const isSaid = NUMBERS.includes(calls.at(-1) ?? "");
    return {
      task: `${a} + ${b}`,
      turns: calls.length,
      malformed: calls.filter((call) => call === "+" || call === "?").length,
      stop: isSaid ? "said" : calls.length === MAX_TURNS ? "budget" : null,
      calls,
      passed: calls.at(-1) === String(a + b),
      usedTool: calls.includes("="),
    };
  }
}

export default {
  name: "calculator",
  words: WORDS,
  tasks: { train: SUMS.length - HELD_OUT.length, heldout: HELD_OUT.length },
  metrics: [{ name: "usedTool", meaning: "share that use the tool", healthy: "higher" }],
  create: () => new Calculator(),
  demonstration: (task) => [[id("=")], [SUMS[task][0] + SUMS[task][1]]],
} satisfies EnvironmentDefinition<SumInfo>;
