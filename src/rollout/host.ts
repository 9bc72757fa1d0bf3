/** Host rollouts: any `Environment` in TypeScript answers the calls; the device decodes, with one readback a turn. */
import { at } from "../core/element.ts";
import { sequenceKey } from "../core/rng.ts";
import { type Environment, type EpisodeInfo, EpisodeLostError } from "../gym/environment.ts";
import type { BehaviourMetric } from "../gym/environment_definition.ts";
import { OWNER } from "../core/owner.ts";
import { SLOT_FIELD, SLOT_STATUS, SLOT_WORDS } from "../kernels/sample.ts";
import type { DecodeRequest } from "./decode_request.ts";
import type { Decoder } from "./decoder.ts";
import { type EpisodeEnding, PlayedEnvironment } from "./played_environment.ts";
import { packEpisodeIds, type RolloutRequest } from "./resident.ts";
import { readRecord, TOKEN_BITS, type Trajectory } from "./trajectory.ts";

/** A rollout in environments of the caller's. */
export interface HostRequest<Info extends EpisodeInfo> extends RolloutRequest {
  /** Makes the environment of a slot; called for as many slots as play. */
  readonly createEnvironment: (slot: number) => Environment<Info> | Promise<Environment<Info>>;
  /** What error sentences call the environment (default "the environment"). */
  readonly name?: string;
  /** Numbers or booleans that the info of every episode must hold (default none). */
  readonly metrics?: readonly Pick<BehaviourMetric, "name">[];
  /** What is told about an episode that its environment lost; left out: a lost episode ends the rollout. */
  readonly lostInfo?: (lost: { readonly task: number; readonly turns: number }) => Info;
}

/** An episode that has ended, before its tokens are read. */
type Ending<Info extends EpisodeInfo> =
  | EpisodeEnding<Info> & { readonly length: number }
  | { readonly lost: string; readonly turns: number };

/** What the device has recorded of the episodes that are played (see `readRecord`). */
interface PlayingRecords {
  /** The first of them. */
  readonly begin: number;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** A call that a slot waits for an answer to. */
interface WaitingCall {
  readonly slot: number;
  readonly tokens: readonly number[];
  /** Tokens of the episode so far. */
  readonly length: number;
}

/** What became of a question to an environment: an answer, or why the episode is lost. */
type Answered<T> = { readonly value: T } | { readonly lost: string };

/** Asks the environments of some slots at the same time. A failure of any fails all, the first slot's first. */
async function askAll<S, T>(
  slots: readonly S[],
  ask: (slot: S) => Promise<T>,
): Promise<Answered<T>[]> {
  const settled = await Promise.allSettled(slots.map(ask));
  return settled.map((result) => {
    if (result.status === "fulfilled") return { value: result.value };
    if (result.reason instanceof EpisodeLostError) return { lost: result.reason.message };
    throw result.reason;
  });
}

/** The host's side of the slots: their words, their environments, and the queue of episodes. */
class HostSlots<Info extends EpisodeInfo> {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly endings: (Ending<Info> | undefined)[];
  /** The prompt of each episode; empty where it was lost before it had one. */
  readonly prompts: (readonly number[])[];
  readonly #environments: readonly PlayedEnvironment<Info>[];
  readonly #request: HostRequest<Info>;
  readonly #rowWords: number;
  readonly #recordPositions: number;
  #next = 0;

  constructor(
    decoder: Decoder,
    request: HostRequest<Info>,
    environments: readonly PlayedEnvironment<Info>[],
  ) {
    const { slotCount } = decoder;
    this.#request = request;
    this.#environments = environments;
    this.#rowWords = at(environments, 0).spec.maxEpisodeTokens + 1;
    this.#recordPositions = decoder.maxPositions + 1;
    this.words = new Uint32Array(slotCount * SLOT_WORDS);
    this.rows = new Uint32Array(slotCount * this.#rowWords);
    this.endings = request.tasks_B.map(() => undefined);
    this.prompts = request.tasks_B.map(() => []);
    for (let slot = 0; slot < slotCount; slot++) this.#set(slot, "status", SLOT_STATUS.done);
  }

  #set(slot: number, field: keyof typeof SLOT_FIELD, value: number): void {
    this.words[slot * SLOT_WORDS + SLOT_FIELD[field]] = value;
  }

  #get(slot: number, field: keyof typeof SLOT_FIELD): number {
    return this.words[slot * SLOT_WORDS + SLOT_FIELD[field]] ?? 0;
  }

  #setRow(slot: number, tokens: readonly number[]): void {
    this.rows.set([tokens.length, ...tokens], slot * this.#rowWords);
    this.#set(slot, "row", slot);
  }

  /** Starts the first episode of every environment. */
  async begin(): Promise<void> {
    await this.#startNext([...this.#environments.keys()]);
  }

