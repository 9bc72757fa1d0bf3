/** What the page and the worker in which it trains send each other. */
import type { TrainConfig } from "../rl/config_keys.ts";
import type { Answer, Request } from "./messages.ts";

/** To the worker: first what its session is made of, then requests. */
export type ToWorker =
  | {
    /** The bytes of the base agent's checkpoint in base64: decoding them would hold the page up. */
    readonly base: string;
    readonly config?: Partial<TrainConfig> | undefined;
  }
  | Request;

/** From the worker. */
export interface FromWorker {
  readonly answer: Answer;
  /** How many `begin`s were taken up before it. */
  readonly begun: number;
}

/** Where the worker's text leaves its session when a page runs it as a script. */
export const SESSION_NAME = "agentrlLiveSession";
