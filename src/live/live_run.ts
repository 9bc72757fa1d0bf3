/** One of the two runs: a trainer with its checks, its metrics and what triage says of them, as a run on disk would have it. */
import { journalText } from "../core/json_lines.ts";
import { sha256 } from "../core/sha256.ts";
import { sayFinding } from "../diagnose/finding.ts";
import { triageFindings } from "../diagnose/findings/triage_findings.ts";
import type { CheckResult } from "../diagnose/invariant.ts";
import type { TriageKnowledge } from "../diagnose/triage/knowledge.ts";
import { triage, type TriageInput } from "../diagnose/triage/triage.ts";
import {
  CATALOGUE,
  catalogueConfig,
  type CatalogueName,
  type CatalogueRun,
} from "../faults/catalogue.ts";
import { faultConfig, type FaultName, faultyStages } from "../faults/faults.ts";
import { factsOf } from "../faults/run_facts.ts";
import { triageMetrics } from "../faults/run_metrics.ts";
import { runChecks } from "../faults/trainer_checks.ts";
import type { Commands } from "../gpu/commands.ts";
import { type Checkpoint, checkpointFile } from "../model/checkpoint.ts";
import { hashedBytes, withHash } from "../model/content_hash.ts";
import {
  createParameters,
  destroyParameters,
  hashWeights,
  readParameters,
} from "../model/parameters.ts";
import { serializeSafetensors } from "../model/safetensors.ts";
import { RL_BASE_SEED } from "../rl/base_agent.ts";
import { resolveConfig, type TrainConfig } from "../rl/config.ts";
import { type MetricsRow, metricsRow } from "../rl/metrics.ts";
import { trainingSetup } from "../rl/setup.ts";
import { snapshotTrainer } from "../rl/snapshot.ts";
import { HEALTHY_STAGES } from "../rl/stages.ts";
import { evaluateStep } from "../rl/train_logged.ts";
import { Trainer } from "../rl/trainer.ts";
import { nonFiniteMinibatch } from "../rl/update_report.ts";
import { liveEpisode } from "./live_episode.ts";
import type { Answer, LiveSettings, RunName } from "./messages.ts";

/** What a run is told. */
export interface LiveRunOptions {
  readonly commands: Commands;
  readonly name: RunName;
  readonly settings: LiveSettings;
  /** The agent that it begins with. */
  readonly base: Checkpoint;
  /** Settings of both runs beside those of the catalogue. */
  readonly config: Partial<TrainConfig>;
  readonly knowledge: TriageKnowledge;
}

type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { readonly kind: Kind }>;

/** Whether a fault has a run in the catalogue. One that was just added may have none. */
function hasRun(fault: FaultName): fault is FaultName & CatalogueName {
  return Object.hasOwn(CATALOGUE, fault);
}

/** The run of the catalogue: the fault's own, or the one that it is compared with there. */
function catalogueName(name: RunName, { fault }: LiveSettings): CatalogueName {
  if (fault === undefined || !hasRun(fault)) return "healthy";
  const { control }: CatalogueRun = CATALOGUE[fault];
  return name === "broken" ? fault : (control ?? "healthy") as CatalogueName;
}

/**
 * The configuration of a run.
 *
 * @param options.config Settings of both runs beside those of the catalogue.
 * @throws {UserError} When a value is not allowed.
 */
export function liveConfig(
  name: RunName,
  settings: LiveSettings,
  config: Partial<TrainConfig> = {},
): TrainConfig {
  const { fault, seed, steps } = settings;
  const isOwn = name === "broken" && fault !== undefined && !hasRun(fault);
  return resolveConfig({
    stored: catalogueConfig(catalogueName(name, settings), seed),
    flags: { ...(isOwn && faultConfig(fault)), ...config, steps },
  });
}

/** A row as a journal gives it back: null for what was not finite. */
function asWritten(row: MetricsRow): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(row));
}

/** A trainer, its checks, and what has become of it. */
export class LiveRun {
  readonly #options: LiveRunOptions;
  readonly #trainer: Trainer;
  readonly #rows: Readonly<Record<string, unknown>>[] = [];
  #facts: Pick<TriageInput, "algorithm" | "settings"> = {};
  #checks: readonly CheckResult[] = [];
  #isBroken = false;

