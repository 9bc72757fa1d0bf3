/** The shortest environment: a prompt of one token, a call of one token. */
import type { Environment, EpisodeInfo } from "../../src/gym/environment.ts";

const PROMPT = 17;

/** One token of prompt, one token of call. */
export class OneToken implements Environment<EpisodeInfo> {
  readonly spec = { callEnd: 3, maxCallTokens: 1, maxTurns: 1, maxEpisodeTokens: 2, taskCount: 1 };
  reset = (): number[] => [PROMPT];
  step = () => ({ observation: [], done: true });
  reward = () => 0;
  info = () => ({ task: "draw", turns: 1, malformed: 0, stop: "drawn", calls: [] });
}
