/** One update in the making: records minibatch after minibatch, collects when the queue is full, reports at the end. */
import { at } from "../core/element.ts";
import type { Plan } from "../gpu/commands.ts";
import type { ForwardSize } from "../model/tiny_agent.ts";
import type { Learner } from "../model/learner.ts";
import type { Gradient, KeptRows, KeptStep } from "../model/learner_batch.ts";
import { type PackedBatch, selectEpisodes } from "../rollout/batch.ts";
import { maxPolicyTokens } from "../rollout/episode_source.ts";
import { splitEpisodes } from "../rollout/score.ts";
import type { AdvantageOutput } from "./algorithm.ts";
import { objectiveRows } from "./objective.ts";
import type { TrainingSetup } from "./setup.ts";
import type { Part } from "./stages.ts";
import type { TrainBatch } from "./train_batch.ts";
import { reportMinibatches, type UpdateReport } from "./update_report.ts";

/** What stands where a step would be, when the loss alone is asked for. */
const NO_STEP: KeptStep = { gradNorm: NaN, clipFactor: 0 };

/** A batch as the loss sees it, once the stages before the minibatches have run. */
export interface PreparedUpdate extends AdvantageOutput {
  /** The trained tokens, [B, C]. */
  readonly mask_BC: Float32Array;
  /** log π_old, [B, C], in nats. */
  readonly oldLogp_BC: Float32Array;
}

/** What an update is made of. */
export interface UpdateOptions {
  /** The model. */
  readonly learner: Learner;
  /** The batch. */
  readonly batch: TrainBatch;
  /** What the stages made of it. */
  readonly prepared: PreparedUpdate;
  /** True leaves the optimizer alone. */
  readonly isSkipped: boolean;
  /** The KL reference's forward; undefined without a KL term. */
  readonly reference: Plan<ForwardSize> | undefined;
  /** Optimizer steps done before. */
  readonly adamStep: number;
  /** False computes the loss alone, a third of the work: no gradient and no step (default true). */
  readonly withGradient?: boolean;
}

/** One update in the making: records minibatch after minibatch, collects when the queue is full, reports at the end. */
export class UpdateRun {
  /** Optimizer steps done so far. */
  adamStep: number;
  readonly #setup: TrainingSetup;
  readonly #options: UpdateOptions;
  readonly #parts: {
    readonly packed: PackedBatch;
    readonly objective_N4: Float32Array;
    readonly minibatch: number;
  }[] = [];
  readonly #rows: KeptRows[] = [];
  readonly #steps: KeptStep[] = [];
  #minibatches = 0;

  /** Begins an update; nothing is recorded yet. */
  constructor(setup: TrainingSetup, options: UpdateOptions) {
    this.#setup = setup;
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
    const { config, stages, source } = this.#setup;
    const { learner, batch, prepared: { mask_BC }, isSkipped, withGradient = true } = this.#options;
    const { columnCount } = batch.packed;
    const parts = stages.accumulate(episodes, {
      config,
      mask_BC,
      columnCount,
      maxPolicyTokens: maxPolicyTokens(source.spec),
    });
    let gradient: Gradient | undefined;
    for (const part of parts.flatMap((part) => this.#pieces(part))) {
      if (learner.room === 0) await this.collect();
      gradient = this.#recordPart(part, { oldLogp_BC, onto: gradient });
    }
    this.#minibatches++;
    if (!withGradient) {
      this.#steps.push(NO_STEP);
      return;
    }
    if (!gradient) throw new RangeError("Cannot update: a minibatch has no part with an episode");
    const { maxGradNorm } = config;
    (isSkipped ? gradient.norm(maxGradNorm) : gradient.step(maxGradNorm, this.#adam())).keep();
  }

  /** A part, cut between episodes where the learner cannot hold it: every weight stays the whole minibatch's. */
  #pieces(part: Part): readonly Part[] {
    const { learner, batch: { packed } } = this.#options;
    const length_P = part.episodes.map((b) => at(packed.length_B, b));
    return splitEpisodes(length_P, learner.workspace.capacity)
      .map(({ begin, end }) => ({ ...part, episodes: part.episodes.slice(begin, end) }));
  }

  #adam() {
    const { lr, betas: [beta1, beta2], eps } = this.#setup.config;
    return { learningRate: lr, beta1, beta2, epsilon: eps, step: ++this.adamStep };
  }

  #recordPart(
    part: Part,
    options: { readonly oldLogp_BC: Float32Array; readonly onto: Gradient | undefined },
  ): Gradient | undefined {
    const { config, stages } = this.#setup;
    const { learner, batch, prepared: { advantage_B }, reference, withGradient = true } =
      this.#options;
    const { vocabSize } = learner.parameters.config;
    const packed = selectEpisodes(batch, { episodes: part.episodes, vocabSize });
    const { oldLogp_BC, onto } = options;
    const objective_N4 = objectiveRows(packed, { ...part, advantage_B, oldLogp_BC });
    const { temperature } = config;
    const loaded = learner.load(packed, { objective_N4 });
    if (reference) loaded.reference(reference, temperature);
    const scored = loaded.forward(temperature);
    scored.keepRows();
    this.#parts.push({ packed, objective_N4, minibatch: this.#minibatches });
    return withGradient ? scored.backward({ loss: stages.lossTerms(config), onto }) : undefined;
  }

  /** Collects what is left and computes the statistics. */
  async finish(): Promise<UpdateReport> {
    await this.collect();
    const { config, stages } = this.#setup;
    const { batch, prepared: { mask_BC, advantage_B }, isSkipped, reference } = this.#options;
    const terms = stages.lossTerms(config);
    const parts = this.#parts.map((part, i) => ({ ...part, rows: at(this.#rows, i) }));
    const minibatches = reportMinibatches({ parts, steps: this.#steps, terms, batch });
    const hasReference = reference !== undefined;
    return { minibatches, mask_BC, advantage_B, isSkipped, hasReference, parts };
  }
}
