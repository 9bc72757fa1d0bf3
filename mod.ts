/**
 * agentrl: a laboratory for agent reinforcement learning on WebGPU. This is the public API, re-exports only; reports are in
 * `agentrl/report`.
 *
 * @module
 */
export { DeviceLostError, UserError } from "./src/core/errors.ts";
export {
  inWords,
  type Mention,
  type MentionWords,
  type Sentence,
  type SettingValue,
} from "./src/core/mention.ts";
export { nearestName, suggestName } from "./src/core/nearest.ts";
export {
  mean,
  median,
  quantile,
  type RateInterval,
  sampleVariance,
  wilsonInterval,
} from "./src/core/statistics.ts";
export { type Interval, Resamples, type Strata } from "./src/compare/strata.ts";
export { meanInterval } from "./src/compare/mean_interval.ts";
export { interquartileMean, interquartileMeanInterval } from "./src/compare/interquartile_mean.ts";
export { probabilityOfImprovement } from "./src/compare/probability_of_improvement.ts";
export { performanceProfile, type ProfilePoint } from "./src/compare/performance_profile.ts";
export {
  type PairedDifference,
  pairedDifference,
  type SeedScore,
} from "./src/compare/paired_difference.ts";
export {
  parseSafetensors,
  requireTensor,
  serializeSafetensors,
  type Tensor,
  type TensorFile,
  type TensorRequirement,
} from "./src/model/safetensors.ts";
export {
  type ConfigSources,
  type ConfiguredEnvironment,
  episodesPerStep,
  resolveConfig,
} from "./src/rl/config.ts";
export { ALGORITHM_DEFAULTS, COMMON_DEFAULTS, type TrainConfig } from "./src/rl/config_keys.ts";
export {
  AGGREGATION_MODES,
  type AggregationMode,
  type AggregationOptions,
  aggregationWeights,
} from "./src/equations/aggregate.ts";
export { type AlgorithmName, ALGORITHMS } from "./src/rl/algorithms.ts";

// The device, and kernels on it.
export type { Arithmetic } from "./src/gpu/arithmetic.ts";
export {
  type AdapterReport,
  checkDevice,
  compileKernel,
  type Gpu,
  type GpuOptions,
  NO_ADAPTER,
  openGpu,
  type OperandAccessors,
} from "./src/gpu/device.ts";
export { Commands, type Launch, Plan, type ReadRequest, type Step } from "./src/gpu/commands.ts";
export {
  type BindingSpec,
  type Kernel,
  type KernelSpec,
  type OperandMemory,
  type ParamKind,
  type SizeOf,
} from "./src/gpu/kernel.ts";
export type { ReadbackMode, Staging } from "./src/gpu/staging.ts";
export { defaultTuning, type Tuning, TUNING_VALUES } from "./src/gpu/tuning.ts";
export {
  createTensor,
  destroy,
  type Operand,
  type Tensor as DeviceTensor,
} from "./src/gpu/tensor.ts";
export { type RandomKey, type RandomSequence, randomSequence, STREAM } from "./src/core/rng.ts";

// Models.
export {
  type BlockOffsets,
  type ModelConfig,
  type ParameterLayout,
  parameterLayout,
  type ParameterRange,
  type ParameterRole,
  TINY_AGENT,
} from "./src/model/config.ts";
export {
  createParameters,
  destroyParameters,
  fromTensors,
  hashWeights,
  initialValues,
  type Parameters,
  readParameters,
  toTensors,
  writeParameters,
} from "./src/model/parameters.ts";
export { Learner, type LearnerOptions } from "./src/model/learner.ts";
export {
  type Gradient,
  type KeptRows,
  type KeptStep,
  type LoadedBatch,
  type RecordedStep,
  type ScoredBatch,
} from "./src/model/learner_batch.ts";
export { type BatchInputs, type LearnerBatch } from "./src/model/batch_inputs.ts";
export { type ForwardSize } from "./src/model/tiny_agent.ts";
export { type ScoredSize } from "./src/kernels/scored_rows.ts";
export {
  type BlockActivations,
  type GradientWorkspace,
  type Workspace,
} from "./src/model/workspace.ts";
export { type LogprobSize } from "./src/kernels/logprob.ts";
export { type LossArguments } from "./src/kernels/policy_loss.ts";
export { type AdamArguments, type RefusedEntry } from "./src/kernels/clip_adam.ts";
export { type RowSize } from "./src/kernels/operands.ts";

