/** Resident rollouts: compiled gym, sampler, call parser and cache stay on the device; the host reads once, at the end. */
import { type RandomKey, sequenceKey } from "../core/rng.ts";
import { bugFixSpec } from "../gym/bugfix.ts";
import { CALL, CALL_BODIES, encodeCall } from "../gym/calls.ts";
import { type CompiledGym, TOKEN_ROW_WORDS, unpackTransition } from "../gym/compiled.ts";
import { callIndex } from "../gym/calls.ts";
import {
  type BugFixInfo,
  bugFixInfo,
  bugFixReward,
  type RewardKind,
  splitCalls,
} from "../gym/episode_info.ts";
import { SLOT_FIELD, SLOT_STATUS, SLOT_WORDS } from "../kernels/sample.ts";
import type { DecodeRequest, GymTables } from "./decode_request.ts";
import type { Decoder } from "./decoder.ts";
import { readRecord, type RecordedTokens, type Trajectory } from "./trajectory.ts";

/** What every rollout says about its episodes. */
export interface RolloutRequest {
  /** The task of each episode. */
  readonly tasks_B: readonly number[];
  /** The number that stands for each episode in the random counters (default its place in the batch). */
  readonly randomIds_B?: readonly number[];
  /** Seed, stream and step of the random numbers. */
  readonly random: RandomKey;
  /** Divides the logits (default 1); above 0. */
  readonly temperature?: number;
  /** Work of the host's own, done once while a device that plays whole episodes is busy with them. It must not submit or read. */
  readonly whileRunning?: (() => void) | undefined;
}

/** A rollout in the compiled gym. */
export interface ResidentRequest extends RolloutRequest {
  /** The gym. */
  readonly gym: CompiledGym;
  /** Calls in an episode. */
  readonly maxTurns: number;
  /** Which tests reward. */
  readonly reward: RewardKind;
}

/** The compiled gym as words for the slot machine: observations, prompts, valid calls, transitions, start states. */
export function packGym(gym: CompiledGym): GymTables {
  const calls = CALL_BODIES.map((body) => {
    const tokens = encodeCall(body);
    return [tokens.length, ...tokens, ...Array(TOKEN_ROW_WORDS - 1 - tokens.length).fill(0)];
  }).flat();
  const rows = [...gym.observation_O8, ...gym.prompt_T8, ...calls];
  return {
    words: Uint32Array.from([...rows, ...gym.transition_SC, ...gym.startState_T]),
    rowWords: TOKEN_ROW_WORDS,
    promptRow: gym.observationCount,
    callRow: gym.observationCount + gym.taskNames.length,
    callCount: CALL_BODIES.length,
    transitionOffset: rows.length,
    startOffset: rows.length + gym.transition_SC.length,
  };
}

/** (task, random id) of each episode, as the device reads them. */
export function packEpisodeIds(request: RolloutRequest): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(
    request.tasks_B.flatMap((task, b) => [task, request.randomIds_B?.[b] ?? b]),
  );
}

/**
 * The info and reward of a recorded episode, from its calls replayed through the table.
 * @throws {Error} When the record did not end where the table ends it: decoder and table disagree.
 */
export function judgeRecord(
  tokens: RecordedTokens,
  options: {
    readonly gym: CompiledGym;
    readonly task: number;
    readonly maxTurns: number;
    readonly reward: RewardKind;
  },
): Trajectory<BugFixInfo> {
  const { gym, task, maxTurns, reward } = options;
  const calls = splitCalls(tokens.ids, tokens.owners);
  let state = gym.startState_T[task] ?? 0;
  let isSubmitted = false;
  for (const call of calls) {
    if (isSubmitted) throw new Error(`A record of task ${task} goes on after its submit`);
    const entry = gym.transition_SC[state * (CALL.malformed + 1) + callIndex(call)] ?? 0;
    const transition = unpackTransition(entry);
    state = transition.nextState;
    isSubmitted = transition.submits;
  }
  if (!isSubmitted && calls.length !== maxTurns) {
    throw new Error(
      `A record of task ${task} ends after ${calls.length} of ${maxTurns} calls, without a submit`,
    );
  }
  const info = bugFixInfo({
    task: gym.taskNames[task] ?? "",
    calls,
    stop: isSubmitted ? "submit" : "budget",
    verdict: {
      publicPass: gym.publicPass_S[state] === 1,
      hiddenPass: gym.hiddenPass_S[state] === 1,
    },
  });
  return { ...tokens, reward: bugFixReward(info, reward), info };
}

