/** The agents that a run in an environment of a user's starts from: cloned from its demonstrations, or untrained. */
import { UserError } from "../core/errors.ts";
import { OWNER } from "../core/owner.ts";
import type { Commands } from "../gpu/commands.ts";
import { type EpisodeInfo, isCallComplete } from "../gym/environment.ts";
import type { EnvironmentDefinition } from "../gym/environment_definition.ts";
import { type ModelConfig, TINY_AGENT } from "../model/config.ts";
import { initialValues } from "../model/parameters.ts";
import { environmentSource } from "../rollout/environment_source.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import { PlayedEnvironment } from "../rollout/played_environment.ts";
import { cloneBehaviour, type Demonstration } from "./base_agent.ts";

/** An environment of a user's, open for training. */
export interface OpenedEnvironment {
  /** What it tells of itself. */
  readonly definition: EnvironmentDefinition;
  /** Plays its episodes. */
  readonly source: EpisodeSource;
}

/** Opens an environment for training. @throws {UserError} When its definition or spec is not as required. */
export async function openForTraining(
  definition: EnvironmentDefinition,
): Promise<OpenedEnvironment> {
  return { definition, source: await environmentSource(definition) };
}

/** The model of an environment's agents: the small agent, with the environment's words. */
export function environmentModel({ words }: Pick<EnvironmentDefinition, "words">): ModelConfig {
  return { ...TINY_AGENT, vocabSize: words.length };
}

/** Training tasks that are demonstrated at most, evenly spread: cloning draws a few thousand episodes. */
const MOST_DEMONSTRATIONS = 1024;

/** The calls of one demonstration. */
interface DemonstratedTask {
  readonly task: number;
  readonly calls: readonly (readonly number[])[];
}

/** Plays the calls of a demonstration; what the environment answers stands between them. */
async function playDemonstration(
  played: PlayedEnvironment<EpisodeInfo>,
  { task, calls }: DemonstratedTask,
  refuse: (problem: string) => UserError,
): Promise<Demonstration> {
  const ids = [...await played.reset(task)];
  const owners: number[] = ids.map(() => OWNER.prompt);
  let isOver = false;
  for (const [i, call] of calls.entries()) {
    if (isOver) throw refuse(`call ${i} of ${calls.length} already ended the episode`);
    const end = call.findIndex((_, t) => isCallComplete(played.spec, call.slice(0, t + 1)));
    if (end !== call.length - 1) {
      throw refuse(
        `call ${i + 1} has ${call.length} tokens, but must end with spec.callEnd or at ` +
          `${played.spec.maxCallTokens} tokens, and nowhere before`,
      );
    }
    ids.push(...call);
    owners.push(...call.map(() => OWNER.policy));
    const observation = await played.step(call, ids.length) ?? [];
    isOver = observation.length === 0;
    ids.push(...observation);
    owners.push(...observation.map(() => OWNER.tool));
  }
  if (!isOver) throw refuse(`its ${calls.length} calls do not end the episode`);
  return { ids, owners };
}

/**
 * Plays an environment's demonstrations of its training tasks, of all or of {@linkcode MOST_DEMONSTRATIONS} spread over them.
 *
 * @throws {UserError} When it has none, or one is not the play of an episode.
 */
export async function environmentDemonstrations(
  { definition, source: { name, words, spec } }: OpenedEnvironment,
): Promise<Demonstration[]> {
  if (definition.demonstration === undefined) {
    throw new UserError(`Cannot clone in the environment ${name}: it has no demonstrations`);
  }
  const played = new PlayedEnvironment(await definition.create(), {
    name,
    vocabSize: words.length,
  });
  const { train } = definition.tasks;
  const count = Math.min(train, MOST_DEMONSTRATIONS);
  const demonstrations: Demonstration[] = [];
  for (let i = 0; i < count; i++) {
    const task = Math.floor(i * train / count);
    const refuse = (problem: string) =>
      new UserError(`Cannot use the demonstration of task ${task} of ${name}: ${problem}`);
    const calls: unknown = await definition.demonstration(task);
    if (!isCallList(calls, words.length)) {
      throw refuse(
        `it must be a list of calls, each a list of ids from 0 to ${words.length - 1}`,
      );
    }
    demonstrations.push(await playDemonstration(played, { task, calls }, refuse));
  }
  const longest = demonstrations.find(({ ids }) => ids.length > spec.maxEpisodeTokens);
  if (longest === undefined) return demonstrations;
  throw new UserError(
    `Cannot use a demonstration of ${name}: it has ${longest.ids.length} tokens, more than spec.maxEpisodeTokens`,
  );
}

function isCallList(
  calls: unknown,
  wordCount: number,
): calls is readonly (readonly number[])[] {
  const isId = (id: unknown) => Number.isInteger(id) && Number(id) >= 0 && Number(id) < wordCount;
  return Array.isArray(calls) && calls.length > 0 &&
    calls.every((call) => Array.isArray(call) && call.length > 0 && call.every(isId));
}

/**
 * Makes the agent that a run in an environment starts from.
 *
 * @param options.kind `cloned` from the demonstrations, or `untrained`: initial values.
 * @returns The weights [W] of {@linkcode environmentModel}. The same seed on the same adapter gives the same bits.
 * @throws {UserError} When there are no demonstrations, or one is not as required.
 */
export async function makeEnvironmentAgent(
  commands: Commands,
  options: {
    readonly environment: OpenedEnvironment;
    readonly kind: "cloned" | "untrained";
    readonly seed: number;
    readonly onProgress?: (stepsDone: number) => void;
  },
): Promise<Float32Array<ArrayBuffer>> {
  const { environment, kind, seed, onProgress } = options;
  const model = environmentModel(environment.definition);
  if (kind === "untrained") return initialValues(model, seed);
  return await cloneBehaviour(commands, {
    model,
    demonstrations: await environmentDemonstrations(environment),
    seed,
    ...(onProgress && { onProgress }),
  });
}