  /** A trainer at step 0. @throws {UserError} When a setting is not allowed. */
  constructor(options: LiveRunOptions) {
    const { commands, name, settings, base: { config: model, weights_W }, config } = options;
    const fault = name === "broken" ? settings.fault : undefined;
    const setup = trainingSetup(commands, {
      config: liveConfig(name, settings, config),
      stages: fault === undefined ? HEALTHY_STAGES : faultyStages(fault),
    });
    this.#options = options;
    this.#trainer = new Trainer(setup, {
      parameters: createParameters(commands, model, weights_W),
      reference_W: weights_W,
    });
  }

  /** True where it makes no further step: all are made, or a number of the last one was not finite. */
  get isOver(): boolean {
    const { state: { step }, config: { steps } } = this.#trainer;
    return this.#isBroken || step >= steps;
  }

  /** Checks the trainer before its first step. */
  async check(): Promise<AnswerOf<"checked">> {
    const { name, base: { config: model, weights_W }, commands } = this.#options;
    const { setup, learner, state: { baseline } } = this.#trainer;
    const results = await runChecks(setup, { model, weights_W, baseline, learner });
    // As checks.json has it.
    this.#checks = results.map((result) => ({
      ...result,
      value: Number.isFinite(result.value) ? result.value : null,
    }));
    this.#facts = factsOf({
      config: setup.config,
      base: { kind: "rl", seed: RL_BASE_SEED },
      base_hash: await hashWeights(weights_W),
      adapter: commands.gpu.adapter.description,
    });
    return { kind: "checked", run: name, results: this.#checks };
  }

  /** Makes a step, and evaluates it where a run on disk would. */
  async step(): Promise<AnswerOf<"stepped">> {
    const { name } = this.#options;
    const trainer = this.#trainer;
    const startMs = performance.now();
    const report = await trainer.step();
    const ms = performance.now() - startMs;
    const { batch: { trajectories: [first] }, update } = report;
    const evaluation = await evaluateStep(trainer, report.step);
    const row = metricsRow(report, { evaluation, rules: trainer.setup.source });
    this.#rows.push(asWritten(row));
    this.#isBroken = nonFiniteMinibatch(update) !== undefined;
    if (first === undefined) throw new Error("a step has no episode");
    const episode = liveEpisode(first, trainer.setup.source);
    const tokens = update.mask_BC.reduce((sum, trained) => sum + trained, 0);
    return { kind: "stepped", run: name, row, episode, tokens, ms };
  }

  /** What `agentrl triage` says of a folder with this run. */
  judge(): AnswerOf<"triaged"> {
    const { name, knowledge } = this.#options;
    const input: TriageInput = {
      ...triageMetrics(this.#rows, { source: "this run" }),
      ...this.#facts,
      checks: this.#checks,
      producer: "agentrl",
    };
    const report = triage(input, knowledge);
    return {
      kind: "triaged",
      run: name,
      conclusion: report.conclusion,
      note: report.note,
      causes: report.causes.map(({ fault, score }) => ({ fault, belief: score })),
      findings: triageFindings(report, input).map((finding) => sayFinding(finding)),
    };
  }

  /** The run's metrics.jsonl, or its whole state as the checkpoint that a run on disk keeps. */
  async file(file: "metrics" | "checkpoint"): Promise<AnswerOf<"file">> {
    const { name, settings: { fault, seed } } = this.#options;
    const run = name === "broken" && fault !== undefined ? fault : "healthy";
    if (file === "metrics") {
      return {
        kind: "file",
        name: `${run}-seed${seed}.metrics.jsonl`,
        type: "application/jsonl",
        bytes: new TextEncoder().encode(journalText(this.#rows)),
      };
    }
    const checkpoint = await snapshotTrainer(this.#trainer);
    const content = checkpointFile(checkpoint);
    const hash = await sha256(hashedBytes(content));
    return {
      kind: "file",
      name: `${run}-seed${seed}-step-${checkpoint.step}.safetensors`,
      type: "application/octet-stream",
      bytes: serializeSafetensors(withHash(content, hash)),
    };
  }

  /** SHA-256 of the weights as they are. */
  async hash(): Promise<string> {
    const { learner: { commands, parameters } } = this.#trainer;
    return await hashWeights(await readParameters(commands, parameters));
  }

  /** Frees its memory on the device. */
  destroy(): void {
    const { parameters } = this.#trainer.learner;
    this.#trainer.destroy();
    destroyParameters(parameters);
  }
}
