"""slime's functions for agentrl_vectors.py: python agentrl_vectors.py VECTORS slime_vectors.py

Binds slime/utils/ppo_utils.py by its documented arguments: ppo_kl is old − new. Unverified against slime itself.
"""

from slime.utils.ppo_utils import compute_approx_kl, compute_policy_loss


def kl(kind):
    return lambda logp, ref_logp: compute_approx_kl(logp, ref_logp, kl_loss_type=kind)


def clip(logp, old_logp, advantage, clip_low, clip_high):
    return compute_policy_loss(old_logp - logp, advantage, clip_low, clip_high)[0]


def dual_clip(logp, old_logp, advantage, clip_low, clip_high, dual_clip):
    return compute_policy_loss(old_logp - logp, advantage, clip_low, clip_high, dual_clip)[0]


FUNCTIONS = {
    "kl": {kind: kl(kind) for kind in ("k1", "k2", "k3", "low_var_kl")},
    "surrogate": {"clip": clip, "dual_clip": dual_clip},
}
