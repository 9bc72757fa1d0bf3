/** Supervised fine-tuning by trainers that do RL as well: their logs are in the same forms and none of RL. */
import { hasKey } from "./log_traits.ts";
import { OF_STEP } from "./shapes.ts";
import type { LogTraits, Producer } from "./definition.ts";

/** verl and NeMo-RL; prime-rl; tinker-cookbook. */
const SIGNS: readonly (readonly (string | RegExp)[])[] = [
  ["train/loss", /^train\/lr(?:\(.+\))?$/],
  ["loss/mean", "loss/perplexity"],
  ["train_mean_nll"],
];

/** Words of rewards, rollouts and policies. */
const OF_RL =
  /(?:^|[/_])(?:reward|rewards|rollout|actor|critic|kl|advantages?|mismatch_kl)(?:$|[/_])/;

function recognise(traits: LogTraits): number {
  const isSupervised = SIGNS.some((keys) => keys.every((key) => hasKey(traits, key)));
  return isSupervised && !hasKey(traits, OF_RL) ? 0.85 : 0;
}

/** Supervised runs of verl, NeMo-RL, prime-rl and tinker-cookbook. */
export const SUPERVISED: Producer = {
  id: "sft",
  title: "supervised trainers of verl, NeMo-RL, prime-rl, tinker-cookbook",
  kind: "sft",
  recognise,
  stepUnit: "optimizer step",
  eras: [],
  definitions: [
    {
      metric: "loss",
      key: /train\/loss|loss\/mean|train_mean_nll/,
      ...OF_STEP,
      unit: "nats",
      says: "Mean negative log-prob of the given answers' tokens.",
    },
    {
      metric: "learning_rate",
      key: /train\/lr(?:\(.+\))?|optim\/lr|learning_rate/,
      ...OF_STEP,
      unit: "1",
      says: "Learning rate of the step; in the unit that is in the key, if any.",
    },
    {
      metric: "grad_norm",
      key: /(?:train|optim)\/grad_norm/,
      ...OF_STEP,
      unit: "norm",
      says: "Norm of the gradient before clipping.",
    },
  ],
  alsoLogs: [/(?:train|val|validation|loss|optim|perf|time|timing|progress|system)\/.+/],
  switchOn: {},
  knobs: {},
};