// The gym, and environments of your own.
export {
  type Environment,
  type EnvironmentSpec,
  type EpisodeInfo,
  EpisodeLostError,
  isCallComplete,
  type StepResult,
} from "./src/gym/environment.ts";
export {
  type BehaviourMetric,
  type EnvironmentDefinition,
  type EnvironmentFacts,
  HEALTHY_DIRECTIONS,
  type TaskCounts,
} from "./src/gym/environment_definition.ts";
export { BugFix, type PresetName } from "./src/gym/bugfix.ts";
export { type BugFixInfo, type BugFixStop, type RewardKind } from "./src/gym/episode_info.ts";
export { OPERATION_NAMES, type OperationName, type RepairName } from "./src/gym/calls.ts";
export { type CompiledGym, compileGym } from "./src/gym/compiled.ts";
export { type Gym, openGym, type Verdict } from "./src/gym/gym.ts";
export type { Json, Split, Task, TestCase } from "./src/gym/task.ts";
export { makeTasks } from "./src/gym/tasks.ts";
export {
  type TestedProgram,
  TestRunner,
  type TestRunnerOptions,
} from "./src/sandbox/test_runner.ts";
export { judgeTasks } from "./src/sandbox/judge_tasks.ts";
export { OWNER } from "./src/core/owner.ts";
export { decode, encode, TOKEN, type Word, WORDS } from "./src/gym/vocabulary.ts";

// Rollouts.
export {
  gridToRows,
  type PackedBatch,
  packEpisodes,
  rowsToGrid,
  selectEpisodes,
} from "./src/rollout/batch.ts";
export type { DecodeRequest, GymTables } from "./src/rollout/decode_request.ts";
export { Decoder, type DecoderOptions } from "./src/rollout/decoder.ts";
export { type EpisodeScores, scoreEpisodes } from "./src/rollout/score.ts";
export { evaluateAgent, type Evaluation, type EvaluationRequest } from "./src/rollout/evaluate.ts";
export {
  type Behaviour,
  type EpisodeRules,
  type EpisodeSource,
  type OwnMetricName,
} from "./src/rollout/episode_source.ts";
export { environmentSource } from "./src/rollout/environment_source.ts";
export { bugFixGoal, type BugFixOptions, bugFixSource } from "./src/rollout/bugfix_source.ts";
export { type HostRequest, rolloutHost } from "./src/rollout/host.ts";
export {
  type ResidentRequest,
  type RolloutRequest,
  rolloutResident,
} from "./src/rollout/resident.ts";
export {
  type RolloutGrouping,
  type RolloutStats,
  rolloutStats,
  rolloutStatsBy,
} from "./src/rollout/rollout_stats.ts";
export { formatTranscript } from "./src/rollout/transcript.ts";
export { type RecordedTokens, type Trajectory } from "./src/rollout/trajectory.ts";

