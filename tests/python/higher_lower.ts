/** docs/examples/environments/higher_lower.py as a module: the same environment, for tests on machines without Python. */
import type { Environment, EpisodeInfo } from "../../src/gym/environment.ts";
import type { EnvironmentDefinition } from "../../src/gym/environment_definition.ts";

const WORDS = [..."0123456", "game", "higher", "lower", "what?"];
const [GAME = 0, HIGHER = 0, LOWER = 0, WHAT = 0] = [7, 8, 9, 10];

interface Info extends EpisodeInfo {
  readonly guesses: number;
}

function play(): Environment<Info> {
  let number = 0;
  let guesses: number[] = [];
  return {
    spec: { callEnd: WHAT, maxCallTokens: 1, maxTurns: 3, maxEpisodeTokens: 6, taskCount: 7 },
    reset: (task) => {
      number = task;
      guesses = [];
      return [GAME];
    },
    step: ([guess = 0]) => {
      guesses.push(guess);
      if (guess === number || guesses.length === 3) return { observation: [], done: true };
      const hint = guess > 6 ? WHAT : guess < number ? HIGHER : LOWER;
      return { observation: [hint], done: false };
    },
    reward: () => guesses.at(-1) === number ? 1 : 0,
    info: () => ({
      task: `task ${number}`,
      turns: guesses.length,
      malformed: guesses.filter((guess) => guess > 6).length,
      stop: "over",
      calls: guesses.map((guess) => WORDS[guess] ?? ""),
      guesses: guesses.length,
    }),
  };
}

export default {
  name: "higher_lower",
  words: WORDS,
  tasks: { train: 7, heldout: 0 },
  metrics: [{ name: "guesses", meaning: "guesses made", healthy: "lower" }],
  create: play,
} satisfies EnvironmentDefinition<Info>;
