/** CleanRL: PPO and its kin on classic environments, in TensorBoard. */
import { certainty } from "./log_traits.ts";
import { OF_MINIBATCHES, OF_SAMPLES, OF_STEP } from "./shapes.ts";
import type { MetricDefinition, Producer } from "./definition.ts";

const OF_LAST_MINIBATCH = { ...OF_MINIBATCHES, window: "last" } as const;

const DEFINITIONS: readonly MetricDefinition[] = [
  {
    metric: "reward",
    key: "charts/episodic_return",
    ...OF_SAMPLES,
    unit: "reward",
    signed: true,
    says: "Return of an episode that has just ended; one value per episode, not a mean.",
  },
  {
    metric: "length",
    key: "charts/episodic_length",
    ...OF_SAMPLES,
    unit: "steps",
    says: "Steps of an episode that has just ended.",
  },
  {
    metric: "entropy",
    key: "losses/entropy",
    ...OF_LAST_MINIBATCH,
    quantity: "full",
    unit: "nats",
    says: "Mean entropy of the policy over the states of the last minibatch.",
  },
  {
    metric: "kl_old",
    key: "losses/approx_kl",
    ...OF_LAST_MINIBATCH,
    quantity: "k3",
    unit: "nats",
    says: "Mean k3 estimate against the policy that acted, of the last minibatch alone.",
  },
  {
    metric: "kl_old",
    key: "losses/old_approx_kl",
    ...OF_LAST_MINIBATCH,
    quantity: "k1",
    unit: "nats",
    signed: true,
    says: "Mean of old − new log-prob, of the last minibatch alone.",
  },
  {
    metric: "clip_fraction",
    key: "losses/clipfrac",
    ...OF_MINIBATCHES,
    unit: "share",
    says:
      "Share of actions whose ratio is more than the clip range from 1, whatever the advantage.",
  },
  {
    metric: "loss",
    key: "losses/policy_loss",
    ...OF_LAST_MINIBATCH,
    unit: "1",
    signed: true,
    says: "Policy loss of the last minibatch.",
  },
  {
    metric: "learning_rate",
    key: "charts/learning_rate",
    ...OF_STEP,
    unit: "1",
    says: "Learning rate of the iteration.",
  },
  {
    metric: "value_explained",
    key: "losses/explained_variance",
    ...OF_STEP,
    unit: "1",
    signed: true,
    says: "1 − var(return − value) / var(return) over the batch.",
  },
];

/** CleanRL. */
export const CLEANRL: Producer = {
  id: "cleanrl",
  title: "CleanRL",
  kind: "rl",
  recognise: (traits) =>
    certainty(traits, {
      sure: [
        "charts/episodic_return",
        "charts/SPS",
        "losses/approx_kl",
        "losses/old_approx_kl",
        "losses/clipfrac",
        "losses/explained_variance",
      ],
      likely: ["losses/value_loss", "losses/policy_loss", "losses/entropy"],
    }),
  stepUnit: "environment step",
  eras: [],
  definitions: DEFINITIONS,
  alsoLogs: [/(?:charts|losses)\/.+/],
  // It trains from scratch: there is no reference.
  implied: () => ({ klCoef: 0 }),
  switchOn: {},
  knobs: {
    learningRate: "--learning-rate",
    gradientClip: "--max-grad-norm",
    entropyCoef: "--ent-coef",
    updatesPerBatch: "--update-epochs and --num-minibatches",
    clipRange: "--clip-coef",
    plannedSteps: "--total-timesteps",
  },
};
