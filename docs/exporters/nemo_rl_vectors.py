"""NeMo-RL's loss for agentrl_vectors.py: python agentrl_vectors.py VECTORS nemo_rl_vectors.py

Binds ClippedPGLossFn by the arguments of its version that takes log-probs (next_token_logprobs, data, global_valid_seqs,
global_valid_toks). Where yours takes logits, this one says so by a TypeError. Unverified against NeMo-RL itself.
"""

import torch
from nemo_rl.algorithms.loss_functions import ClippedPGLossFn


def behind(column):
    """[B, T] about tokens 1 to T, as the [B, T + 1] about all tokens that data holds."""
    return torch.nn.functional.pad(column, (1, 0))


def clipped(token_level):
    def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, kl_coef):
        function = ClippedPGLossFn({
            "ratio_clip_min": clip_low, "ratio_clip_max": clip_high, "ratio_clip_c": None,
            "reference_policy_kl_penalty": kl_coef, "reference_policy_kl_type": "k3",
            "kl_input_clamp_value": None, "kl_output_clamp_value": None,
            "use_on_policy_kl_approximation": False, "use_importance_sampling_correction": False,
            "truncated_importance_sampling_ratio": None, "token_level_loss": token_level,
        })
        old = behind(old_logp)
        data = {
            "input_ids": torch.zeros(old.shape, dtype=torch.long), "advantages": behind(advantage),
            "prev_logprobs": old, "generation_logprobs": old, "reference_policy_logprobs": behind(ref_logp),
            "token_mask": behind(mask), "sample_mask": (mask.sum(1) > 0).float(),
        }
        return function(next_token_logprobs=logp, data=data, global_valid_seqs=data["sample_mask"].sum(),
                        global_valid_toks=mask.sum())[0]
    return loss


FUNCTIONS = {"loss": {"clip, tokens": clipped(True), "clip, sequences": clipped(False)}}
