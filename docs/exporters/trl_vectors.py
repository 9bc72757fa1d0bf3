"""TRL's GRPO loss for agentrl_vectors.py: python agentrl_vectors.py VECTORS trl_vectors.py

Calls GRPOTrainer._compute_loss on an object that was never set up, whose model is the log-probs of a vector. Which settings
that method reads changes with TRL's version (this is late 2025's); one that is missing says its name. Unverified against
TRL itself.
"""

from types import SimpleNamespace

import torch
from trl import GRPOTrainer


class Lenient(dict):
    """Metrics that are thrown away."""

    def __missing__(self, key):
        return Lenient() if key in ("train", "eval") else []


class Vectors(GRPOTrainer):
    def __init__(self, loss_type, logp, settings):
        self.logp, self.loss_type = logp, loss_type
        self.model = SimpleNamespace(training=True)
        self.accelerator = SimpleNamespace(
            gather=lambda x: x.reshape(-1), num_processes=1, device=logp.device, reduce=lambda x, **_: x)
        self._metrics = Lenient()
        self.args = SimpleNamespace(delta=None, use_bias_correction_kl=False, steps_per_generation=1, per_device_train_batch_size=len(logp))
        self.current_gradient_accumulation_steps = 1
        self.top_entropy_quantile, self.importance_sampling_level = 1.0, "token"
        self.off_policy_mask_threshold, self.use_vllm, self.vllm_importance_sampling_correction = None, False, False
        self.aux_loss_enabled, self.tools, self.mask_truncated_completions = False, None, False
        for name, value in settings.items():
            setattr(self, name, value)

    def _get_per_token_logps_and_entropies(self, *_, **__):
        return self.logp, torch.zeros_like(self.logp)


def grpo(loss_type):
    def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, kl_coef, max_length):
        trainer = Vectors(loss_type, logp, {"epsilon_low": clip_low, "epsilon_high": clip_high, "beta": kl_coef,
                                            "max_completion_length": max_length})
        ids = torch.zeros(mask.shape, dtype=torch.long)
        # TRL has one advantage an answer: that of its first trained token.
        answer = advantage.gather(1, mask.argmax(1, keepdim=True))[:, 0]
        return trainer._compute_loss(trainer.model, {
            "prompt_ids": ids[:, :1], "prompt_mask": torch.ones(len(ids), 1, dtype=torch.long),
            "completion_ids": ids, "completion_mask": mask.long(), "advantages": answer,
            "old_per_token_logps": old_logp, "ref_per_token_logps": ref_logp, "num_items_in_batch": mask.sum(),
        })
    return loss


FUNCTIONS = {"loss": {kind: grpo(kind) for kind in ("grpo", "bnpo", "dr_grpo", "dapo")}}
