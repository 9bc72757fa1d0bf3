/** Faults on purpose: each replaces a stage or two of the healthy trainer, or is a configuration that runs correct code. */
import { at } from "../core/element.ts";
import { randomSequence, STREAM } from "../core/rng.ts";
import { OWNER } from "../core/owner.ts";
import type { TrainConfig } from "../rl/config.ts";
import {
  chunk,
  HEALTHY_STAGES,
  minibatchWeights,
  recomputedOldLogp,
  type Stages,
} from "../rl/stages.ts";
import { type Fault, replay } from "./fault.ts";
import { needs, needsAbove } from "./triage_vocabulary.ts";
import { collate, gridRows } from "../rl/train_batch.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** The entropy penalty of `entropy_sign`, and the sampler's temperature of `sampler_temp` and `sampler_logp_temp`. */
export const ENTROPY_PENALTY = 0.3;
export const SAMPLER_TEMPERATURE = 0.7;
/** Microbatches of `accum_local`. */
export const LOCAL_MICROBATCHES = 4;
/** Steps by which the weights of `stale_sampler` are late. */
export const SAMPLER_LAG_STEPS = 2;

/** The names of all failures, in the order in which tables list them; each has a record in {@linkcode FAULTS}. */
export const FAULT_NAMES = [
  "mask_shift",
  "stale_old_logp",
  "entropy_sign",
  "sign_flip",
  "accum_local",
  "sampler_temp",
  "ref_is_policy",
  "group_shuffle",
  "stale_sampler",
  "mask_end_call",
  "sampler_logp_temp",
  "denominator",
  "lr_high",
  "length_bias",
  "public_reward",
] as const;

/** Name of a failure. */
export type FaultName = typeof FAULT_NAMES[number];

/** The mask moved one token to the right: aligned to the ids instead of to the ids that follow. */
const shiftedMask: Stages["lossMask"] = ({ policyMask_BC, packed: { columnCount: C } }) =>
  policyMask_BC.map((_, cell) => cell % C === 0 ? 0 : at(policyMask_BC, cell - 1));

const maskWithoutCallEnd: Stages["lossMask"] = (
  { policyMask_BC, trajectories, packed },
  { spec: { callEnd } },
) =>
  policyMask_BC.map((trained, cell) => {
    const episode = Math.floor(cell / packed.columnCount);
    const next = cell % packed.columnCount + 1;
    return at(trajectories, episode).ids[next] === callEnd ? 0 : trained;
  });

const negatedAdvantages: Stages["advantages"] = (batch, context) => {
  const { advantage_B, baseline } = HEALTHY_STAGES.advantages(batch, context);
  return { advantage_B: advantage_B.map((advantage) => -advantage), baseline };
};

/** Short episodes together, long ones together, each microbatch its own mean: tokens of short ones weigh more. */
const localMeans: Stages["accumulate"] = (episodes, context) => {
  const { mask_BC, columnCount } = context;
  const tokensOf = (b: number) =>
    gridRows(mask_BC, [b], columnCount).reduce((sum, trained) => sum + trained, 0);
  const sorted = [...episodes].sort((a, b) => tokensOf(a) - tokensOf(b));
  const parts = chunk(sorted, LOCAL_MICROBATCHES);
  return parts.map((part) => {
    const weights = minibatchWeights(mask_BC, { ...context, episodes: part });
    return {
      episodes: part,
      weight_BC: Array.from(weights.weight_BC, (weight) => weight / parts.length),
      meanWeight_BC: Array.from(weights.meanWeight_BC, (weight) => weight / parts.length),
    };
  });
};

/** A mean over all cells of the grid, as `.mean()` takes it, instead of over the trained ones. */
const meanOverAllCells: Stages["accumulate"] = (episodes, context) =>
  HEALTHY_STAGES.accumulate(episodes, context).map((part) => {
    const cellCount = episodes.length * context.columnCount;
    const trained = gridRows(context.mask_BC, episodes, context.columnCount)
      .reduce((sum, value) => sum + value, 0);
    return {
      ...part,
      weight_BC: Array.from(part.weight_BC, (weight) => weight * trained / cellCount),
    };
  });

/** Shuffles the episodes after the groups were laid out: each position keeps its group, not its problem. */
const shuffledSample: Stages["sample"] = async (request, { config, step, rollOut }) => {
  const trajectories = await rollOut(request);
  const random = randomSequence({ seed: config.seed, stream: STREAM.experiment, step });
  return random.permutation(trajectories.length).map((b) => at(trajectories, b));
};

