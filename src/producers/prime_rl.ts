/** prime-rl of Prime Intellect: an asynchronous trainer and its orchestrator, which log to one file. */
import { certainty } from "./log_traits.ts";
import type { MetricDefinition, Producer } from "./definition.ts";
import { OF_GROUPS, OF_SAMPLES, OF_STEP, OF_TOKENS } from "./shapes.ts";

/** Non-finite values are never written. */
const DROPPED = "A value that is not finite is not written: a missing step is one.";

/** `train/agg/effective/agent/NAME/mean`: over all environments, of the rollouts that are trained on. */
const ofAll = (name: string) => new RegExp(`train/agg/effective/[^/]+/${name}/mean`);
/** The same over all rollouts, also those that filters dropped. */
const ofUnfiltered = (name: string) => new RegExp(`train/agg/all/[^/]+/${name}/mean`);

const REWARDS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: ofAll("reward"),
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of the rollouts that are trained on, over all environments.",
  },
  {
    metric: "reward",
    key: ofUnfiltered("reward"),
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of all rollouts, including those that filters dropped.",
  },
  {
    metric: "reward",
    key: /reward\/(?:all\/)?mean|Reward/,
    ...OF_GROUPS,
    unit: "reward",
    signed: true,
    says:
      "Mean over the problems of their mean reward, in builds before mid-2026 and on the console.",
  },
  {
    metric: "reward_component",
    key: /train\/(?<part>(?!agg\/).+?)\/effective\/[^/]+\/reward\/mean/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward of one environment's rollouts that are trained on.",
  },
  {
    metric: "reward_component",
    key: /reward\/(?<part>(?!all\/).+)\/mean/,
    ...OF_GROUPS,
    unit: "reward",
    signed: true,
    says: "Mean over one environment's problems of their mean reward.",
  },
  {
    metric: "reward_component",
    key: /metrics\/(?<part>.+)/,
    ...OF_GROUPS,
    unit: "1",
    signed: true,
    says:
      "Mean of one metric of an environment's rubric; it enters the reward by its weight, which may be 0.",
  },
  ...["all", "effective"].flatMap((rollouts): MetricDefinition[] => {
    // Behind the filters, which drop flat groups, few are left: what the sampling costs shows before them.
    const [solved, none] = ["solved_all", "solved_none"].map((name) =>
      `train/agg/${rollouts}/(?:[^/]+/)?${name}(?:/mean)?`
    );
    return [
      {
        metric: "none_solved",
        key: new RegExp(rollouts === "all" ? `${none}|solve_none/all` : none),
        ...OF_GROUPS,
        unit: "share",
        says: "Share of groups whose rewards sum to 0.",
      },
      {
        metric: "all_solved",
        key: new RegExp(rollouts === "all" ? `${solved}|solve_all/all` : solved),
        ...OF_GROUPS,
        unit: "share",
        says: "Share of groups in which every rollout has reward 1.",
      },
    ];
  }),
  {
    metric: "eval_score",
    key: /eval\/(?<part>.+?)\/(?:avg@\d+|(?:all|effective)\/[^/]+\/reward\/mean)/,
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Mean reward on an evaluation environment.",
  },
];

const ROLLOUTS: readonly MetricDefinition[] = [
  {
    metric: "truncated",
    key: ofAll("is_truncated"),
    ...OF_SAMPLES,
    quantity: "stopped_by_length",
    unit: "share",
    says: "Share of the trained rollouts in which a turn was cut by a limit on tokens.",
  },
  {
    metric: "truncated",
    key: /is_truncated\/(?:all\/)?mean/,
    ...OF_GROUPS,
    quantity: "stopped_by_length",
    unit: "share",
    says:
      "Mean over the problems of the share of rollouts in which a turn was cut by a limit on tokens.",
  },
  {
    metric: "length",
    key: ofAll("num_output_tokens"),
    ...OF_SAMPLES,
    unit: "tokens",
    says: "Mean number of tokens that the model wrote in a rollout.",
  },
  {
    metric: "length",
    key: /(?:decode_len|completion_len)\/(?:all\/)?mean/,
    ...OF_GROUPS,
    unit: "tokens",
    says: "Mean over the problems of the tokens that the model wrote in a rollout.",
  },
  {
    metric: "length",
    key: /seq_len\/(?:all\/)?mean|Seq(?:\.)? Length/,
    ...OF_GROUPS,
    unit: "tokens",
    says:
      "Mean over the problems of a rollout's tokens, including the prompt's and the environment's.",
  },
  {
    metric: "turns",
    key: /train\/agg\/effective\/[^/]+\/num_turns\/mean|num_turns\/(?:all\/)?mean/,
    ...OF_SAMPLES,
    unit: "turns",
    says: "Mean number of the model's turns in a rollout.",
  },
  {
    metric: "errors",
    key: /train\/agg\/all\/[^/]+\/has_error\/mean|errored_rollouts\/all/,
    ...OF_SAMPLES,
    unit: "share",
    floor: {
      healthy: 0.05,
      look: 0.05,
      from: "prime-rl's guide to training: more than 5 % errored or empty rollouts for long",
    },
    says: "Share of rollouts that ended in an error of the environment or the engine.",
  },
  {
    metric: "staleness",
    key: /off_policy_level\/all\/mean/,
    ...OF_SAMPLES,
    unit: "steps",
    says: "Mean number of weight updates that a rollout in flight has lived through.",
  },
];

