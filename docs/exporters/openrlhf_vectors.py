"""OpenRLHF's losses for agentrl_vectors.py: python agentrl_vectors.py VECTORS openrlhf_vectors.py

Binds PolicyLoss of openrlhf/models/loss.py and compute_approx_kl of openrlhf/models/utils.py by their documented arguments.
Unverified against OpenRLHF itself.
"""

from openrlhf.models.loss import PolicyLoss
from openrlhf.models.utils import compute_approx_kl, masked_mean


def kl(kind):
    return lambda logp, ref_logp: compute_approx_kl(logp, ref_logp, kl_estimator=kind)


def policy(kind, token_level):
    def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, dual_clip, kl_coef):
        function = PolicyLoss(clip_eps_low=clip_low, clip_eps_high=clip_high, token_level_loss=token_level,
                              dual_clip=dual_clip if kind == "dual clip" else None)
        found = function(logp, old_logp, advantage, action_mask=mask)
        penalty = compute_approx_kl(logp, ref_logp, kl_estimator="k3")
        kl_loss = masked_mean(penalty, mask) if token_level else masked_mean(penalty, mask, dim=-1).mean()
        return (found[0] if isinstance(found, tuple) else found) + kl_coef * kl_loss
    return loss


FUNCTIONS = {
    "kl": {kind: kl(kind) for kind in ("k1", "k2", "k3")},
    "loss": {f"{kind}, {'tokens' if token_level else 'sequences'}": policy(kind, token_level)
             for kind in ("clip", "dual clip") for token_level in (True, False)},
}