/** The sampler draws right and writes down log-probs at another temperature. */
const sampleWithCoolRecord: Stages["sample"] = async (
  request,
  { rollOut, recompute, source },
) => {
  const trajectories = await rollOut(request);
  const batch = collate(trajectories, {
    groupId_B: trajectories.map((_, b) => b),
    vocabSize: source.words.length,
  });
  const logp_BC = await recompute(batch, SAMPLER_TEMPERATURE);
  const { columnCount } = batch.packed;
  return trajectories.map((trajectory, b): Trajectory => ({
    ...trajectory,
    logps: trajectory.logps.map((_, t) =>
      trajectory.owners[t] === OWNER.policy ? at(logp_BC, b * columnCount + t - 1) : 0
    ),
  }));
};

/** The sampler holds the weights of two steps ago (of the first step until then). */
const lateSampler: Stages["sample"] = async (request, { weightsBefore, rollOutWith }) =>
  await rollOutWith(await weightsBefore(SAMPLER_LAG_STEPS), request);

/** Every failure by name. */
export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  mask_shift: {
    kind: "code",
    summary: "the loss mask is shifted one token to the right",
    stages: () => ({ lossMask: shiftedMask }),
    ruledOutBy: ["policy_mask"],
    // The loss takes in padding, whose rows have no gradient: it is not the slope of that loss.
    explains: ["sampler_is_trainer", "padding_invariant", "term_directions"],
    advice: replay("lossMask"),
  },
  stale_old_logp: {
    kind: "code",
    summary: "old log-probs are recomputed before every minibatch",
    stages: () => ({ minibatchOldLogp: (_, { batch, recompute }) => recompute(batch) }),
    ruledOutBy: ["old_logp_frozen"],
    explains: ["ratio_and_clip"],
    needs: needsAbove("stepsPerUpdate", 1, "more than one optimizer step per batch"),
    advice: replay("minibatchOldLogp"),
  },
  entropy_sign: {
    kind: "code",
    summary: `the entropy bonus has the wrong sign: a penalty of ${ENTROPY_PENALTY}`,
    stages: () => ({
      lossTerms: (config) => ({
        ...HEALTHY_STAGES.lossTerms(config),
        entropyCoef: -ENTROPY_PENALTY,
      }),
    }),
    ruledOutBy: [
      "term_directions",
      // This one makes the configured coefficient 0, and so does not see the sign of one that is asked for.
      {
        check: "no_signal_no_change",
        where: needs("entropyCoef", 0, "no entropy bonus in the loss"),
      },
    ],
    advice: replay("lossTerms"),
  },
  sign_flip: {
    kind: "code",
    summary: "the advantages are negated",
    stages: () => ({ advantages: negatedAdvantages }),
    ruledOutBy: ["update_follows_advantage", "advantage_of_episode"],
    explains: ["term_directions"],
    advice: replay("advantages"),
  },
  accum_local: {
    kind: "code",
    summary: `${LOCAL_MICROBATCHES} length-sorted microbatches, each with its own mean`,
    stages: () => ({ accumulate: localMeans }),
    ruledOutBy: ["accumulated_is_one_pass"],
    explains: ["term_directions"],
    advice: replay("accumulate"),
  },
  sampler_temp: {
    kind: "code",
    summary:
      `the sampler runs at temperature ${SAMPLER_TEMPERATURE}, and its log-probs are trusted`,
    stages: () => ({
      sample: (request, { rollOut }) => rollOut({ ...request, temperature: SAMPLER_TEMPERATURE }),
      oldLogp: ({ sampleLogp_BC }) => sampleLogp_BC,
    }),
    ruledOutBy: ["sampler_is_trainer", "ratio_one_before_step", "sampled_as_said"],
    advice: replay("sample"),
  },
  ref_is_policy: {
    kind: "code",
    summary: "the KL reference is the model being trained",
    stages: () => ({ reference: "live" }),
    config: { klCoef: 0.1 },
    ruledOutBy: ["reference_stays_behind"],
    explains: ["term_directions"],
    needs: needsAbove("klCoef", 0, "a KL term in the loss"),
    advice: replay("reference"),
  },
  group_shuffle: {
    kind: "code",
    summary: "episodes are shuffled after their groups were assigned",
    stages: () => ({ sample: shuffledSample }),
    ruledOutBy: ["own_group_advantages"],
    explains: [
      "update_follows_advantage",
      "sampled_as_said",
      "advantage_of_episode",
      "term_directions",
    ],
    advice: replay("sample"),
  },
  stale_sampler: {
    kind: "code",
    summary: "the sampler keeps the weights of two steps ago",
    stages: () => ({ sample: lateSampler, weightsKept: SAMPLER_LAG_STEPS }),
    // In the first step a late sampler is on time: it is seen at later ones.
    explains: ["sampler_is_trainer", "ratio_one_before_step", "sampled_as_said"],
    advice: { kind: "replay", step: 1 },
  },
  mask_end_call: {
    kind: "code",
    summary: "the token that ends a call is left out of the loss mask",
    stages: () => ({ lossMask: maskWithoutCallEnd }),
    ruledOutBy: ["policy_mask"],
    advice: replay("lossMask"),
  },
  sampler_logp_temp: {
    kind: "code",
    summary: `only the sampler's record is computed at temperature ${SAMPLER_TEMPERATURE}`,
    stages: () => ({ sample: sampleWithCoolRecord }),
    ruledOutBy: ["sampler_is_trainer"],
    explains: ["ratio_one_before_step"],
    advice: replay("sample"),
  },
  denominator: {
    kind: "code",
    summary: "the loss is divided by all cells, not just the trained ones",
    stages: () => ({ accumulate: meanOverAllCells }),
    ruledOutBy: ["accumulated_is_one_pass"],
    explains: ["padding_invariant", "term_directions"],
    advice: replay("accumulate"),
  },
  lr_high: {
    kind: "configuration",
    summary: "a learning rate ten times too high",
    config: { lr: 1e-2 },
    needs: needsAbove("lr", 0.002, "a learning rate more than twice that of the healthy runs"),
    advice: { kind: "train", suffix: "lower-lr", steps: 2, config: { lr: 0.001 } },
  },
  length_bias: {
    kind: "configuration",
    summary: "a mean within each episode first, which is lenient on long failures",
    config: { maxTurns: 12, aggregation: "seq_mean_token_mean" },
    needs: needs(
      "aggregation",
      "seq_mean_token_mean",
      "a mean within each episode first (aggregation seq_mean_token_mean)",
    ),
    advice: { kind: "train", suffix: "token-mean", config: { aggregation: "token_mean" } },
  },
  public_reward: {
    kind: "configuration",
    summary: "the reward looks at the public tests, which can be hacked",
    config: { reward: "public" },
    needs: needs("reward", "public", "a reward from the public tests"),
    advice: { kind: "evaluate", transcripts: 4 },
  },
};

