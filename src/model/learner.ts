/**
 * A model that is scored and trained: weights, Adam's moments, activations and gradients, and the prepared passes over
 * them. Work is recorded pass by pass and submitted when results are collected, so that a whole update costs one submit and
 * one readback.
 */
import type { Commands, Plan, ReadRequest } from "../gpu/commands.ts";
import { createTensor, destroy, type Tensor } from "../gpu/tensor.ts";
import { type AdamArguments, firstNotFinite, type NotFinite } from "../kernels/clip_adam.ts";
import type { LossArguments } from "../kernels/policy_loss.ts";
import {
  allRows,
  type BatchInputs,
  createBatchInputs,
  type LearnerBatch,
  longestEpisode,
  spreadRecords,
  weightedRows,
  writeBatch,
} from "./batch_inputs.ts";
import { type LearnerPlans, learnerPlans } from "./learner_plans.ts";
import { createFlat, type Parameters } from "./parameters.ts";
import { forwardPlan, type ForwardSize } from "./tiny_agent.ts";
import {
  createGradientWorkspace,
  createWorkspace,
  destroyWorkspace,
  type GradientWorkspace,
  type Workspace,
} from "./workspace.ts";

/** Results of one kept forward, per packed row; 0 in rows that were not scored. */
export interface KeptRows {
  /** (log-prob, entropy, lse, 0) per row, f32. */
  readonly result_N4: Float32Array;
  /** The same of the reference model; empty where it was not kept. */
  readonly reference_N4: Float32Array;
}

/** Results of one kept optimizer step. */
export interface KeptStep {
  /** Gradient norm before clipping; not finite where the step was refused. */
  readonly gradNorm: number;
  /** The clip factor; 0 where the step was refused. */
  readonly clipFactor: number;
}

/** A wait that nobody notices; the readbacks that it costs, of 0.3 ms each, do not show beside it. */
const MAX_WAIT_MS = 100;

/** Sizes that a learner is made for. */
export interface LearnerOptions {
  /** Rows of the largest batch. */
  readonly capacity: number;
  /** Tokens of the longest episode. */
  readonly maxPositions: number;
  /** Batches that may be recorded before results are collected (default 2). */
  readonly queueLength?: number;
}

const CLIP_BYTES = 8;

/**
 * A model that is scored and trained: weights, Adam's moments, activations and gradients, and the passes over them. An update
 * is `load`, `forward`, `backward` and `step`; `keepRows` and `keepStep` say what of it `collect` reads back, which submits it
 * all at once. Make one per model; `destroy` frees its memory.
 */