  /** Gives each slot the next episode of the queue, in order; its environments are reset at the same time. */
  async #startNext(slots: readonly number[]): Promise<void> {
    let free = slots;
    while (free.length > 0) {
      const starts = free.flatMap((slot) => {
        const episode = this.#next++;
        const task = this.#request.tasks_B[episode];
        if (task !== undefined) return [{ slot, episode, task }];
        this.#set(slot, "status", SLOT_STATUS.done);
        return [];
      });
      const prompts = await askAll(
        starts,
        ({ slot, task }) => at(this.#environments, slot).reset(task),
      );
      free = starts.flatMap(({ slot, episode }, i) => {
        const prompt = at(prompts, i);
        if ("value" in prompt) this.#start(slot, { episode, prompt: prompt.value });
        else this.#lose(slot, { episode, error: prompt.lost });
        return "value" in prompt ? [] : [slot];
      });
    }
  }

  #start(
    slot: number,
    { episode, prompt }: { readonly episode: number; readonly prompt: readonly number[] },
  ): void {
    this.prompts[episode] = prompt;
    this.#setRow(slot, prompt);
    this.#set(slot, "status", SLOT_STATUS.running);
    this.#set(slot, "episode", episode);
    this.#set(slot, "position", 0);
    this.#set(slot, "token", prompt[0] ?? 0);
    this.#set(slot, "rowIndex", 1);
    this.#set(slot, "turns", 0);
    this.#set(slot, "callLength", 0);
  }

  #lose(slot: number, lost: { readonly episode: number; readonly error: string }): void {
    if (this.#request.lostInfo === undefined) throw new EpisodeLostError(lost.error);
    const { turns } = at(this.#environments, slot);
    this.endings[lost.episode] = { lost: lost.error, turns };
  }

  get isRunning(): boolean {
    return this.endings.some((ending) => ending === undefined);
  }

  /** Token steps after which every running slot waits for an answer. */
  stepsToCall(maxCallTokens: number): number {
    let steps = 0;
    for (let slot = 0; slot < this.#environments.length; slot++) {
      if (this.#get(slot, "status") !== SLOT_STATUS.running) continue;
      const forced = (this.rows[slot * this.#rowWords] ?? 0) - this.#get(slot, "rowIndex");
      steps = Math.max(steps, forced + maxCallTokens);
    }
    return steps;
  }

  /** The episodes that are played now, from the first to behind the last. */
  get playing(): { readonly begin: number; readonly end: number } {
    let begin = this.endings.length, end = 0;
    for (let slot = 0; slot < this.#environments.length; slot++) {
      if (this.#get(slot, "status") !== SLOT_STATUS.running) continue;
      begin = Math.min(begin, this.#get(slot, "episode"));
      end = Math.max(end, this.#get(slot, "episode") + 1);
    }
    return { begin, end };
  }

  /** The calls that slots wait for an answer to: the last tokens of their episodes' records. */
  #waitingCalls({ begin, words }: PlayingRecords): WaitingCall[] {
    const calls: WaitingCall[] = [];
    for (let slot = 0; slot < this.#environments.length; slot++) {
      if (this.#get(slot, "status") !== SLOT_STATUS.waiting) continue;
      const count = this.#get(slot, "callLength");
      const length = this.#get(slot, "position") + 1;
      const end = (this.#get(slot, "episode") - begin) * 2 * this.#recordPositions + 2 * length;
      const tokens = Array.from(
        { length: count },
        (_, i) => (words[end - 2 * (count - i)] ?? 0) & TOKEN_BITS,
      );
      calls.push({ slot, tokens, length });
    }
    return calls;
  }

  /** Answers every waiting call, all environments at the same time; one that fails fails the rollout. */
  async answer(records: PlayingRecords): Promise<void> {
    const calls = this.#waitingCalls(records);
    const answers = await askAll(calls, async ({ slot, tokens, length }) => {
      const environment = at(this.#environments, slot);
      const observation = await environment.step(tokens, length);
      return observation ?? { ...await environment.ending(), length };
    });
    const free: number[] = [];
    calls.forEach(({ slot }, i) => {
      const answer = at(answers, i);
      const episode = this.#get(slot, "episode");
      if ("lost" in answer) this.#lose(slot, { episode, error: answer.lost });
      else if ("info" in answer.value) this.endings[episode] = answer.value;
      else return this.#goOn(slot, answer.value);
      free.push(slot);
    });
    await this.#startNext(free);
  }

  #goOn(slot: number, observation: readonly number[]): void {
    this.#setRow(slot, observation);
    this.#set(slot, "status", SLOT_STATUS.running);
    this.#set(slot, "rowIndex", 0);
    this.#set(slot, "turns", this.#get(slot, "turns") + 1);
    this.#set(slot, "callLength", 0);
  }
}

/** The trajectory of an episode that its environment lost: its prompt, if it had one, and a reward that is none. */
function lostTrajectory<Info extends EpisodeInfo>(
  prompt: readonly number[],
  { error, info }: { readonly error: string; readonly info: Info },
): Trajectory<Info> {
  const ids = Uint32Array.from(prompt.length > 0 ? prompt : [0]);
  return {
    ids,
    owners: new Uint8Array(ids.length).fill(OWNER.prompt),
    logps: new Float32Array(ids.length),
    reward: NaN,
    info,
    error,
  };
}

function withEnding<Info extends EpisodeInfo>(
  words_T2: Uint32Array<ArrayBuffer>,
  ending: EpisodeEnding<Info> & { readonly length: number },
  firstToken: number,
): Trajectory<Info> {
  words_T2.set([firstToken | (OWNER.prompt << 24), 0]);
  words_T2.set([ending.length, ending.info.turns], words_T2.length - 2);
  const record = readRecord(words_T2);
  if (!record) throw new Error("An episode of the host driver has no tokens");
  return { ...record.tokens, reward: ending.reward, info: ending.info };
}

/** As many environments as play at the same time. */
async function openEnvironments<Info extends EpisodeInfo>(
  { slotCount, parameters }: Decoder,
  { tasks_B, createEnvironment, name, metrics }: HostRequest<Info>,
): Promise<PlayedEnvironment<Info>[]> {
  const { vocabSize } = parameters.config;
  const count = Math.min(slotCount, tasks_B.length);
  const made = await Promise.all(
    Array.from({ length: count }, (_, slot) => createEnvironment(slot)),
  );
  return made.map((environment) =>
    new PlayedEnvironment(environment, { name, vocabSize, metrics })
  );
}

/**
 * Plays episodes in environments of the caller's. For BugFix the bits are those of `rolloutResident`.
 * @returns One trajectory per episode, in the order of the request.
 * @throws {RangeError} When the request is empty or an episode may outgrow the decoder; {UserError} when an environment fails or
 * answers what is not allowed, with its task and call; {EpisodeLostError} when an episode is lost and the request has no `lostInfo`.
 */
export async function rolloutHost<Info extends EpisodeInfo>(
  decoder: Decoder,
  request: HostRequest<Info>,
): Promise<Trajectory<Info>[]> {
  const { tasks_B, lostInfo, temperature = 1 } = request;
  if (tasks_B.length === 0) throw new RangeError("Cannot roll out: the request holds no episode");
  const { commands, slotCount, maxPositions } = decoder;
  const environments = await openEnvironments(decoder, request);
  const { spec } = at(environments, 0);
  if (spec.maxEpisodeTokens > maxPositions) {
    throw new RangeError(
      `Cannot roll out: an episode may have ${spec.maxEpisodeTokens} tokens, the decoder holds ${maxPositions}`,
    );
  }
  const slots = new HostSlots(decoder, request, environments);
  await slots.begin();
  const decode: DecodeRequest = {
    tables: {
      words: slots.rows,
      rowWords: spec.maxEpisodeTokens + 1,
      promptRow: 0,
      callRow: 0,
      callCount: 0,
      transitionOffset: 0,
      startOffset: 0,
    },
    isResident: false,
    episodes_B2: packEpisodeIds(request),
    key: sequenceKey(request.random),
    temperature,
    maxTurns: spec.maxTurns,
    callEnd: spec.callEnd,
    maxCallTokens: spec.maxCallTokens,
  };
  const rowBytes = (maxPositions + 1) * 8;
  decoder.begin(decode);
  commands.submit();
  while (slots.isRunning) {
    commands.write(decoder.slots, slots.words);
    commands.write(decoder.gym, slots.rows);
    decoder.play(decode, slots.stepsToCall(spec.maxCallTokens));
    const { begin, end } = slots.playing;
    const [slotBytes, recordBytes] = await commands.read([
      { tensor: decoder.slots, sizeBytes: slotCount * SLOT_WORDS * 4 },
      {
        tensor: decoder.records,
        offsetBytes: begin * rowBytes,
        sizeBytes: (end - begin) * rowBytes,
      },
    ]);
    slots.words.set(new Uint32Array(slotBytes ?? new ArrayBuffer(0)));
    await slots.answer({ begin, words: new Uint32Array(recordBytes ?? new ArrayBuffer(0)) });
  }
  const [bytes] = await commands.read([{
    tensor: decoder.records,
    sizeBytes: tasks_B.length * rowBytes,
  }]);
  return slots.endings.map((ending, b) => {
    if (!ending) throw new Error(`Episode ${b} did not end`);
    const prompt = at(slots.prompts, b);
    if ("lost" in ending) {
      const { lost: error, turns } = ending;
      if (lostInfo === undefined) throw new EpisodeLostError(error);
      return lostTrajectory(prompt, { error, info: lostInfo({ task: at(tasks_B, b), turns }) });
    }
    const words = new Uint32Array(bytes ?? new ArrayBuffer(0), b * rowBytes, rowBytes / 4);
    return withEnding(words, ending, prompt[0] ?? 0);
  });
}
