/**
 * After the end of a process: which of the episodes that it played goes on. Everything that an environment answers follows
 * from task and calls, so that an episode can be played again up to where it was, in the next process.
 */
import { EpisodeLostError } from "../gym/environment.ts";
import { ProcessEndedError } from "./environment_process.ts";

/** One end of a process, while several questions waited. */
interface End {
  /** Whether a slot has ended the next process as well, and is to blame. */
  isExplained: boolean;
}

/** The slots of one place in a pool, played again one after the other. */
export class Recovery {
  /** Whether a slot is played again: the end of a process is then that of its episode, and tells nothing of the program. */
  isRunning = false;
  readonly #ends = new WeakMap<Error, End>();
  readonly #asked = new Set<Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Whether slots are or will be played again; nothing else is to be asked meanwhile, or it could not be told who ends a process. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Tells of a question that is asked beside others; nothing is played again before it has its answer. */
  async track<T>(asked: Promise<T>): Promise<T> {
    this.#asked.add(asked);
    try {
      return await asked;
    } finally {
      this.#asked.delete(asked);
    }
  }

  /**
   * Plays a slot again while nothing else is asked. The first slot that an ended process had not answered is lost, unless
   * another one ends the next process, too.
   *
   * @param replay Plays the slot's episode again, to the answer that is missing.
   * @param error How the process ended; undefined where the slot waited for nothing then.
   * @throws {EpisodeLostError} When the episode is lost; {Error} for what `replay` throws beside the end of a process.
   */
  async run<T>(replay: () => Promise<T>, error?: ProcessEndedError): Promise<T> {
    let end: End | undefined;
    if (error !== undefined) {
      end = this.#ends.get(error);
      if (end === undefined) {
        const first: End = { isExplained: false };
        this.#ends.set(error, first);
        // The other slots are refused at the same moment, and go before this one.
        this.#waiting++;
        await new Promise((resolve) => setTimeout(resolve));
        this.#waiting--;
        return await this.#next(async () => {
          if (!first.isExplained) throw new EpisodeLostError(error.message);
          return await replay();
        }, first);
      }
    }
    return await this.#next(replay, end);
  }

  #next<T>(play: () => Promise<T>, end: End | undefined): Promise<T> {
    this.#waiting++;
    const played = this.#last.then(async () => {
      await Promise.allSettled(this.#asked);
      this.isRunning = true;
      try {
        return await play();
      } catch (error) {
        if (!(error instanceof ProcessEndedError)) throw error;
        if (end !== undefined) end.isExplained = true;
        throw new EpisodeLostError(error.message);
      } finally {
        this.isRunning = false;
        this.#waiting--;
      }
    });
    this.#last = played.catch(() => {});
    return played;
  }
}