export class Learner {
  /** The recorder of its work. */
  readonly commands: Commands;
  /** The weights. */
  readonly parameters: Parameters;
  /** Inputs and activations. */
  readonly workspace: Workspace;
  /** Gradients and what they need. */
  readonly gradients: GradientWorkspace;
  /** Adam's first and second moments [W]. */
  readonly moments: readonly [Tensor, Tensor];
  readonly #plans: LearnerPlans;
  readonly #uploads: readonly BatchInputs[];
  readonly #kept: readonly {
    readonly rows: Tensor;
    readonly reference: Tensor;
    readonly clip: Tensor;
  }[];
  #batch: { readonly rowCount: number; readonly row_R: Uint32Array<ArrayBuffer> } = {
    rowCount: 0,
    row_R: new Uint32Array(),
  };
  #usedUploads = 0;
  #keptRows: {
    readonly rowCount: number;
    readonly row_R: Uint32Array;
    readonly withReference: boolean;
  }[] = [];
  #keptSteps = 0;
  #queueLimit: number;

  /**
   * Allocates all memory and prepares all passes.
   * @throws {UserError} When a tensor or a loop exceeds the device's limits.
   */
  constructor(commands: Commands, parameters: Parameters, options: LearnerOptions) {
    const { capacity, maxPositions, queueLength = 2 } = options;
    const { config, layout } = parameters;
    this.commands = commands;
    this.parameters = parameters;
    this.workspace = createWorkspace(commands, config, {
      capacity,
      maxPositions,
      isTraining: true,
    });
    this.gradients = createGradientWorkspace(commands, config, capacity);
    this.moments = [
      createFlat(commands, "first moment", layout.parameterCount),
      createFlat(commands, "second moment", layout.parameterCount),
    ];
    const { device } = commands.gpu;
    this.#uploads = Array.from(
      { length: queueLength },
      (_, i) => createBatchInputs(commands, config, { capacity, label: `upload ${i}` }),
    );
    this.#kept = Array.from({ length: queueLength }, (_, i) => ({
      rows: createTensor(device, { label: `kept rows ${i}`, sizeBytes: capacity * 16 }),
      reference: createTensor(device, { label: `kept reference ${i}`, sizeBytes: capacity * 16 }),
      clip: createTensor(device, { label: `kept clip ${i}`, sizeBytes: CLIP_BYTES }),
    }));
    this.#queueLimit = queueLength;
    try {
      this.#plans = learnerPlans(commands, this);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Results come back late where a batch takes long: the host hears nothing, not even Ctrl-C, while it waits for them. */
  #limitQueue(batchMs: number): void {
    const worthwhile = Math.max(1, Math.floor(MAX_WAIT_MS / Math.max(batchMs, Number.EPSILON)));
    this.#queueLimit = Math.min(this.#uploads.length, worthwhile);
  }

  /** The plan of a frozen model's forward over the same inputs, to `reference_R4`. Prepare it once. */
  referencePlan(parameters: Parameters): Plan<ForwardSize> {
    const { commands, workspace } = this;
    return forwardPlan(commands, { parameters, workspace, result_R4: workspace.reference_R4 });
  }

  /**
   * Makes a batch the current one.
   * @param options.objective_N4 (advantage, weight, mean weight, old log-prob) per row; needed for a loss only.
   * @param options.row_R The rows to score, ascending, at least one; by default those with a weight in the objective, and
   * all without one. No other row has a log-prob or a part in the loss.
   * @throws {RangeError} When the batch or an episode exceeds the capacity or more batches are queued than the learner was made for.
   */
  load(
    batch: LearnerBatch,
    options: {
      readonly objective_N4?: Float32Array | undefined;
      readonly row_R?: Uint32Array<ArrayBuffer>;
    } = {},
  ): void {
    const { commands, workspace } = this;
    const { rowCount } = batch;
    if (rowCount > workspace.capacity) {
      throw new RangeError(
        `Cannot load a batch of ${rowCount} tokens: the learner holds ${workspace.capacity}; split the batch`,
      );
    }
    const length = longestEpisode(batch);
    if (length > workspace.maxPositions) {
      throw new RangeError(
        `Cannot load an episode of ${length} tokens: the learner holds ${workspace.maxPositions}`,
      );
    }
    const upload = this.#uploads[this.#usedUploads];
    if (!upload) {
      throw new RangeError(`Cannot queue more than ${this.#uploads.length} batches: collect first`);
    }
    this.#usedUploads++;
    const { objective_N4 } = options;
    const row_R = options.row_R ?? (objective_N4 ? weightedRows(objective_N4) : allRows(rowCount));
    writeBatch(commands, upload, { batch, row_R, objective_N4 });
    commands.copy({ tensor: upload.all, sizeBytes: upload.all.sizeBytes }, workspace.inputs.all);
    this.#batch = { rowCount, row_R };
  }

  get #size() {
    const { rowCount, row_R } = this.#batch;
    return { rowCount, scoredCount: row_R.length };
  }

  /** Records the forward of the current batch. @param temperature Divides the logits; above 0. */
  forward(temperature = 1): void {
    this.commands.replay(this.#plans.forward, { ...this.#size, temperature });
  }

  /** Records a frozen model's forward of the current batch; call it before `forward`, which it would overwrite. */
  reference(plan: Plan<ForwardSize>, temperature = 1): void {
    this.commands.replay(plan, { ...this.#size, temperature });
  }

  /** Uploads reference log-probs instead of computing them. @param logp_N One per row. */
  loadReference(logp_N: Float32Array): void {
    const { row_R } = this.#batch;
    const reference_R4 = new Float32Array(4 * row_R.length);
    row_R.forEach((row, place) => reference_R4[4 * place] = logp_N[row] ?? 0);
    this.commands.submit();
    this.commands.write(this.workspace.reference_R4, reference_R4);
  }

  /** Records loss and backward of the current batch after its `forward`; `accumulate` adds to the gradient. */
  backward(
    options: {
      readonly loss: LossArguments["loss"];
      readonly temperature?: number;
      readonly accumulate?: boolean;
    },
  ): void {
    const { loss, temperature = 1, accumulate = false } = options;
    this.commands.replay(this.#plans.loss, { ...this.#size, loss });
    this.commands.replay(this.#plans.backward, { ...this.#size, temperature, accumulate });
  }

  /** Records the gradient norm, without a step. */
  norm(maxNorm: number): void {
    this.commands.replay(this.#plans.norm, { maxNorm });
  }

  /** Records norm, clip and one Adam step. A gradient that is not finite changes nothing. */
  step(maxNorm: number, adam: AdamArguments["adam"]): void {
    this.norm(maxNorm);
    this.commands.replay(this.#plans.adam, { adam });
    this.commands.refreshOperand(this.parameters.operand, this.parameters.flat);
  }

  /** Batches whose results are to come, kept or not yet. */
  get #queued(): number {
    return Math.max(this.#usedUploads, this.#keptRows.length, this.#keptSteps);
  }

  /** Batches that can still be loaded, and results kept, before `collect`; of slow ones fewer than there is memory for. */
  get room(): number {
    return Math.max(0, this.#queueLimit - this.#queued);
  }

  /**
   * Keeps the current forward's results for `collect`, and the reference's when `withReference` is set.
   * @throws {RangeError} When there is no room left.
   */
  keepRows(options: { readonly withReference?: boolean } = {}): void {
    const kept = this.#kept[this.#keptRows.length];
    if (!kept) {
      throw new RangeError(`Cannot keep more than ${this.#kept.length} results: collect first`);
    }
    const { withReference = false } = options;
    const sizeBytes = this.#batch.row_R.length * 16;
    const { result_R4, reference_R4 } = this.workspace;
    this.commands.copy({ tensor: result_R4, sizeBytes }, kept.rows);
    if (withReference) this.commands.copy({ tensor: reference_R4, sizeBytes }, kept.reference);
    this.#keptRows.push({ ...this.#batch, withReference });
  }

  /** Keeps the current gradient norm and clip factor for `collect`. */
  keepStep(): void {
    const kept = this.#kept[this.#keptSteps];
    if (!kept) {
      throw new RangeError(`Cannot keep more than ${this.#kept.length} steps: collect first`);
    }
    this.commands.copy({ tensor: this.gradients.clip_2, sizeBytes: CLIP_BYTES }, kept.clip);
    this.#keptSteps++;
  }

  /**
   * Submits what was recorded and reads back what was kept, in one readback.
   * @throws {DeviceLostError} When the device is gone; {Error} with the kernel's label when a command failed.
   */
  async collect(): Promise<{ readonly rows: KeptRows[]; readonly steps: KeptStep[] }> {
    const keptRows = this.#keptRows;
    const requests: ReadRequest[] = [];
    this.#kept.forEach(({ rows, reference }, i) => {
      const kept = keptRows[i];
      if (!kept) return;
      const sizeBytes = kept.row_R.length * 16;
      requests.push({ tensor: rows, sizeBytes });
      requests.push({ tensor: reference, sizeBytes: kept.withReference ? sizeBytes : 0 });
    });
    this.#kept.slice(0, this.#keptSteps).forEach(({ clip }) =>
      requests.push({ tensor: clip, sizeBytes: CLIP_BYTES })
    );
    const queued = this.#queued;
    this.#usedUploads = 0;
    this.#keptRows = [];
    this.#keptSteps = 0;
    if (requests.length === 0) this.commands.submit();
    const { counters } = this.commands.gpu;
    const waitedBeforeMs = counters.waitMs;
    const read = (await this.commands.read(requests)).map((bytes) => new Float32Array(bytes));
    if (requests.length > 0) this.#limitQueue((counters.waitMs - waitedBeforeMs) / queued);
    return {
      rows: keptRows.map(({ withReference, ...batch }, i) => ({
        result_N4: spreadRecords(read[2 * i] ?? new Float32Array(), batch),
        reference_N4: withReference
          ? spreadRecords(read[2 * i + 1] ?? new Float32Array(), batch)
          : new Float32Array(),
      })),
      steps: read.slice(2 * keptRows.length).map(([gradNorm = NaN, clipFactor = 0]) => ({
        gradNorm,
        clipFactor,
      })),
    };
  }

  /** The flat gradient [W]. */
  async readGradient(): Promise<Float32Array<ArrayBuffer>> {
    return await this.#readFlat(this.gradients.gradient);
  }

  /**
   * The first entry that was not finite in the gradient of the first step that was refused since the last call; undefined
   * where none was, or where only the sum of squares overflowed.
   */
  async takeRefused(): Promise<NotFinite | undefined> {
    const { parameterCount } = this.parameters.layout;
    const sizeBytes = 4 * Math.ceil(parameterCount / 4);
    const { refused } = this.gradients;
    const [bytes] = await this.commands.read([{ tensor: refused, sizeBytes }]);
    this.commands.clear(refused);
    return firstNotFinite(new Uint32Array(bytes ?? new ArrayBuffer(0)));
  }

  /** Adam's moments [W], first and second. */
  async readMoments(): Promise<[Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>]> {
    const [first, second] = this.moments;
    return [await this.#readFlat(first), await this.#readFlat(second)];
  }

  /** Restores Adam's moments. */
  writeMoments(first_W: Float32Array<ArrayBuffer>, second_W: Float32Array<ArrayBuffer>): void {
    this.commands.submit();
    this.commands.write(this.moments[0], first_W);
    this.commands.write(this.moments[1], second_W);
  }

  /** Forgets Adam's moments, for a fresh optimizer. */
  clearMoments(): void {
    this.moments.forEach((moment) => this.commands.clear(moment));
  }

  async #readFlat(tensor: Tensor): Promise<Float32Array<ArrayBuffer>> {
    const sizeBytes = this.parameters.layout.parameterCount * 4;
    const [bytes] = await this.commands.read([{ tensor, sizeBytes }]);
    return new Float32Array(bytes ?? new ArrayBuffer(0));
  }

  /** Frees everything but the weights, which belong to their maker. */
  destroy(): void {
    destroyWorkspace(this.workspace);
    destroyWorkspace(this.gradients);
    this.moments.forEach(destroy);
    this.#uploads.forEach(({ all }) => destroy(all));
    this.#kept.forEach(({ rows, reference, clip }) => [rows, reference, clip].forEach(destroy));
  }
}
