/** The trainer: samples a batch, and updates the policy on it stage by stage. Every number that it draws is counted. */
import { at } from "../core/element.ts";
import { randomSequence, STREAM } from "../core/rng.ts";
import type { Plan } from "../gpu/commands.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import type { ForwardSize } from "../model/tiny_agent.ts";
import { Learner } from "../model/learner.ts";
import {
  createParameters,
  destroyParameters,
  type Parameters,
  readParameters,
  writeParameters,
} from "../model/parameters.ts";
import { maxBatchRows } from "../model/workspace.ts";
import { Decoder } from "../rollout/decoder.ts";
import type { RolloutRequest } from "../rollout/resident.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { AdvantageOutput } from "./algorithm.ts";
import { episodesPerStep, type TrainConfig } from "./config.ts";
import { drawTasks } from "./draw_tasks.ts";
import { resampleFlatGroups } from "./dynamic_sampling.ts";
import { scoreBatch } from "./score_batch.ts";
import type { TrainingSetup } from "./setup.ts";
import type { StageContext, Stages } from "./stages.ts";
import { collateEnded, endedEpisodes } from "./ended_episodes.ts";
import type { TrainBatch } from "./train_batch.ts";
import { type PreparedUpdate, UpdateRun } from "./update.ts";
import type { UpdateReport } from "./update_report.ts";
import { WeightHistory } from "./weight_history.ts";

/** Results that one readback collects at most. */
const MAX_QUEUE = 16;

/** What of a trainer must be saved besides weights and moments. */
export interface TrainerState {
  /** Steps done. */
  readonly step: number;
  /** Adam's t: optimizer steps done. */
  readonly adamStep: number;
  /** The moving baseline. */
  readonly baseline: number;
}

/** Where a trainer begins. */
export interface TrainerStart {
  /** The weights that are trained; they stay the caller's. */
  readonly parameters: Parameters;
  /** Weights of the KL reference [W] (default: those of `parameters` now, read when first needed). */
  readonly reference_W?: Float32Array<ArrayBuffer>;
  /** Steps done and what they left (default step 0, a fresh optimizer, baseline 0). */
  readonly state?: TrainerState;
  /** The weights [W] before each of the last steps done, oldest first, as far as `weightsKept` of the stages asks for. */
  readonly earlierWeights?: readonly Float32Array<ArrayBuffer>[];
  /** The learner of another trainer of these weights and this batch, to borrow (default one of its own). */
  readonly learner?: Learner;
  /** True makes the learner, and its kernels, when it is first asked for (default false: at once). */
  readonly isLearnerLate?: boolean;
}

/** One step: what was sampled and what the update did with it. */
export interface StepReport {
  /** Its number, from 0. */
  readonly step: number;
  /** The episodes. */
  readonly batch: TrainBatch;
  /** What the update did. */
  readonly update: UpdateReport;
}

/** The trainer: samples a batch of episodes, and updates the policy on it stage by stage. Every number that it draws is counted. */
export class Trainer<Info extends EpisodeInfo = EpisodeInfo> {
  /** What was decided before. */
  readonly setup: TrainingSetup<Info>;
  readonly #makeLearner: () => Learner;
  #learner: Learner | undefined;
  readonly #decoder: Decoder;
  readonly #isLearnerBorrowed: boolean;
  #sampler: { readonly parameters: Parameters; readonly decoder: Decoder } | undefined;
  #reference:
    | { readonly plan: Plan<ForwardSize>; readonly parameters: Parameters | undefined }
    | undefined;
  readonly #reference_W: Float32Array<ArrayBuffer> | undefined;
  #state: TrainerState;
  readonly #history: WeightHistory;

