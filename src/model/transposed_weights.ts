/** The decoder's own copy of a model's weights, its matrices transposed. */
import type { Commands, Plan } from "../gpu/commands.ts";
import { addTransposeWeights } from "../kernels/transpose.ts";
import type { ModelConfig } from "./config.ts";
import { createParameters, destroyParameters, type Parameters } from "./parameters.ts";

/** Whether a model's matrices can be transposed in their places: their outputs come in vec4. */
export function canTranspose({ vocabSize }: ModelConfig): boolean {
  return vocabSize % 4 === 0;
}

/** A copy of weights that is brought up to date before a rollout. */
export class TransposedWeights {
  readonly #commands: Commands;
  readonly #parameters: Parameters;
  readonly #copy: Parameters;
  readonly #plan: Plan<undefined>;

  /** Allocates the copy; it holds zeros until it is refreshed. */
  constructor(commands: Commands, parameters: Parameters) {
    const { config, layout } = parameters;
    this.#commands = commands;
    this.#parameters = parameters;
    const zeros = new Float32Array(layout.parameterCount);
    this.#copy = createParameters(commands, config, zeros);
    this.#plan = commands.plan();
    const { width, feedForwardWidth, vocabSize, headCount } = config;
    const add = (
      offset: number,
      shape: { readonly width: number; readonly outputCount: number; readonly headWidth?: number },
    ) =>
      addTransposeWeights(commands, this.#plan, {
        weights: parameters.flat,
        transposed: this.#copy.flat,
        offset,
        headWidth: 0,
        ...shape,
      });
    for (const { qkv, proj, fc, out } of layout.blocks) {
      add(qkv, { width, outputCount: 3 * width, headWidth: width / headCount });
      add(proj, { width, outputCount: width });
      add(fc, { width, outputCount: feedForwardWidth });
      add(out, { width: feedForwardWidth, outputCount: width });
    }
    add(layout.head, { width, outputCount: vocabSize });
  }

  /** What the decoder reads in place of the weights. */
  get operand(): Parameters["operand"] {
    return this.#copy.operand;
  }

  /** Records that the copy is brought up to date. */
  refresh(): void {
    const { flat } = this.#parameters;
    const copy = this.#copy;
    this.#commands.copy({ tensor: flat, sizeBytes: flat.sizeBytes }, copy.flat);
    this.#commands.replay(this.#plan, undefined);
    this.#commands.refreshOperand(copy.operand, copy.flat);
  }

  /** Frees the copy. */
  destroy(): void {
    destroyParameters(this.#copy);
  }
}
