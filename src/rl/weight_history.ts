/** The weights before each of the last steps, for samplers that lag behind: what is kept, and what is asked of it. */
import { UserError } from "../core/errors.ts";

type Weights_W = Float32Array<ArrayBuffer>;

/** What a trainer keeps of its earlier weights. */
export class WeightHistory {
  #earlier: readonly Weights_W[];

  /** @param earlier The weights before each of the last steps done, oldest first. */
  constructor(earlier: readonly Weights_W[] = []) {
    this.#earlier = earlier;
  }

  /** The weights before each of the last steps done, oldest first. */
  get earlier(): readonly Weights_W[] {
    return this.#earlier;
  }

  /** Takes the weights before the step that was just done; `kept` of them stay. */
  push(weights_W: Weights_W, kept: number): void {
    this.#earlier = [...this.#earlier, weights_W].slice(-kept);
  }

  /** Forgets everything: a step was done whose weights nobody kept. */
  clear(): void {
    this.#earlier = [];
  }

  /**
   * The weights as they were `back` steps before a step, at least 1.
   * @throws {UserError} When they are not here.
   */
  before(step: number, back: number): Weights_W {
    const weights_W = this.#earlier.at(-back);
    if (weights_W) return weights_W;
    throw new UserError(
      `Cannot sample step ${step} with the weights of ${back} steps before: the state that it begins from holds those ` +
        `of ${this.#earlier.length}; start the run again, or continue from an earlier checkpoint`,
    );
  }
}