/** Token steps that surely end every episode: slots never idle while the queue holds episodes. */
function stepBound(decoder: Decoder, episodeCount: number): number {
  return (Math.ceil(episodeCount / decoder.slotCount) + 1) * decoder.maxPositions;
}

async function playToEnd(
  decoder: Decoder,
  request: DecodeRequest,
  whileRunning: RolloutRequest["whileRunning"],
): Promise<ArrayBuffer> {
  const { commands, maxPositions, slotCount } = decoder;
  const episodeCount = request.episodes_B2.length / 2;
  const records = { tensor: decoder.records, sizeBytes: episodeCount * (maxPositions + 1) * 8 };
  if (decoder.kind === "fused") {
    decoder.play(request, stepBound(decoder, episodeCount));
    const [bytes] = await commands.read([records], whileRunning);
    return bytes ?? new ArrayBuffer(0);
  }
  // A layer-by-layer token costs some twenty dispatches, so idle ones are worth a readback every longest episode.
  const slots = { tensor: decoder.slots, sizeBytes: slotCount * SLOT_WORDS * 4 };
  for (let hostWork = whileRunning;; hostWork = undefined) {
    decoder.play(request, maxPositions);
    const [bytes] = await commands.read([slots], hostWork);
    const words = new Uint32Array(bytes ?? new ArrayBuffer(0));
    let running = 0;
    for (let slot = 0; slot < slotCount; slot++) {
      if (words[slot * SLOT_WORDS + SLOT_FIELD.status] === SLOT_STATUS.running) running++;
    }
    if (running === 0) break;
  }
  const [bytes] = await commands.read([records]);
  return bytes ?? new ArrayBuffer(0);
}

/**
 * Plays episodes in the compiled gym, wholly on the device; more than its records can hold at once one part after the other.
 * @returns One trajectory per episode, in the order of the request.
 * @throws {RangeError} When the request is empty or an episode could outgrow the decoder; {Error} when the device ends an
 * episode elsewhere than the table.
 */
export async function rolloutResident(
  decoder: Decoder,
  request: ResidentRequest,
): Promise<Trajectory<BugFixInfo>[]> {
  const { gym, tasks_B, maxTurns } = request;
  if (tasks_B.length === 0) throw new RangeError("Cannot roll out: the request holds no episode");
  const { maxEpisodeTokens } = bugFixSpec(gym.taskNames.length, maxTurns);
  if (maxEpisodeTokens > decoder.maxPositions) {
    throw new RangeError(
      `Cannot roll out ${maxTurns} turns: an episode may have ${maxEpisodeTokens} tokens, ` +
        `the decoder holds ${decoder.maxPositions}`,
    );
  }
  const randomIds_B = request.randomIds_B ?? tasks_B.map((_, b) => b);
  const parts: Trajectory<BugFixInfo>[][] = [];
  for (let begin = 0; begin < tasks_B.length; begin += decoder.maxEpisodes) {
    const end = begin + decoder.maxEpisodes;
    parts.push(
      await playPart(decoder, {
        ...request,
        tasks_B: tasks_B.slice(begin, end),
        randomIds_B: randomIds_B.slice(begin, end),
        whileRunning: begin === 0 ? request.whileRunning : undefined,
      }),
    );
  }
  return parts.flat();
}

async function playPart(
  decoder: Decoder,
  request: ResidentRequest,
): Promise<Trajectory<BugFixInfo>[]> {
  const { gym, tasks_B, maxTurns, reward, temperature = 1 } = request;
  const spec = bugFixSpec(gym.taskNames.length, maxTurns);
  const decode: DecodeRequest = {
    tables: packGym(gym),
    isResident: true,
    episodes_B2: packEpisodeIds(request),
    key: sequenceKey(request.random),
    temperature,
    maxTurns,
    callEnd: spec.callEnd,
    maxCallTokens: spec.maxCallTokens,
  };
  decoder.begin(decode);
  const bytes = await playToEnd(decoder, decode, request.whileRunning);
  const rowWords = 2 * (decoder.maxPositions + 1);
  return tasks_B.map((task, b) => {
    const record = readRecord(new Uint32Array(bytes, b * rowWords * 4, rowWords));
    if (!record) throw new Error(`Episode ${b} did not end: the device stopped early`);
    return judgeRecord(record.tokens, { gym, task, maxTurns, reward });
  });
}
