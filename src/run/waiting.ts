/** Work of the host that waits until the device is busy. */

/** Holds one piece of work, which is done once: by whoever asks for it first. */
export class Waiting {
  #work: (() => void) | undefined;

  /** Lets work wait. What waited before must be done. */
  put(work: () => void): void {
    this.#work = work;
  }

  /** Does what waits, if anything does. Work that throws is not kept for a second try. */
  finish(): void {
    const work = this.#work;
    this.#work = undefined;
    work?.();
  }
}