const TRAINER: readonly MetricDefinition[] = [
  {
    metric: "entropy",
    key: /entropy\/(?:all\/)?mean|Entropy/,
    ...OF_TOKENS,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the next-token distribution over the trained tokens.",
    nan: DROPPED,
  },
  {
    metric: "gap",
    key: /mismatch_kl\/(?:all\/)?mean|Mismatch KL/,
    ...OF_TOKENS,
    quantity: "k3",
    unit: "nats",
    says:
      "Mean k3 estimate of trainer against sampler over tokens; asynchronous rollouts are stale by design, and that is included.",
    nan: DROPPED,
  },
  {
    metric: "gap_max",
    key: /mismatch_kl\/(?:all\/)?max/,
    ...OF_TOKENS,
    quantity: "k3",
    unit: "nats",
    says: "Largest k3 term of trainer against sampler of a token.",
    nan: DROPPED,
  },
  {
    metric: "importance_weight",
    key: "importance_ratio/mean",
    ...OF_TOKENS,
    unit: "ratio",
    says: "Mean ratio of trainer to sampler over tokens; there is no other old policy.",
    nan: DROPPED,
  },
  {
    metric: "masked_by_correction",
    key: "is_masked/mean",
    ...OF_TOKENS,
    unit: "share",
    says: "Share of tokens that the loss masks because trainer and sampler disagree about them.",
  },
  {
    metric: "masked_by_correction",
    key: /is_masked_(?<part>low|high)\/mean/,
    ...OF_TOKENS,
    unit: "share",
    says: "The masked tokens whose probability has fallen (low) or risen (high) too far.",
  },
  {
    metric: "loss",
    key: /loss\/mean|Loss/,
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "The loss of the step; not a measure of progress.",
    nan: DROPPED,
  },
  {
    metric: "grad_norm",
    key: /optim\/grad_norm|Grad(?:\.)? Norm/,
    ...OF_STEP,
    unit: "norm",
    says: "Norm of the gradient of the mean over all trained tokens, before clipping.",
    nan: "It is not logged where max_norm is null, and not where it is not finite.",
  },
  {
    metric: "learning_rate",
    key: /optim\/lr|LR/,
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the step.",
  },
  {
    metric: "step_time",
    key: /time\/step|Time/,
    ...OF_STEP,
    unit: "s",
    says:
      "Wall time of the step; trainer and orchestrator both write it, and the later row stands.",
  },
  {
    metric: "throughput",
    key: /perf\/throughput|Throughput/,
    ...OF_STEP,
    unit: "tokens/s",
    says: "Tokens per second of the trainer.",
  },
  {
    metric: "tokens",
    key: "progress/total_tokens",
    ...OF_STEP,
    unit: "tokens",
    says: "Tokens of all rollouts since the start.",
  },
];

/** prime-rl. */
export const PRIME_RL: Producer = {
  id: "prime_rl",
  title: "prime-rl",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        /^mismatch_kl\/(?:all\/)?mean$/,
        /^is_masked(?:_low|_high)?\/mean$/,
        /^train\/.+\/(?:all|effective)\/[^/]+\/reward\/mean$/,
        /^off_policy_level\/.+\/mean$/,
        /^solve_(?:none|all)\/all$/,
        "Mismatch KL",
      ],
      likely: [
        "loss/mean",
        /^entropy\/(?:all\/)?mean$/,
        "optim/grad_norm",
        "optim/lr",
        /^reward\/(?:.+\/)?mean$/,
        "time/step",
        "perf/throughput",
      ],
    }),
  stepUnit: "rollout",
  eras: [],
  definitions: [...REWARDS, ...ROLLOUTS, ...TRAINER],
  alsoLogs: [
    /(?:train|eval)\/.+\/(?:all|effective)\/.+|eval\/.+/,
    /(?:val|loss|entropy|mismatch_kl|optim|perf|time|progress|system|inference)\/.+/,
    /(?:(?:un)?masked_mismatch_kl|is_masked(?:_low|_high)?|masked_advantage_\w+)\/.+/,
    /(?:reward|seq_len|prefill_len|decode_len|is_truncated|num_turns|timing|batch)\/.+/,
    /(?:solve_none|solve_all|effective_batch_size|filters|pre_filters|stop_condition|metrics)\/.+/,
    /(?:scheduler|dispatcher|off_policy|off_policy_level|(?:empty|errored)_rollouts)\/.+/,
    /(?:ref_kl|kl_ent_ratio|importance_ratio\w*|samples_per_rollout|pool|trainer_probs|\w+_probs)\/.+/,
    /MFU|Peak Mem\.|Max\. Off-Policy Level|Async Level/,
  ],
  dropsNonFinite: true,
  // Each batch of rollouts is trained on once, in one optimizer step.
  implied: () => ({ updatesPerBatch: 1 }),
  switchOn: {
    eval_score: "[orchestrator.eval] with interval",
    grad_norm: "trainer.optim.max_norm (without it the norm is not computed)",
    tokens: "trainer.enable_token_export = true",
  },
  knobs: {
    maxLength: "orchestrator.train.sampling.max_completion_tokens",
    temperature: "orchestrator.train.sampling.temperature",
    learningRate: "trainer.optim.lr",
    gradientClip: "trainer.optim.max_norm",
    groupSize: "orchestrator.train.group_size (before mid-2026 orchestrator.group_size)",
    plannedSteps: "max_steps",
    weightSync: "orchestrator.max_off_policy_steps",
  },
};
