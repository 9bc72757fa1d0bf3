/** One update in the making: records minibatch after minibatch, collects when the queue is full, reports at the end. */
import { largest } from "../core/statistics.ts";
import type { Plan } from "../gpu/commands.ts";
import type { ForwardSize } from "../model/tiny_agent.ts";
import type { Learner } from "../model/learner.ts";
import type { Gradient, KeptRows, KeptStep } from "../model/learner_batch.ts";
import { packEpisodes } from "../rollout/batch.ts";
import { splitEpisodes } from "../rollout/score.ts";
import type { TrainConfig } from "./config.ts";
import { objectiveRows } from "./objective.ts";
import type { Part, Stages } from "./stages.ts";
import { gridRows, type TrainBatch } from "./train_batch.ts";
import { reportMinibatches, type UpdateReport } from "./update_report.ts";

/** What an update is made of, once the stages before the minibatches have run. */
export interface UpdateOptions {
  /** The model. */
  readonly learner: Learner;
  /** The stages. */
  readonly stages: Stages;
  /** The configuration. */
  readonly config: TrainConfig;
  /** The batch. */
  readonly batch: TrainBatch;
  /** The loss mask. */
  readonly mask_BC: Float32Array;
  /** Advantage of each episode. */
  readonly advantage_B: Float64Array;
  /** True leaves the optimizer alone. */
  readonly isSkipped: boolean;
  /** The KL reference's forward; undefined without a KL term. */
  readonly reference: Plan<ForwardSize> | undefined;
  /** Optimizer steps done before. */
  readonly adamStep: number;
}

/** One update in the making: records minibatch after minibatch, collects when the queue is full, reports at the end. */
export class UpdateRun {
  /** Optimizer steps done so far. */
  adamStep: number;
  readonly #options: UpdateOptions;
  readonly #parts: {
    readonly part: Part;
    readonly objective_N4: Float32Array;
    readonly minibatch: number;
  }[] = [];
  readonly #rows: KeptRows[] = [];
  readonly #steps: KeptStep[] = [];
  #minibatches = 0;

  /** Begins an update; nothing is recorded yet. */
  constructor(options: UpdateOptions) {
    this.#options = options;
    this.adamStep = options.adamStep;
  }

  /** Collects what was recorded, so that others may use the learner before the next minibatch. */
  async collect(): Promise<void> {
    const { rows, steps } = await this.#options.learner.collect();
    this.#rows.push(...rows);
    this.#steps.push(...steps);
  }

  /** Records one minibatch: its microbatches' gradients, then clip and Adam. */
  async minibatch(episodes: readonly number[], oldLogp_BC: Float32Array): Promise<void> {
    const { stages, config, learner, batch, mask_BC, isSkipped } = this.#options;
    const { columnCount } = batch.packed;
    const parts = stages.accumulate(episodes, { config, mask_BC, columnCount });
    let gradient: Gradient | undefined;
    for (const part of parts.flatMap((part) => this.#pieces(part))) {
      if (learner.room === 0) await this.collect();
      gradient = this.#recordPart(part, { oldLogp_BC, onto: gradient });
    }
    if (!gradient) throw new RangeError("Cannot update: a minibatch has no part with an episode");
    const { maxGradNorm } = config;
    (isSkipped ? gradient.norm(maxGradNorm) : gradient.step(maxGradNorm, this.#adam())).keep();
    this.#minibatches++;
  }

  /** A part, cut between episodes where the learner cannot hold it: every weight stays the whole minibatch's. */
  #pieces(part: Part): readonly Part[] {
    const { learner, batch: { packed } } = this.#options;
    const length_P = part.episodes.map((b) => packed.length_B[b] ?? 0);
    const ranges = splitEpisodes(length_P, learner.workspace.capacity);
    if (ranges.length === 1) return [part];
    return ranges.map(({ begin, end }) => {
      const places = Array.from({ length: end - begin }, (_, i) => begin + i);
      return {
        episodes: part.episodes.slice(begin, end),
        weight_PC: gridRows(part.weight_PC, places, packed.columnCount),
        meanWeight_PC: gridRows(part.meanWeight_PC, places, packed.columnCount),
      };
    });
  }

  #adam() {
    const { lr, betas: [beta1, beta2], eps } = this.#options.config;
    return { learningRate: lr, beta1, beta2, epsilon: eps, step: ++this.adamStep };
  }

  #recordPart(
    part: Part,
    options: { readonly oldLogp_BC: Float32Array; readonly onto: Gradient | undefined },
  ): Gradient {
    const { stages, config, learner, advantage_B, reference } = this.#options;
    const { packed, trajectories } = this.#options.batch;
    const { columnCount } = packed;
    const ids = part.episodes.map((b) => trajectories[b]?.ids ?? new Uint32Array());
    const longest = largest(ids.map(({ length }) => length));
    const rows = packEpisodes(ids, {
      vocabSize: learner.parameters.config.vocabSize,
      padColumns: columnCount - (longest - 1),
    });
    const objective_N4 = objectiveRows(rows, {
      advantage_B: part.episodes.map((b) => advantage_B[b] ?? 0),
      weight_BC: part.weight_PC,
      meanWeight_BC: part.meanWeight_PC,
      oldLogp_BC: gridRows(options.oldLogp_BC, part.episodes, columnCount),
    });
    const { temperature } = config;
    const loaded = learner.load(rows, { objective_N4 });
    if (reference) loaded.reference(reference, temperature);
    const scored = loaded.forward(temperature);
    scored.keepRows();
    this.#parts.push({ part, objective_N4, minibatch: this.#minibatches });
    return scored.backward({ loss: stages.lossTerms(config), onto: options.onto });
  }

  /** Collects what is left and computes the statistics. */
  async finish(): Promise<UpdateReport> {
    await this.collect();
    const { stages, config, batch, mask_BC, advantage_B, isSkipped, reference } = this.#options;
    const terms = stages.lossTerms(config);
    const minibatches = reportMinibatches({
      parts: this.#parts.map((part, i) => ({
        ...part,
        rows: this.#rows[i] ?? { result_N4: new Float32Array(), reference_N4: new Float32Array() },
      })),
      steps: this.#steps,
      terms,
      batch,
    });
    return { minibatches, mask_BC, advantage_B, isSkipped, hasReference: reference !== undefined };
  }
}
