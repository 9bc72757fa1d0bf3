/** Host rollouts: any `Environment` in TypeScript answers the calls; the device decodes, with one readback a turn. */
import { sequenceKey } from "../core/rng.ts";
import type { Environment, EpisodeInfo } from "../gym/environment.ts";
import { OWNER } from "../core/owner.ts";
import { SLOT_FIELD, SLOT_STATUS, SLOT_WORDS } from "../kernels/sample.ts";
import type { DecodeRequest } from "./decode_request.ts";
import type { Decoder } from "./decoder.ts";
import { packEpisodeIds, type RolloutRequest } from "./resident.ts";
import { readRecord, TOKEN_BITS, type Trajectory } from "./trajectory.ts";

/** A rollout in environments of the caller's. */
export interface HostRequest<Info extends EpisodeInfo> extends RolloutRequest {
  /** Makes one environment a slot. */
  readonly createEnvironment: () => Environment<Info>;
}

/** An episode that has ended, before its tokens are read. */
interface Ending<Info extends EpisodeInfo> {
  readonly length: number;
  readonly reward: number;
  readonly info: Info;
}

/** What the device has recorded of the episodes that are played (see `readRecord`). */
interface PlayingRecords {
  /** The first of them. */
  readonly begin: number;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** The host's side of the slots: their words, their environments, and the queue of episodes. */
class HostSlots<Info extends EpisodeInfo> {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly endings: (Ending<Info> | undefined)[];
  readonly #environments: Environment<Info>[];
  readonly #request: HostRequest<Info>;
  readonly #rowWords: number;
  readonly #limit: number;
  #next = 0;

  constructor(decoder: Decoder, request: HostRequest<Info>, rowWords: number) {
    const { slotCount } = decoder;
    this.#request = request;
    this.#rowWords = rowWords;
    this.#limit = decoder.maxPositions;
    this.#environments = Array.from({ length: slotCount }, () => request.createEnvironment());
    this.words = new Uint32Array(slotCount * SLOT_WORDS);
    this.rows = new Uint32Array(slotCount * rowWords);
    this.endings = request.tasks_B.map(() => undefined);
    for (let slot = 0; slot < slotCount; slot++) this.#startNext(slot);
  }

  #set(slot: number, field: keyof typeof SLOT_FIELD, value: number): void {
    this.words[slot * SLOT_WORDS + SLOT_FIELD[field]] = value;
  }

  #get(slot: number, field: keyof typeof SLOT_FIELD): number {
    return this.words[slot * SLOT_WORDS + SLOT_FIELD[field]] ?? 0;
  }

  #setRow(slot: number, tokens: readonly number[]): void {
    if (tokens.length >= this.#rowWords) {
      throw new RangeError(
        `Cannot force ${tokens.length} tokens: the environment's maxEpisodeTokens allows ${
          this.#rowWords - 1
        }`,
      );
    }
    this.rows.set([tokens.length, ...tokens], slot * this.#rowWords);
    this.#set(slot, "row", slot);
  }

  #startNext(slot: number): void {
    const episode = this.#next++;
    const task = this.#request.tasks_B[episode];
    if (task === undefined) return this.#set(slot, "status", SLOT_STATUS.done);
    const prompt = this.#environments[slot]?.reset(task) ?? [];
    if (prompt.length === 0) throw new RangeError(`Cannot start task ${task}: its prompt is empty`);
    this.#setRow(slot, prompt);
    this.#set(slot, "status", SLOT_STATUS.running);
    this.#set(slot, "episode", episode);
    this.#set(slot, "position", 0);
    this.#set(slot, "token", prompt[0] ?? 0);
    this.#set(slot, "rowIndex", 1);
    this.#set(slot, "turns", 0);
    this.#set(slot, "callLength", 0);
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

  /** The call that a slot waits for an answer to: the last tokens of its episode's record. */
  #call(slot: number, records: PlayingRecords): number[] {
    const length = this.#get(slot, "callLength");
    const episodeWords = 2 * (this.#limit + 1);
    const end = (this.#get(slot, "episode") - records.begin) * episodeWords +
      2 * (this.#get(slot, "position") + 1);
    return Array.from(
      { length },
      (_, i) => (records.words[end - 2 * (length - i)] ?? 0) & TOKEN_BITS,
    );
  }

  /** Answers every waiting call; an environment that fails fails the rollout. */
  async answer(records: PlayingRecords): Promise<void> {
    for (const [slot, environment] of this.#environments.entries()) {
      if (this.#get(slot, "status") !== SLOT_STATUS.waiting) continue;
      const { observation, done } = await environment.step(this.#call(slot, records));
      const length = this.#get(slot, "position") + 1;
      if (done) {
        this.endings[this.#get(slot, "episode")] = {
          length,
          reward: environment.reward(),
          info: environment.info(),
        };
        this.#startNext(slot);
        continue;
      }
      if (length + observation.length + environment.spec.maxCallTokens > this.#limit) {
        throw new RangeError(
          `Cannot go on: ${length} tokens, ${observation.length} observed and a call exceed the ${this.#limit} of a slot`,
        );
      }
      this.#setRow(slot, observation);
      this.#set(slot, "status", SLOT_STATUS.running);
      this.#set(slot, "rowIndex", 0);
      this.#set(slot, "turns", this.#get(slot, "turns") + 1);
      this.#set(slot, "callLength", 0);
    }
  }
}

function withEnding<Info extends EpisodeInfo>(
  words_T2: Uint32Array<ArrayBuffer>,
  ending: Ending<Info>,
  firstToken: number,
): Trajectory<Info> {
  words_T2.set([firstToken | (OWNER.prompt << 24), 0]);
  words_T2.set([ending.length, ending.info.turns], words_T2.length - 2);
  const record = readRecord(words_T2);
  if (!record) throw new Error("An episode of the host driver has no tokens");
  return { ...record.tokens, reward: ending.reward, info: ending.info };
}

/**
 * Plays episodes in environments of the caller's. For BugFix the bits are those of `rolloutResident`.
 * @returns One trajectory an episode, in the order of the request.
 * @throws {RangeError} When the request is empty or an episode outgrows the decoder; whatever an environment throws.
 */
export async function rolloutHost<Info extends EpisodeInfo>(
  decoder: Decoder,
  request: HostRequest<Info>,
): Promise<Trajectory<Info>[]> {
  const { tasks_B, createEnvironment, temperature = 1 } = request;
  if (tasks_B.length === 0) throw new RangeError("Cannot roll out: the request holds no episode");
  const { commands, slotCount, maxPositions } = decoder;
  const { spec } = createEnvironment();
  if (spec.maxEpisodeTokens > maxPositions) {
    throw new RangeError(
      `Cannot roll out: an episode may have ${spec.maxEpisodeTokens} tokens, the decoder holds ${maxPositions}`,
    );
  }
  const rowWords = spec.maxEpisodeTokens + 1;
  const slots = new HostSlots(decoder, request, rowWords);
  const decode: DecodeRequest = {
    tables: {
      words: slots.rows,
      rowWords,
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
  const firstTokens = tasks_B.map((task) => createEnvironment().reset(task)[0] ?? 0);
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
    const words = new Uint32Array(bytes ?? new ArrayBuffer(0), b * rowBytes, rowBytes / 4);
    return withEnding(words, ending, firstTokens[b] ?? 0);
  });
}
