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