  /**
   * Allocates learner and decoder for the largest batch of the config.
   * @throws {UserError} When the model exceeds the device's limits; a batch that does is computed in pieces.
   */
  constructor(setup: TrainingSetup<Info>, start: TrainerStart) {
    const { commands, source, config } = setup;
    const { parameters } = start;
    const { maxEpisodeTokens } = source.spec;
    const passes = config.epochs * config.minibatches * Math.max(config.microbatches, 4);
    this.setup = setup;
    this.#isLearnerBorrowed = start.learner !== undefined;
    this.#makeLearner = () =>
      new Learner(commands, parameters, {
        capacity: Math.min(
          episodesPerStep(config) * maxEpisodeTokens,
          maxBatchRows(commands, parameters.config),
        ),
        maxPositions: maxEpisodeTokens,
        queueLength: Math.min(passes, MAX_QUEUE),
      });
    this.#learner = start.learner ?? (start.isLearnerLate ? undefined : this.#makeLearner());
    this.#decoder = new Decoder(commands, parameters, { maxPositions: maxEpisodeTokens });
    this.#reference_W = start.reference_W;
    this.#state = start.state ?? { step: 0, adamStep: 0, baseline: 0 };
    this.#history = new WeightHistory(start.earlierWeights);
  }

  /** The model in training. @throws {UserError} As the constructor, where the learner is made late. */
  get learner(): Learner {
    return this.#learner ??= this.#makeLearner();
  }

  /** What and how to train. */
  get config(): TrainConfig {
    return this.setup.config;
  }

  /** The stages in use. */
  get stages(): Stages {
    return this.setup.stages;
  }

  /** Where the trainer stands. */
  get state(): TrainerState {
    return this.#state;
  }

  /** The weights [W] before each of the last steps done, oldest first, as far as the stages ask for them. */
  get earlierWeights(): readonly Float32Array<ArrayBuffer>[] {
    return this.#history.earlier;
  }

  /** Sets the moving baseline, for instance to a measured pass rate before the first step. */
  setBaseline(baseline: number): void {
    this.#state = { ...this.#state, baseline };
  }

  /** What stages may ask, at the current step. */
  get context(): StageContext {
    return {
      config: this.config,
      step: this.#state.step,
      source: this.setup.source,
      rollOut: (request) => this.setup.source.sample(this.#decoder, request),
      recompute: (batch, temperature) => this.recompute(batch, temperature),
      weightsBefore: (steps) => this.#weightsBefore(steps),
      rollOutWith: (weights_W, request) => this.#rollOutWith(weights_W, request),
    };
  }

  async #weightsBefore(steps: number): Promise<Float32Array<ArrayBuffer>> {
    const { step } = this.#state;
    const back = Math.min(steps, step);
    if (back === 0) return await readParameters(this.setup.commands, this.learner.parameters);
    return this.#history.before(step, back);
  }

