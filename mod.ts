/**
 * agentrl: a laboratory for agent reinforcement learning on WebGPU. This is the public API, re-exports only.
 *
 * @module
 */
export { DeviceLostError, UserError } from "./src/core/errors.ts";
export { nearestName, suggestName } from "./src/core/nearest.ts";
export {
  mean,
  median,
  quantile,
  type RateInterval,
  sampleVariance,
  wilsonInterval,
} from "./src/core/statistics.ts";
export {
  parseSafetensors,
  requireTensor,
  serializeSafetensors,
  type Tensor,
  type TensorFile,
  type TensorRequirement,
} from "./src/model/safetensors.ts";
export {
  ALGORITHM_DEFAULTS,
  COMMON_DEFAULTS,
  type ConfigSources,
  episodesPerStep,
  resolveConfig,
  type TrainConfig,
} from "./src/rl/config.ts";
export { AGGREGATION_MODES, type AggregationMode } from "./src/rl/aggregate.ts";
export { type AlgorithmName, ALGORITHMS } from "./src/rl/algorithms.ts";
