/** The catalogue of failures: every run by name, with the healthy run that it is compared with. */
import { resolveConfig, type TrainConfig } from "../rl/config.ts";
import { faultConfig, type FaultName } from "./faults.ts";

/** A run of the catalogue. */
export interface CatalogueRun {
  /** The failure; undefined for a control. */
  readonly fault?: FaultName;
  /** The run with the same settings and without the failure; undefined for controls. */
  readonly control?: string;
  readonly steps: number;
  /** Settings beside the fault's own. */
  readonly config?: Partial<TrainConfig>;
}

/** A failure that shows at once needs no more steps: an engineer would stop there as well. */
const FEW_STEPS = 8;
const STEPS = 24;
const STEPS_OF_12_TURNS = 16;

/** Every run, in the order in which it is shown. */
export const CATALOGUE = {
  healthy: { steps: STEPS },
  mask_shift: { fault: "mask_shift", control: "healthy", steps: STEPS },
  stale_old_logp: { fault: "stale_old_logp", control: "healthy", steps: STEPS },
  entropy_sign: { fault: "entropy_sign", control: "healthy", steps: STEPS },
  sign_flip: { fault: "sign_flip", control: "healthy", steps: FEW_STEPS },
  accum_local: { fault: "accum_local", control: "healthy", steps: STEPS },
  sampler_temp: { fault: "sampler_temp", control: "healthy", steps: STEPS },
  ref_is_policy: { fault: "ref_is_policy", control: "kl_0.1", steps: FEW_STEPS },
  "kl_0.1": { steps: FEW_STEPS, config: { klCoef: 0.1 } },
  lr_high: { fault: "lr_high", control: "healthy", steps: FEW_STEPS },
  length_bias: { fault: "length_bias", control: "healthy_12_turns", steps: STEPS_OF_12_TURNS },
  healthy_12_turns: { steps: STEPS_OF_12_TURNS, config: { maxTurns: 12 } },
  public_reward: { fault: "public_reward", control: "healthy", steps: STEPS },
  group_shuffle: { fault: "group_shuffle", control: "healthy", steps: STEPS },
  stale_sampler: { fault: "stale_sampler", control: "healthy", steps: STEPS },
  mask_end_call: { fault: "mask_end_call", control: "healthy", steps: STEPS },
  sampler_logp_temp: { fault: "sampler_logp_temp", control: "healthy", steps: STEPS },
  denominator: { fault: "denominator", control: "healthy", steps: STEPS },
} as const satisfies Record<string, CatalogueRun>;

/** Of these runs the metrics are read and little else: no episodes on disk, and only the first and the last weights. */
const LEAN = { episodesEvery: 0, checkpointEvery: 0 } as const satisfies Partial<TrainConfig>;

/** Name of a run of the catalogue. */
export type CatalogueName = keyof typeof CATALOGUE;

/**
 * The configuration of a run: GRPO's defaults, the fault's settings, then what the catalogue says.
 *
 * @param name Which run.
 * @param seed Its training seed.
 * @throws {UserError} When the seed is not allowed.
 */
export function catalogueConfig(name: CatalogueName, seed: number): TrainConfig {
  const { fault, steps, config }: CatalogueRun = CATALOGUE[name];
  return resolveConfig({
    flags: { algorithm: "grpo", seed, steps, ...LEAN, ...faultConfig(fault), ...config },
  });
}

/** The names of all runs, in the order in which they are shown. */
export const CATALOGUE_NAMES = Object.keys(CATALOGUE) as CatalogueName[];