  async #rollOutWith(
    weights_W: Float32Array<ArrayBuffer>,
    request: RolloutRequest,
  ): Promise<Trajectory<Info>[]> {
    const { config } = this.learner.parameters;
    if (!this.#sampler) {
      const parameters = createParameters(this.setup.commands, config, weights_W);
      const { maxPositions } = this.#decoder;
      const decoder = new Decoder(this.setup.commands, parameters, { maxPositions });
      this.#sampler = { parameters, decoder };
    }
    writeParameters(this.setup.commands, this.#sampler.parameters, weights_W);
    return await this.setup.source.sample(this.#sampler.decoder, request);
  }

  /** Samples this step's episodes, flat groups again where the config says so, and collates them. */
  async sampleBatch(
    { whileRunning, ...options }: Pick<RolloutRequest, "whileRunning"> & {
      readonly padColumns?: number;
    } = {},
  ): Promise<TrainBatch> {
    const { config, state: { step }, stages, setup: { source } } = this;
    const { tasks_B, groupId_B } = drawTasks(config, { step, taskCount: source.tasks.train });
    const { temperature, seed } = config;
    const sample = (places: readonly number[], round: number) =>
      stages.sample({
        tasks_B: places.map((b) => at(tasks_B, b)),
        randomIds_B: places.map((b) => round * tasks_B.length + b),
        temperature,
        random: { seed, stream: STREAM.sample, step },
        ...(round === 0 && { whileRunning }),
      }, this.context);
    const trajectories = await resampleFlatGroups(await sample([...tasks_B.keys()], 0), {
      groupId_B,
      rounds: config.resampleRounds,
      resample: sample,
    });
    const { vocabSize } = this.learner.parameters.config;
    return collateEnded(trajectories, { groupId_B, vocabSize, ...options });
  }

  /** Log-probs [B, C] of a batch under the current weights, at the configured or the given temperature. */
  async recompute(batch: TrainBatch, temperature = this.config.temperature): Promise<Float32Array> {
    return await scoreBatch(this.learner, batch, {
      record: (loaded) => loaded.forward(temperature).keepRows(),
      choose: ({ result_N4 }) => result_N4,
    });
  }

  /** The plan of the KL reference, prepared when first needed; undefined without a KL term. */
  async #referencePlan(): Promise<Plan<ForwardSize> | undefined> {
    if (this.stages.lossTerms(this.config).klCoef === 0) return undefined;
    if (this.#reference) return this.#reference.plan;
    const { learner } = this;
    const isLive = this.stages.reference === "live";
    const parameters = isLive ? undefined : createParameters(
      this.setup.commands,
      learner.parameters.config,
      this.#reference_W ?? await readParameters(this.setup.commands, learner.parameters),
    );
    const plan = learner.referencePlan(parameters ?? learner.parameters);
    this.#reference = { plan, parameters };
    return plan;
  }

  /** Log-probs [B, C] of a batch under the KL reference; undefined without a KL term. */
  async referenceLogp(batch: TrainBatch): Promise<Float32Array | undefined> {
    const plan = await this.#referencePlan();
    if (!plan) return undefined;
    const { temperature } = this.config;
    return await scoreBatch(this.learner, batch, {
      record: (loaded) => {
        loaded.reference(plan, temperature);
        loaded.forward(temperature).keepRows();
      },
      choose: ({ reference_N4 }) => reference_N4,
    });
  }

  /** What the rewards of a batch say of each episode: its advantage, and the moving baseline after the batch. */
  judge(batch: TrainBatch): AdvantageOutput {
    return this.stages.advantages(batch, { config: this.config, baseline: this.#state.baseline });
  }

  /** A judged batch as the loss sees it: which tokens are trained, and what the old policy made of them. */
  async prepare(
    batch: TrainBatch,
    judged: AdvantageOutput = this.judge(batch),
  ): Promise<PreparedUpdate> {
    const { stages, context } = this;
    const mask_BC = stages.lossMask(batch, { spec: this.setup.source.spec });
    const oldLogp_BC = await stages.oldLogp(batch, { ...context, mask_BC });
    return { mask_BC, oldLogp_BC, ...judged };
  }

  async #openUpdate(
    batch: TrainBatch,
    options: {
      readonly prepared: PreparedUpdate;
      readonly isSkipped: boolean;
      readonly withGradient?: boolean;
      readonly setup?: TrainingSetup;
    },
  ): Promise<UpdateRun> {
    const { setup = this.setup, ...rest } = options;
    const { learner, state: { adamStep } } = this;
    const reference = await this.#referencePlan();
    return new UpdateRun(setup, { ...rest, learner, batch, reference, adamStep });
  }

  /**
   * Updates the policy on a batch, minibatch by minibatch.
   * @param prepared What `prepare` made of it (default: it is prepared now).
   * @throws {DeviceLostError} When the device is gone.
   */
  async update(batch: TrainBatch, prepared?: PreparedUpdate): Promise<UpdateReport> {
    const { config, stages, context } = this;
    prepared ??= await this.prepare(batch);
    const isSkipped = config.skipZeroSignal && prepared.advantage_B.every((a) => a === 0);
    const run = await this.#openUpdate(batch, { prepared, isSkipped });
    const random = randomSequence({
      seed: config.seed,
      stream: STREAM.shuffle,
      step: this.#state.step,
    });
    const recompute: StageContext["recompute"] = async (...args) => {
      await run.collect(); // A recomputation between minibatches must not read back their results.
      return await this.recompute(...args);
    };
    for (let epoch = 0; epoch < config.epochs; epoch++) {
      for (const episodes of stages.split(batch, { config, random })) {
        const old_BC = await stages.minibatchOldLogp(prepared.oldLogp_BC, {
          ...context,
          batch,
          recompute,
        });
        await run.minibatch(episodes, old_BC);
      }
    }
    const report = await run.finish();
    this.#state = { ...this.#state, adamStep: run.adamStep, baseline: prepared.baseline };
    return report;
  }

  /**
   * Loss and gradient of a whole batch as one minibatch, without a step.
   * @param options.prepared What `prepare` made of the batch.
   * @param options.accumulate How the gradient is put together (default as in an update).
   * @returns The loss, and the gradient [W] before clipping.
   */
  async lossAndGradient(
    batch: TrainBatch,
    options: { readonly prepared: PreparedUpdate; readonly accumulate?: Stages["accumulate"] },
  ): Promise<{ readonly loss: number; readonly gradient_W: Float32Array }> {
    const { prepared, accumulate = this.stages.accumulate } = options;
    const setup = { ...this.setup, stages: { ...this.stages, accumulate } };
    const run = await this.#openUpdate(batch, { prepared, isSkipped: true, setup });
    const loss = await this.#wholeLoss(run, batch, prepared);
    return { loss, gradient_W: await this.learner.readGradient() };
  }

  /** Loss of a whole batch as one minibatch, for a third of the work of {@linkcode lossAndGradient}. */
  async loss(batch: TrainBatch, prepared: PreparedUpdate): Promise<number> {
    const options = { prepared, isSkipped: true, withGradient: false };
    return await this.#wholeLoss(await this.#openUpdate(batch, options), batch, prepared);
  }

  async #wholeLoss(run: UpdateRun, batch: TrainBatch, prepared: PreparedUpdate): Promise<number> {
    await run.minibatch(batch.trajectories.map((_, b) => b), prepared.oldLogp_BC);
    const { minibatches: [minibatch] } = await run.finish();
    return minibatch?.statistics.loss ?? NaN;
  }

  /** One step: sample, judge, prepare, update, record. @throws {DeviceLostError} When the device is gone. */
  async step(options: Pick<RolloutRequest, "whileRunning"> = {}): Promise<StepReport> {
    const isKept = (this.stages.weightsKept ?? 0) > 0;
    const before_W = isKept ? await this.#weightsBefore(0) : undefined;
    const batch = await this.sampleBatch(options);
    const judged = this.judge(batch);
    const prepared = await this.prepare(batch, judged);
    const update = await this.update(batch, prepared);
    return this.#record({ batch, update, before_W });
  }

  /** Counts the step, keeps the weights that later steps may ask for, and reports. */
  #record(
    done: Omit<StepReport, "step"> & { readonly before_W: Float32Array<ArrayBuffer> | undefined },
  ): StepReport {
    const { batch, update, before_W } = done;
    const { step } = this.#state;
    this.#state = { ...this.#state, step: step + 1 };
    if (before_W) this.#history.push(before_W, this.stages.weightsKept ?? 0);
    else this.#history.clear();
    return { step, batch, update };
  }

  /**
   * Episodes of a whole split under the current weights, for an evaluation. They come from a stream of their own, so that
   * evaluating never changes a run. The reward is always that of the goal: in BugFix the hidden tests'.
   * @throws {UserError} When an environment fails, or every episode was lost.
   */
  async evaluate(
    options: Pick<RolloutRequest, "whileRunning"> & {
      readonly split: "train" | "heldout";
      readonly episodesPerTask: number;
      /** Tasks that are played at most, evenly spread over the split (default all). */
      readonly mostTasks?: number;
      /** Tells evaluations apart (default the trainer's step). */
      readonly step?: number;
    },
  ): Promise<Trajectory<Info>[]> {
    const { split, episodesPerTask, mostTasks = Infinity, step = this.#state.step } = options;
    const { source } = this.setup;
    const { train, heldout } = source.tasks;
    const [first, count] = split === "train" ? [0, train] : [train, heldout];
    const played = Math.min(count, mostTasks);
    const trajectories = await source.evaluate(this.#decoder, {
      tasks_B: Array.from(
        { length: played * episodesPerTask },
        (_, i) => first + Math.floor(Math.floor(i / episodesPerTask) * count / played),
      ),
      temperature: this.config.temperature,
      random: { seed: this.config.seed, stream: STREAM.evaluate, step },
      whileRunning: options.whileRunning,
    });
    return endedEpisodes(trajectories);
  }

  /** Frees everything but the weights that are trained. */
  destroy(): void {
    if (!this.#isLearnerBorrowed) this.#learner?.destroy();
    this.#decoder.destroy();
    this.#sampler?.decoder.destroy();
    if (this.#sampler) destroyParameters(this.#sampler.parameters);
    if (this.#reference?.parameters) destroyParameters(this.#reference.parameters);
  }
}
