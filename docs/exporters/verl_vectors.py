"""verl's functions for agentrl_vectors.py: python agentrl_vectors.py VECTORS verl_vectors.py

Binds verl/trainer/ppo/core_algos.py of 2025 and 2026 by its documented arguments. Unverified against verl itself: run it
in your environment, and read the verdicts as those of the functions below with these settings.
"""

import torch
from verl.trainer.ppo import core_algos


def per_token(reward, length):
    """verl wants [B, T] rewards and masks: the reward at the last of each episode's trained tokens."""
    lengths = length.long()
    mask = (torch.arange(int(lengths.max()))[None, :] < lengths[:, None]).float()
    rewards = torch.zeros_like(mask)
    rewards[torch.arange(len(lengths)), lengths - 1] = reward
    return rewards, mask


def estimator(name, **settings):
    """An advantage estimator by its function's name: one number an episode, at its first token."""
    def advantage(reward, group, length):
        rewards, mask = per_token(reward, length)
        found = getattr(core_algos, name)(rewards, mask, index=group.numpy(), **settings)
        return found[0][:, 0]
    return advantage


def aggregation(mode):
    return lambda term, mask: core_algos.agg_loss(loss_mat=term, loss_mask=mask, loss_agg_mode=mode)


def kl(kind):
    return lambda logp, ref_logp: core_algos.kl_penalty(logp, ref_logp, kind)


def clipped(mode):
    """verl's dual clip, aggregated: take for the whole loss that has no KL term, or add kl_penalty as your trainer does."""
    def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, dual_clip, kl_coef):
        policy = core_algos.compute_policy_loss(
            old_log_prob=old_logp, log_prob=logp, advantages=advantage, response_mask=mask,
            cliprange=clip_low, cliprange_low=clip_low, cliprange_high=clip_high, clip_ratio_c=dual_clip, loss_agg_mode=mode)[0]
        penalty = core_algos.kl_penalty(logp, ref_logp, "low_var_kl")
        return policy + kl_coef * core_algos.agg_loss(loss_mat=penalty, loss_mask=mask, loss_agg_mode=mode)
    return loss


def gae(reward, value, mask, gamma, lambda_):
    advantage, returns = core_algos.compute_gae_advantage_return(reward, value, mask, gamma, lambda_)
    return {"advantage": advantage, "return": returns}


MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm")
FUNCTIONS = {
    "advantages": {
        "grpo": estimator("compute_grpo_outcome_advantage"),
        "dr_grpo": estimator("compute_grpo_outcome_advantage", norm_adv_by_std_in_grpo=False),
        "rloo": estimator("compute_rloo_outcome_advantage"),
        "reinforce++ baseline": estimator("compute_reinforce_plus_plus_baseline_outcome_advantage"),
    },
    "aggregation": {mode: aggregation(mode) for mode in MODES},
    "kl": {kind: kl(kind) for kind in ("kl", "abs", "mse", "low_var_kl")},
    "loss": {f"dual clip, {mode}": clipped(mode) for mode in MODES},
    "gae": gae,
}
