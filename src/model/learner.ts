/**
 * A model that is scored and trained: weights, Adam's moments, activations and gradients, and the prepared passes over
 * them. Work is recorded pass by pass and submitted when results are collected, so that a whole update costs one submit and
 * one readback.
 */
import type { Commands, Plan, ReadRequest } from "../gpu/commands.ts";
import { createTensor, destroy, type Tensor } from "../gpu/tensor.ts";
import { firstNotFinite, type RefusedEntry } from "../kernels/clip_adam.ts";
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
import type {
  Gradient,
  KeptRows,
  KeptStep,
  LoadedBatch,
  RecordedStep,
  ScoredBatch,
} from "./learner_batch.ts";
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

/** The rows of a batch and what is known of its forwards. */
interface Rows {
  readonly rowCount: number;
  /** The scored rows. */
  readonly row_R: Uint32Array<ArrayBuffer>;
  /** True once a frozen model has scored them. */
  withReference: boolean;
}

/**
 * A model that is scored and trained: weights, Adam's moments, activations and gradients, and the passes over them. An update
 * is `load(batch).forward().backward({ loss }).step(maxNorm, adam)`; `keepRows` of the forward and `keep` of the step say what
 * of it `collect` reads back, which submits it all at once. Make one per model; `destroy` frees its memory.
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
  /** What the next call belongs to: a batch is worked on from load to backward before another one. */
  #stage: LoadedBatch | ScoredBatch | undefined;
  #gradient: Gradient | undefined;
  #step: RecordedStep | undefined;
  #usedUploads = 0;
  #keptRows: Readonly<Rows>[] = [];
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
   * Makes a batch the current one; what was loaded before is gone.
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
  ): LoadedBatch {
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
    return this.#loaded({ rowCount, row_R, withReference: false });
  }

  #requireStage(stage: LoadedBatch | ScoredBatch, method: string): void {
    if (stage === this.#stage) return;
    throw new RangeError(
      `Cannot record ${method}: the batch is no longer the learner's current one; load it again`,
    );
  }

  #loaded(rows: Rows): LoadedBatch {
    const { commands, workspace: { reference_R4 } } = this;
    const { rowCount, row_R } = rows;
    const loaded: LoadedBatch = {
      reference: (plan, temperature = 1) => {
        this.#requireStage(loaded, "reference");
        commands.replay(plan, { rowCount, scoredCount: row_R.length, temperature });
        rows.withReference = true;
      },
      loadReference: (logp_N) => {
        this.#requireStage(loaded, "loadReference");
        const logp_R4 = new Float32Array(4 * row_R.length);
        row_R.forEach((row, place) => logp_R4[4 * place] = logp_N[row] ?? 0);
        commands.submit();
        commands.write(reference_R4, logp_R4);
      },
      forward: (temperature = 1) => {
        this.#requireStage(loaded, "forward");
        commands.replay(this.#plans.forward, { rowCount, scoredCount: row_R.length, temperature });
        return this.#scored(rows, temperature);
      },
    };
    this.#stage = loaded;
    return loaded;
  }

  #scored(rows: Rows, temperature: number): ScoredBatch {
    const size = { rowCount: rows.rowCount, scoredCount: rows.row_R.length };
    const scored: ScoredBatch = {
      keepRows: () => {
        this.#requireStage(scored, "keepRows");
        this.#keepRows(rows);
      },
      backward: ({ loss, onto }) => {
        this.#requireStage(scored, "backward");
        if (onto) this.#requireGradient(onto, "backward");
        this.commands.replay(this.#plans.loss, { ...size, loss });
        const accumulate = onto !== undefined;
        this.commands.replay(this.#plans.backward, { ...size, temperature, accumulate });
        return this.#gradient = onto ?? this.#newGradient();
      },
    };
    this.#stage = scored;
    return scored;
  }

  #requireGradient(gradient: Gradient, method: string): void {
    if (gradient === this.#gradient) return;
    throw new RangeError(
      `Cannot record ${method}: the gradient was replaced by that of a later backward`,
    );
  }

  #newGradient(): Gradient {
    const gradient: Gradient = {
      norm: (maxNorm) => {
        this.#requireGradient(gradient, "norm");
        this.commands.replay(this.#plans.norm, { maxNorm });
        const recorded: RecordedStep = { keep: () => this.#keepStep(recorded) };
        return this.#step = recorded;
      },
      step: (maxNorm, adam) => {
        const recorded = gradient.norm(maxNorm);
        this.commands.replay(this.#plans.adam, { adam });
        this.commands.refreshOperand(this.parameters.operand, this.parameters.flat);
        return recorded;
      },
    };
    return gradient;
  }

  /** Batches whose results are to come, kept or not yet. */
  get #queued(): number {
    return Math.max(this.#usedUploads, this.#keptRows.length, this.#keptSteps);
  }

  /** Batches that can still be loaded, and results kept, before `collect`; of slow ones fewer than there is memory for. */
  get room(): number {
    return Math.max(0, this.#queueLimit - this.#queued);
  }

  #keepRows(rows: Rows): void {
    const kept = this.#kept[this.#keptRows.length];
    if (!kept) {
      throw new RangeError(`Cannot keep more than ${this.#kept.length} results: collect first`);
    }
    const sizeBytes = rows.row_R.length * 16;
    const { result_R4, reference_R4 } = this.workspace;
    this.commands.copy({ tensor: result_R4, sizeBytes }, kept.rows);
    if (rows.withReference) this.commands.copy({ tensor: reference_R4, sizeBytes }, kept.reference);
    this.#keptRows.push(rows);
  }

  #keepStep(recorded: RecordedStep): void {
    if (recorded !== this.#step) {
      throw new RangeError("Cannot keep a step: another one was recorded since; keep it first");
    }
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
  async takeRefused(): Promise<RefusedEntry | undefined> {
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
