/** What a decoder is asked to play: a gym's tables, episodes, random numbers, and what ends a call. */

/** The tables of a gym, as the slot machine reads them. */
export interface GymTables {
  /** Rows, then transitions, then start states. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** Words of a row: a count and its tokens. */
  readonly rowWords: number;
  /** The first prompt's row; one a task. */
  readonly promptRow: number;
  /** The first valid call's row. */
  readonly callRow: number;
  /** Valid calls. */
  readonly callCount: number;
  /** Words before the transitions [state, calls + 1]. */
  readonly transitionOffset: number;
  /** Words before the start states. */
  readonly startOffset: number;
}

/** What is played, and by which random numbers. */
export interface DecodeRequest {
  /** The gym. */
  readonly tables: GymTables;
  /** True lets the compiled gym answer on the device, false leaves slots waiting for the host. */
  readonly isResident: boolean;
  /** (task, random id) of each episode, u32 [B, 2]. */
  readonly episodes_B2: Uint32Array<ArrayBuffer>;
  /** Key of the random numbers. */
  readonly key: readonly [number, number];
  /** Divides the logits; above 0. */
  readonly temperature: number;
  /** Calls in an episode. */
  readonly maxTurns: number;
  /** The token that ends a call. */
  readonly callEnd: number;
  /** Tokens after which a call ends anyway. */
  readonly maxCallTokens: number;
}

/** The parameters of the slot machine, shared by both decoders. */
export function slotParams(request: DecodeRequest): Record<string, number> {
  const { tables, key, maxTurns, callEnd, maxCallTokens } = request;
  return {
    episode_count: request.episodes_B2.length / 2,
    inverse_temperature: 1 / request.temperature,
    key0: key[0],
    key1: key[1],
    resident: Number(request.isResident),
    max_turns: maxTurns,
    call_end: callEnd,
    max_call_tokens: maxCallTokens,
    row_words: tables.rowWords,
    prompt_row: tables.promptRow,
    call_row: tables.callRow,
    call_count: tables.callCount,
    transition_offset: tables.transitionOffset,
    start_offset: tables.startOffset,
  };
}
