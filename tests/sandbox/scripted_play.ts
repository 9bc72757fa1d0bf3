/** Episodes of scripted calls, all at the same time: what they read and how they end. */
import type { EnvironmentDefinition } from "../../src/gym/environment_definition.ts";
import { PlayedEnvironment } from "../../src/rollout/played_environment.ts";

/**
 * Plays some episodes of each training task, an environment each.
 *
 * @param options.episodes How many.
 * @param options.callOf The calls of an episode.
 */
export async function scriptedPlay(
  { name, words, tasks, metrics, create }: EnvironmentDefinition,
  options: {
    readonly episodes: number;
    readonly callOf: (place: { readonly episode: number; readonly turn: number }) => number[];
  },
): Promise<unknown[]> {
  const { episodes, callOf } = options;
  return await Promise.all(Array.from({ length: episodes }, async (_, episode) => {
    const played = new PlayedEnvironment(await create(), {
      name,
      vocabSize: words.length,
      metrics,
    });
    const read = [await played.reset(episode % tasks.train)];
    for (let turn = 0, length = 1;; turn++) {
      const call = callOf({ episode, turn });
      const observation = await played.step(call, length += call.length);
      if (observation === undefined) return { read, ...await played.ending() };
      read.push(observation);
      length += observation.length;
    }
  }));
}