// Training.
export {
  BASE_AGENTS,
  type BaseAgentKind,
  type BaseAgentName,
  type DemonstrationMix,
  makeBaseAgent,
} from "./src/rl/base_agent.ts";
export {
  environmentModel,
  makeEnvironmentAgent,
  type OpenedEnvironment,
  openForTraining,
} from "./src/rl/environment_agent.ts";
export {
  HEALTHY_STAGES,
  type Part,
  recomputedOldLogp,
  type StageContext,
  type Stages,
  type TokenWeights,
} from "./src/rl/stages.ts";
export { collate, type LostEpisode, type TrainBatch } from "./src/rl/train_batch.ts";
export { type TrainingSetup, trainingSetup } from "./src/rl/setup.ts";
export { type ObjectiveGrids, objectiveRows } from "./src/rl/objective.ts";
export {
  type StepReport,
  Trainer,
  type TrainerStart,
  type TrainerState,
} from "./src/rl/trainer.ts";
export { type PreparedUpdate } from "./src/rl/update.ts";
export {
  type MinibatchReport,
  type RecordedPart,
  type UpdateReport,
} from "./src/rl/update_report.ts";
export {
  type AdvantageInput,
  type AdvantageOutput,
  type AdvantageSetting,
  type Algorithm,
} from "./src/rl/algorithm.ts";
export {
  KL_KINDS,
  type KlKind,
  type PolicyLossOptions,
  SURROGATE_KINDS,
  type SurrogateKind,
} from "./src/equations/policy_loss.ts";
export { type PolicyStatistics } from "./src/equations/policy_statistics.ts";
export type { AdvantageRule } from "./src/diagnose/advantage_rule.ts";
export {
  type BatchDraw,
  CHECK_LACKS,
  CHECK_VERDICTS,
  type CheckableTrainer,
  type CheckedEpisode,
  type CheckedUpdate,
  type CheckLack,
  type CheckResult,
  type CheckVerdict,
  type KnownTrainer,
  type LoadedMinibatch,
  type LossInputs,
  type TokenDistribution,
  type TokenDraws,
} from "./src/diagnose/invariant.ts";
export type {
  LossProbe,
  LossSlope,
  OptimizerProbe,
  OptimizerState,
  TermMove,
  TermProbe,
} from "./src/diagnose/probe.ts";
export { checkInvariants, violated } from "./src/diagnose/invariants.ts";
export { type CheckRequest, runChecks } from "./src/faults/trainer_checks.ts";
export { bisect, type BisectResult, type BisectTest } from "./src/diagnose/bisect.ts";
export { type HealthyReference } from "./src/diagnose/reference_runs.ts";
export { healthyReference, type HealthyReferenceFile } from "./src/faults/healthy_reference.ts";
export {
  metricSeries,
  type RunMetrics,
  type Series,
  type StatisticName,
} from "./src/diagnose/metric_series.ts";
export {
  type Evidence,
  type LaterCheck,
  type RecordedCheck,
  type TestedRun,
  type Unchecked,
} from "./src/diagnose/triage/evaluate.ts";
export {
  type Bound,
  type CauseRecord,
  type Clearing,
  type Needs,
  type RuleTest,
  type SettingNeed,
  type Shortfall,
  TIERS,
  type ToldValue,
  type TriageKnowledge,
  type TriageRule,
} from "./src/diagnose/triage/knowledge.ts";
export type { Advice, NextStep } from "./src/diagnose/triage/next_step.ts";
export {
  type Cause,
  type NotFinite,
  triage,
  type TriageInput,
  type TriageReport,
  type UncheckedSymptom,
} from "./src/diagnose/triage/triage.ts";
export { tinyAgentKnowledge } from "./src/faults/tiny_agent_knowledge.ts";
export { TRIAGE_METRICS } from "./src/faults/triage_rules.ts";
export { triageMetrics } from "./src/faults/run_metrics.ts";
export type { Fault } from "./src/faults/fault.ts";
export {
  CONFIGURATION_FAULTS,
  FAULT_NAMES,
  faultConfig,
  type FaultName,
  FAULTS,
  faultyStages,
  FURTHER_FAULTS,
  MATRIX_FAULTS,
} from "./src/faults/faults.ts";
export {
  type BehaviourMetrics,
  type ConsistencyMetrics,
  type MetricName,
  type MetricsRow,
  metricsRow,
  type OptimizerMetrics,
  type OutcomeMetrics,
} from "./src/rl/metrics.ts";

// Files.
export { Journal, type JournalRow } from "./src/files/journal.ts";

// Models from Hugging Face folders.
export { loadDecoder, openDecoderFiles } from "./src/files/load_decoder.ts";
export type { DecoderFiles, LoadedDecoder } from "./src/files/load_decoder.ts";
export { type ScoredSequences, scoreSequences } from "./src/model/score_sequences.ts";
export type { SequenceScores } from "./src/model/score_sequences.ts";
export { type DecoderWeights, destroyDecoderWeights } from "./src/model/decoder_weights.ts";
export type { ArchitectureName, DecoderConfig, RopeScaling } from "./src/model/decoder_config.ts";
export type { DecoderLayout, LayerLayout } from "./src/model/architectures.ts";
export type { MatrixLayout, MatrixSource, VectorLayout } from "./src/model/architectures.ts";
export type { StoredTensor, WeightDtype } from "./src/files/checkpoint_tensors.ts";
export type { LoraAdapter, LoraDelta } from "./src/files/lora_adapter.ts";
export type { StoredMatrix, WeightSlice, WeightStorage } from "./src/kernels/stored_weights.ts";

// Known answers for the losses and advantages of any trainer.
export {
  judgeTrainerFunction,
  runVectors,
  type VectorCall,
  type VectorFunction,
  type VectorOutput,
} from "./src/vectors/judge_trainer.ts";
export { VECTOR_FAMILIES } from "./src/vectors/families.ts";
export {
  type Compute,
  type Dialect,
  type Family,
  type Mistake,
  type VectorCase,
} from "./src/vectors/family.ts";
export { type Arrays, type Tolerance, type Values } from "./src/vectors/values.ts";
export {
  type DifferingVector,
  type ExplainingMistake,
  type JudgedFunction,
  judgeResults,
  type VectorVerdict,
} from "./src/vectors/judge.ts";
export {
  type FunctionResults,
  type NestedOutput,
  readResults,
  type VectorResults,
} from "./src/vectors/results.ts";
export { sayVerdict } from "./src/vectors/say_verdict.ts";
