"""prime-rl's loss for agentrl_vectors.py: python agentrl_vectors.py VECTORS prime_rl_vectors.py

A loss of prime-rl takes one sequence (LossInputs) and the trainer divides the sum by the tokens of the batch, as here. Put
your custom loss, or default_loss_fn with its configuration, in `sequence_loss`. Unverified against prime-rl itself; which
fields LossInputs has changes with its version, and those that are missing here say their names.
"""

import dataclasses

from prime_rl.trainer.rl.loss import LossInputs


def one(fields, **known):
    """LossInputs with the fields that this version has; those without a value here are None."""
    return LossInputs(**{name: known.get(name) for name in fields})


def ppo_clip(inputs, low, high):
    """The custom loss of prime-rl's documentation, in our words: the clip, summed over the mask."""
    ratio = (inputs.trainer_logprobs - inputs.inference_logprobs).exp()
    gained = (ratio * inputs.advantages).minimum(ratio.clamp(1 - low, 1 + high) * inputs.advantages)
    return -gained[inputs.loss_mask].sum()


def batch(sequence_loss):
    def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, kl_coef):
        fields = [field.name for field in dataclasses.fields(LossInputs)]
        inside, total = mask > 0, 0.0
        for b in range(len(mask)):
            inputs = one(fields, trainer_logprobs=logp[b], inference_logprobs=old_logp[b], teacher_logprobs=ref_logp[b],
                         ref_logprobs=ref_logp[b], advantages=advantage[b], loss_mask=inside[b])
            total = total + sequence_loss(inputs, clip_low, clip_high)
            difference = (ref_logp[b] - logp[b])[inside[b]]
            total = total + kl_coef * (difference.exp() - 1 - difference).sum()
        return total / mask.sum().clamp(min=1)
    return loss


FUNCTIONS = {"loss": {"custom ppo_clip": batch(ppo_clip)}}
