/** A batch of three hand-written episodes: a success of two calls, a short failure, a long failure. */
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { bugFixInfo } from "../../src/gym/episode_info.ts";
import { type CallBody, encodeCall } from "../../src/gym/calls.ts";
import { OWNER } from "../../src/core/owner.ts";
import { encode } from "../../src/gym/vocabulary.ts";
import { type BugFixTrajectory, collateEpisodes } from "../../src/lab/agents.ts";
import type { TrainBatch } from "../../src/rl/train_batch.ts";

/** An episode of the task `clamp` whose calls were answered `same`. */
export function handEpisode(calls: readonly CallBody[], reward: number): BugFixTrajectory {
  const ids = encode("<task> clamp");
  const owners: number[] = [OWNER.prompt, OWNER.prompt];
  calls.forEach((body, turn) => {
    const call = encodeCall(body);
    const observation = turn < calls.length - 1 ? encode("<obs> same </obs>") : [];
    ids.push(...call, ...observation);
    owners.push(...call.map(() => OWNER.policy), ...observation.map(() => OWNER.tool));
  });
  return {
    ids: Uint32Array.from(ids),
    owners: Uint8Array.from(owners),
    logps: new Float32Array(ids.length),
    reward,
    info: bugFixInfo({
      task: "clamp",
      calls: calls.map(encodeCall),
      stop: "submit",
      verdict: { publicPass: reward > 0, hiddenPass: reward > 0 },
    }),
  };
}

/** Policy tokens 7, 3 and 10; rewards 1, 0 and 0. */
export function handBatch(): TrainBatch<BugFixInfo> {
  return collateEpisodes([
    handEpisode(["edit swap_minmax", "submit"], 1),
    handEpisode(["submit"], 0),
    handEpisode(["edit fix_init", "read", "submit"], 0),
  ]);
}