/** The rows of the invariants' matrix below the healthy one: the code faults of the tutorial. */
export const MATRIX_FAULTS = [
  "mask_shift",
  "stale_old_logp",
  "entropy_sign",
  "sign_flip",
  "accum_local",
  "sampler_temp",
  "ref_is_policy",
] as const satisfies readonly FaultName[];

/** Code faults beyond the tutorial's, from reports about real trainers. */
export const FURTHER_FAULTS: readonly FaultName[] = FAULT_NAMES.filter((name) =>
  FAULTS[name].kind === "code" && !(MATRIX_FAULTS as readonly FaultName[]).includes(name)
);

/** Failures of a configuration: the code is right. */
export const CONFIGURATION_FAULTS: readonly FaultName[] = FAULT_NAMES.filter((name) =>
  FAULTS[name].kind === "configuration"
);

/**
 * The stages of a trainer with a fault: the healthy ones with recomputed old log-probs, then the fault's own.
 *
 * @param name The fault; undefined, or a configuration, gives a trainer that equals the healthy one bit for bit.
 * @returns Stages for any number of trainers.
 */
export function faultyStages(name: FaultName | undefined): Stages {
  const fault = name && FAULTS[name];
  return { ...HEALTHY_STAGES, oldLogp: recomputedOldLogp, ...fault?.stages?.() };
}

/** What a fault sets in the configuration; nothing without one. */
export function faultConfig(name: FaultName | undefined): Partial<TrainConfig> {
  return name === undefined ? {} : FAULTS[name].config ?? {};
}

/** Configuration keys that only the gym that ships reads. */
const GYM_KEYS: readonly (keyof TrainConfig)[] = ["preset", "reward", "maxTurns"];

/** True of a fault that can be planted in any environment: it sets nothing that only the gym reads. */
export function isOfAnyEnvironment(name: FaultName): boolean {
  return GYM_KEYS.every((key) => faultConfig(name)[key] === undefined);
}
