/** TRL's trainers that learn from given answers: their logs look like RL logs at a glance and are none. */
import { certainty, hasKey } from "./log_traits.ts";
import {
  HF_TRAINER_ALSO_LOGS,
  HF_TRAINER_DEFINITIONS,
  HF_TRAINER_KNOBS,
  isFromHfTrainer,
} from "./hf_trainer.ts";
import type { LogTraits, Producer } from "./definition.ts";

/** Whether a log has anything that only an online trainer logs. */
function isOnline(traits: LogTraits): boolean {
  return ["reward", "reward_std", "frac_reward_zero_std", "completion_length"].some((key) =>
    hasKey(traits, key)
  ) || hasKey(traits, /^(?:completions|objective|sampling|clip_ratio)\//);
}

/** Supervised fine-tuning with TRL's SFTTrainer or Hugging Face's Trainer (ms-swift's SFT as well). */
export const TRL_SFT: Producer = {
  id: "trl_sft",
  title: "Hugging Face Trainer (supervised)",
  kind: "sft",
  recognise: (traits) => {
    if (isOnline(traits) || hasKey(traits, /^(?:rewards|logps)\//)) return 0;
    const byKeys = certainty(traits, { sure: ["mean_token_accuracy", "token_acc"] });
    return isFromHfTrainer(traits) ? Math.max(byKeys, 0.65) : byKeys;
  },
  stepUnit: "optimizer step",
  eras: [],
  definitions: HF_TRAINER_DEFINITIONS,
  alsoLogs: [...HF_TRAINER_ALSO_LOGS, /mean_token_accuracy|token_acc|entropy|eval_.+/],
  switchOn: {},
  knobs: HF_TRAINER_KNOBS,
};

/** Preference training: DPO and its relatives, KTO, ORPO, and reward models. */
export const TRL_PREFERENCE: Producer = {
  id: "trl_dpo",
  title: "TRL (DPO and other preference trainers)",
  kind: "preference",
  recognise: (traits) => {
    if (isOnline(traits)) return 0;
    const isRewardModel = ["min_reward", "mean_reward", "max_reward"]
      .every((key) => hasKey(traits, key));
    const byKeys = certainty(traits, {
      sure: [
        "rewards/chosen",
        "rewards/rejected",
        "rewards/margins",
        "rewards/accuracies",
        "logps/chosen",
        "logps/rejected",
        "log_odds_ratio",
      ],
    });
    return Math.max(byKeys, isRewardModel ? 0.8 : 0);
  },
  stepUnit: "optimizer step",
  eras: [],
  definitions: HF_TRAINER_DEFINITIONS,
  alsoLogs: [
    ...HF_TRAINER_ALSO_LOGS,
    /(?:rewards|logps|logits)\/.+|nll_loss|log_odds_.+|eval_.+/,
    /(?:min|max|mean)_reward|accuracy|margin|mean_token_accuracy|entropy|kl|count\/.+/,
  ],
  switchOn: {},
  knobs: { ...HF_TRAINER_KNOBS, klCoef: "beta" },
};
