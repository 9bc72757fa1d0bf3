/** A training run on disk: the trainer's steps with journal, evaluations and checkpoints, begun or taken up where it stands. */
import { UserError } from "../core/errors.ts";
import { mean } from "../core/statistics.ts";
import { sentence, setting } from "../core/mention.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import { violated } from "../diagnose/invariants.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import { runChecks } from "../faults/trainer_checks.ts";
import { evaluateStep, isEvaluated } from "../rl/train_logged.ts";
import type { Commands } from "../gpu/commands.ts";
import { compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { TINY_AGENT } from "../model/config.ts";
import {
  createParameters,
  destroyParameters,
  hashWeights,
  readParameters,
} from "../model/parameters.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import { BASE_AGENTS, makeBaseAgent } from "../rl/base_agent.ts";
import {
  environmentModel,
  makeEnvironmentAgent,
  type OpenedEnvironment,
} from "../rl/environment_agent.ts";
import type { TrainingSetup } from "../rl/setup.ts";
import { type StepReport, Trainer } from "../rl/trainer.ts";
import { nonFiniteMinibatch } from "../rl/update_report.ts";
import { snapshotTrainer } from "../rl/snapshot.ts";
import { readAgent } from "./agent_file.ts";
import { type Checkpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { writeChecks } from "./checks_file.ts";
import { requireSameEnvironment } from "./environment_record.ts";
import { asMetricsRow } from "./metrics_rows.ts";
import { cutJournal, lastRow } from "../files/journal.ts";
import { cutLaterChecks, LaterChecks } from "./later_checks.ts";
import { requireFiniteStep } from "./non_finite.ts";
import { findResumePoint, type ResumePoint } from "./resume_point.ts";
import { checkpointPath, type RunDirectory } from "./run_directory.ts";
import { baseName, type RunSettings, setupOf, writeSettings } from "./run_settings.ts";
import { isDue, StepLogs } from "./step_logs.ts";
import type { RowLog } from "./tensorboard_log.ts";
import { Waiting } from "./waiting.ts";
import {
  checkpointState,
  readBaseAgent,
  readTrainerState,
  restoreTrainer,
  saveTrainer,
} from "./trainer_file.ts";

/** What a run is made of. */
export interface TrainingOptions {
  readonly commands: Commands;
  /** The run's folder; where it holds a checkpoint, the run continues from the latest. */
  readonly directory: RunDirectory;
  readonly settings: RunSettings;
  /** The environment that the settings record; left out: the gym that ships. */
  readonly environment?: OpenedEnvironment | undefined;
  /** True: violated invariants are written down, and the run begins all the same. */
  readonly ignoreChecks?: boolean;
  /** Take the rows of the metrics, beside the journal and as safely. */
  readonly rowLogs?: readonly RowLog[];
  /** Called with a sentence where a resumed run is not as it was left, or not known to be. */
  readonly onRemark?: (sentence: string) => void;
  /** Called while the base agent is cloned. */
  readonly onCloned?: (stepsDone: number) => void;
  /** Called before the first step of this start. */
  readonly onStart?: (stepsDone: number) => void;
  /** Called after every step, when its row is on disk; the device may be playing the next step's episodes. */
  readonly onStep?: (row: MetricsRow, report: StepReport) => void;
  /** Milliseconds since 1970, for timing.jsonl (default: the system's clock). */
  readonly nowMs?: () => number;
  /** Asked after every step; true: the run saves itself and ends early. */
  readonly isStopRequested?: () => boolean;
}

/** How a run stands when this start ends. */
export interface TrainingResult {
  /** Steps done; fewer than configured where it was stopped. */
  readonly steps: number;
  readonly weightsHash: string;
  /** The last row of the metrics; undefined before the first step. */
  readonly last: MetricsRow | undefined;
}

/** Episodes of a training task from which the moving baseline starts. */
const BASELINE_EPISODES_PER_TASK = 16;
/** And tasks at most, evenly spread: BugFix has as many. */
const BASELINE_TASKS = 20;
/** Stands for the step in the random stream of those episodes: no step of a run has this number. */
const BASELINE_DRAW = 2 ** 32 - 1;

/** The agent that a run starts from. */
async function makeBase(
  { commands }: TrainingSetup,
  options: TrainingOptions,
): Promise<Pick<Checkpoint, "config" | "weights_W">> {
  const { settings: { base }, environment, onCloned } = options;
  if ("file" in base) return readAgent(base.file, environment?.source);
  if (environment !== undefined || base.kind === "cloned") {
    return await makeOwnBase(commands, options);
  }
  const weights_W = await makeBaseAgent(commands, {
    kind: base.kind,
    gym: compileGym(openGym(), BASE_AGENTS[base.kind].preset),
    seed: base.seed,
    ...(onCloned && { onProgress: onCloned }),
  });
  return { config: TINY_AGENT, weights_W };
}

/** The agent that a run in an environment starts from. */
async function makeOwnBase(
  commands: Commands,
  { environment, settings: { base }, onCloned }: TrainingOptions,
): Promise<Pick<Checkpoint, "config" | "weights_W">> {
  if (
    environment === undefined || "file" in base || base.kind === "plain" || base.kind === "rl"
  ) {
    throw new UserError(`Cannot start from the agent ${baseName(base)} in this environment`);
  }
  const { kind, seed } = base;
  const weights_W = await makeEnvironmentAgent(commands, {
    environment,
    kind,
    seed,
    ...(onCloned && { onProgress: onCloned }),
  });
  return { config: environmentModel(environment.definition), weights_W };
}

/** Writes the verdicts of the invariants, and lets no run begin that violates one. */
function passGate(results: readonly CheckResult[], options: TrainingOptions): void {
  const { directory, ignoreChecks = false } = options;
  writeChecks(directory.checks, results);
  const broken = violated(results);
  if (broken.length === 0 || ignoreChecks) return;
  const list = broken.map(({ id, name, value }) => `${id} ${name} (${value?.toPrecision(3)})`).join(
    ", ",
  );
  throw new UserError(
    sentence`Cannot train: before the first step the trainer violates ${list}; see ${directory.checks}, or continue with ${
      setting("resume")
    } ${setting("ignoreChecks")}`,
    1,
  );
}

/** A trainer to continue with. */
interface Start {
  readonly trainer: Trainer;
  /** The weights that its KL reference was made from. */
  readonly reference_W: Float32Array<ArrayBuffer>;
  /** The checkpoint from which it was taken up. */
  readonly resumedFrom?: string;
}

/** A trainer at step 0 on a fresh base agent, checked and saved. */
async function beginTrainer(setup: TrainingSetup, options: TrainingOptions): Promise<Start> {
  const { directory, settings } = options;
  const { config: model, weights_W } = await makeBase(setup, options);
  writeSettings(directory.config, { ...settings, baseHash: await hashWeights(weights_W) });
  const trainer = new Trainer(setup, {
    parameters: createParameters(setup.commands, model, weights_W),
    reference_W: weights_W,
    isLearnerLate: true,
  });
  if (!ALGORITHMS[setup.config.algorithm].grouped) {
    const episodes = await trainer.evaluate({
      split: "train",
      episodesPerTask: BASELINE_EPISODES_PER_TASK,
      mostTasks: BASELINE_TASKS,
      step: BASELINE_DRAW,
      // Kernels of the learner are made meanwhile.
      whileRunning: () => void trainer.learner,
    });
    trainer.setBaseline(mean(episodes.map(({ reward }) => reward)));
  }
  const { learner, state: { baseline } } = trainer;
  passGate(await runChecks(setup, { model, weights_W, baseline, learner }), options);
  await saveTrainer(trainer, checkpointPath(directory.path, trainer.state.step));
  return { trainer, reference_W: weights_W };
}

/** The trainer as a checkpoint left it; rows of later steps are dropped, since those steps are redone. */
async function resumeTrainer(
  setup: TrainingSetup,
  options: TrainingOptions & { readonly point: ResumePoint },
): Promise<Start> {
  const { directory, settings, onRemark, point: { step, metricsBytes, episodesBytes, loss } } =
    options;
  const basePath = checkpointPath(directory.path, 0);
  const path = checkpointPath(directory.path, step);
  const base = await readBaseAgent(basePath, settings);
  const checkpoint = readTrainerState(path, step);
  if (JSON.stringify(checkpoint.config) !== JSON.stringify(base.config)) {
    throw new UserError(
      `Cannot use checkpoint ${path}: its model has other sizes than ${basePath}`,
    );
  }
  const { adamStep } = checkpoint.state ?? {};
  // Every step updates at least once, unless it may be skipped.
  if (!setup.config.skipZeroSignal && Number(adamStep) < step) {
    throw new UserError(
      `Cannot use checkpoint ${path}: its state has ${adamStep} updates behind it, which is fewer than its ${step} steps`,
    );
  }
  if (loss !== undefined) onRemark?.(loss);
  if (!checkpoint.isVerified) onRemark?.(`${path} carries no SHA-256, so it is unverified`);
  const trainer = restoreTrainer(setup, { checkpoint, reference_W: base.weights_W, path });
  cutJournal(directory.metrics, metricsBytes);
  cutJournal(directory.episodes, episodesBytes);
  cutLaterChecks(directory.laterChecks, step);
  return { trainer, reference_W: base.weights_W, resumedFrom: path };
}

/** The system's clock, in parts of a millisecond. */
const systemMs = () => performance.timeOrigin + performance.now();

/**
 * Makes a step and evaluates it. Where its environment fails, the run is saved as it was before the step: the journals have
 * the rows of all steps before it.
 */
async function stepOrSave(
  trainer: Trainer,
  { environment, directory, nowMs = systemMs, sync, whileRunning }: TrainingOptions & {
    /** Brings the journals to the disk. */
    readonly sync: () => void;
    /** Work of the host that may be done while the device plays. */
    readonly whileRunning: () => void;
  },
): Promise<{
  readonly report: StepReport;
  readonly endMs: number;
  readonly evaluation: Awaited<ReturnType<typeof evaluateStep>>;
}> {
  const { config, state: { step } } = trainer;
  const mayFailLater = environment !== undefined && isEvaluated(step, config);
  const before = mayFailLater ? await snapshotTrainer(trainer) : undefined;
  try {
    const report = await trainer.step({ whileRunning });
    const endMs = nowMs();
    return { report, endMs, evaluation: await evaluateStep(trainer, step) };
  } catch (error) {
    if (environment !== undefined && error instanceof UserError) {
      const saved = before ?? await snapshotTrainer(trainer);
      sync();
      if (saved.step === step) writeCheckpoint(checkpointPath(directory.path, step), saved);
    }
    throw error;
  }
}

/**
 * Steps until the end, or until a stop is asked for. The row of a step is made and written while the device plays the episodes
 * of the next one, and on disk before anything of that step is. Where something must follow it at once (an evaluation, a
 * checkpoint, a record, a check, the end) it is written before the next step begins, and in an environment of a user's as well.
 */
async function trainSteps(start: Start, options: TrainingOptions): Promise<void> {
  const { trainer, reference_W, resumedFrom } = start;
  const { ignoreChecks: isIgnored = false, environment } = options;
  const { directory, rowLogs = [], onStep, isStopRequested, nowMs = systemMs } = options;
  const { steps, checkpointEvery, checkEvery: every } = trainer.config;
  using logs = new StepLogs(trainer, { directory, rowLogs });
  const sync = () => logs.sync();
  const later = new LaterChecks(directory.laterChecks, {
    every,
    reference_W,
    isIgnored,
    // Read again: what a run made of it must not decide what is expected of it.
    resumed: resumedFrom === undefined ? undefined : checkpointState(readCheckpoint(resumedFrom)),
  });
  const waiting = new Waiting();
  const whileRunning = () => waiting.finish();
  try {
    for (let isOver = trainer.state.step >= steps; !isOver;) {
      const before = await logs.before();
      const checked = await later.before(trainer);
      const startMs = nowMs();
      const stepped = await stepOrSave(trainer, { ...options, nowMs, sync, whileRunning });
      waiting.finish(); // Where the rollout did not ask for it.
      const { report, evaluation } = stepped;
      const write = () => logs.write({ ...stepped, startMs, before });
      const isFollowed = (before ?? checked ?? evaluation ?? environment) !== undefined ||
        nonFiniteMinibatch(report.update) !== undefined;
      let row = isFollowed ? write() : undefined;
      await requireFiniteStep(trainer, report, directory);
      const refusal = await later.after(trainer, checked, report);
      // A signal is heard only between two turns of the event loop, and a step may end within one.
      await new Promise((resolve) => setTimeout(resolve, 0));
      const { step: done } = trainer.state;
      isOver = done >= steps || isStopRequested?.() === true || refusal !== undefined;
      if (isOver || isDue(done, checkpointEvery)) {
        row ??= write();
        sync();
        await saveTrainer(trainer, checkpointPath(directory.path, trainer.state.step));
      }
      // The row is written also where nobody wants to be told.
      const tell = (written: MetricsRow) => onStep?.(written, report);
      if (row === undefined) waiting.put(() => tell(write()));
      else tell(row);
      if (refusal) throw refusal;
    }
  } finally {
    waiting.finish();
  }
}

/**
 * Trains until the configured number of steps is done, or until a stop is asked for. A run that was stopped or killed at any moment and
 * taken up again has, on the same adapter, the bits of a run that was not.
 *
 * @param options The run.
 * @returns How it stands.
 * @throws {UserError} When a file cannot be read or written, or with exit code 1 when an invariant is violated before the first step
 * or at a later one that is checked, or a loss or gradient is not finite.
 * @throws {DeviceLostError} When the device is gone; the run can be resumed.
 */
export async function runTraining(options: TrainingOptions): Promise<TrainingResult> {
  const { commands, directory, onStart } = options;
  const source = options.environment?.source;
  requireSameEnvironment(options.settings.environment, {
    given: source,
    attempt: `Cannot train in ${directory.path}`,
  });
  const setup = setupOf(commands, options.settings, source);
  const point = findResumePoint(directory, setup.config);
  const start = point === undefined
    ? await beginTrainer(setup, options)
    : await resumeTrainer(setup, { ...options, point });
  const { trainer } = start;
  const { parameters } = trainer.learner;
  try {
    onStart?.(trainer.state.step);
    await trainSteps(start, options);
    const last = lastRow(directory.metrics);
    return {
      steps: trainer.state.step,
      weightsHash: await hashWeights(await readParameters(commands, parameters)),
      last: last && asMetricsRow(last, { source: directory.metrics }),
    };
  } finally {
    trainer.destroy();
    destroyParameters(parameters);
  }
}
