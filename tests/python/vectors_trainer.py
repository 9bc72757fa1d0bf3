"""A trainer's equations in torch, plainly written: right ones, which tests/python/vectors_mutants.py breaks one at a time."""

import torch


# Advantages [B] from rewards [B].
def grpo(reward, group):
    advantage = torch.zeros_like(reward)
    for g in group.unique():
        here = group == g
        if here.sum() > 1:
            centered = reward[here] - reward[here].mean()
            advantage[here] = centered / (reward[here].std(unbiased=True) + 1e-6)
    return advantage


def dr_grpo(reward, group):
    advantage = torch.zeros_like(reward)
    for g in group.unique():
        here = group == g
        advantage[here] = reward[here] - reward[here].mean()
    return advantage


def rloo(reward, group):
    advantage = torch.zeros_like(reward)
    for g in group.unique():
        here = group == g
        n = int(here.sum())
        if n > 1:
            others = (reward[here].sum() - reward[here]) / (n - 1)
            advantage[here] = reward[here] - others
    return advantage


# KL to the reference, token by token.
def k1(logp, ref_logp):
    return logp - ref_logp


def k2(logp, ref_logp):
    return (logp - ref_logp).square() / 2


def k3(logp, ref_logp):
    difference = ref_logp - logp
    return difference.exp() - 1 - difference


def k3_clamped(logp, ref_logp):
    difference = torch.clamp(ref_logp - logp, -20, 20)
    return torch.clamp(difference.exp() - 1 - difference, -10, 10)


# The policy term of every token.
def ppo(logp, old_logp, advantage, mask, clip_low, clip_high):
    difference = torch.where(mask > 0, logp - old_logp, torch.zeros_like(logp))
    ratio = torch.clamp(difference, -20, 20).exp()
    clipped = torch.clamp(ratio, 1 - clip_low, 1 + clip_high)
    return -torch.minimum(ratio * advantage, clipped * advantage)


def gspo(logp, old_logp, advantage, mask, clip_low, clip_high):
    difference = torch.where(mask > 0, logp - old_logp, torch.zeros_like(logp))
    mean = difference.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    ratio = mean.exp()
    clipped = torch.clamp(ratio, 1 - clip_low, 1 + clip_high)
    return -torch.minimum(ratio * advantage, clipped * advantage)


def cispo(logp, old_logp, advantage, mask, clip_low, clip_high):
    logp = torch.where(mask > 0, logp, torch.zeros_like(logp))
    difference = torch.where(mask > 0, logp - old_logp, torch.zeros_like(logp))
    weight = torch.clamp(difference.exp(), 1 - clip_low, 1 + clip_high).detach()
    return -weight * advantage * logp


# From one term a token to one loss.
def token_mean(term, mask):
    term = torch.where(mask > 0, term, torch.zeros_like(term))
    return term.sum() / mask.sum().clamp(min=1)


def row_mean(term, mask):
    term = torch.where(mask > 0, term, torch.zeros_like(term))
    rows = term.sum(1) / mask.sum(1).clamp(min=1)
    return rows.mean()


def constant(term, mask, max_length):
    term = torch.where(mask > 0, term, torch.zeros_like(term))
    return term.sum() / (term.shape[0] * max_length)


# A whole loss: the clip, the KL term, one mean over tokens.
def loss(logp, old_logp, ref_logp, advantage, mask, clip_low, clip_high, kl_coef):
    inside = mask > 0
    zero = torch.zeros_like(logp)
    ratio = torch.where(inside, logp - old_logp, zero).exp()
    clipped = torch.clamp(ratio, 1 - clip_low, 1 + clip_high)
    term = -torch.minimum(ratio * advantage, clipped * advantage)
    difference = torch.where(inside, ref_logp - logp, zero)
    kl = difference.exp() - 1 - difference
    total = torch.where(inside, term + kl_coef * kl, zero)
    return total.sum() / mask.sum().clamp(min=1)


# Log-prob of the sampled token and entropy of its distribution.
def logprob(logits, target, temperature):
    logp = torch.log_softmax(logits / temperature, -1)
    chosen = logp.gather(-1, target[:, None])[:, 0]
    entropy = -(logp.exp() * logp).sum(-1)
    return {"logp": chosen, "entropy": entropy}


# As many trainers have them: one function each, and differences from the log-sum-exp.
def chosen_logprob(logits, target, temperature):
    scaled = logits / temperature
    return scaled.gather(-1, target[:, None])[:, 0] - scaled.logsumexp(-1)


def entropy_alone(logits, temperature):
    scaled = logits / temperature
    return {"entropy": scaled.logsumexp(-1) - (scaled.softmax(-1) * scaled).sum(-1)}


# Weights against the difference between sampler and trainer.
def token_weight(old_logp, sampler_logp, mask, cap):
    difference = torch.where(mask > 0, old_logp - sampler_logp, torch.zeros_like(old_logp))
    return difference.exp().clamp(max=cap) * mask


def sequence_weight(old_logp, sampler_logp, mask, cap, floor):
    difference = torch.where(mask > 0, old_logp - sampler_logp, torch.zeros_like(old_logp))
    weight = difference.sum(1, keepdim=True).exp()
    weight = torch.where((weight > cap) | (weight < floor), torch.zeros_like(weight), weight)
    return weight * mask


# Generalized advantage estimation over trained tokens.
def gae(reward, value, mask, gamma, lambda_):
    advantage = torch.zeros_like(reward)
    for b in range(reward.shape[0]):
        following, last = 0.0, 0.0
        for t in reversed(range(reward.shape[1])):
            if mask[b, t] == 0:
                continue
            delta = reward[b, t] + gamma * following - value[b, t]
            last = delta + gamma * lambda_ * last
            advantage[b, t] = last
            following = value[b, t]
    return {"advantage": advantage, "return": advantage + value}


# What is backpropagated over micro-batches and ranks.
def cuts(term, mask, micro_batch, rank):
    tokens = mask.sum().clamp(min=1)
    total = 0.0
    for r in rank.unique():
        for m in micro_batch[rank == r].unique():
            here = (rank == r) & (micro_batch == m)
            total = total + (term[here] * mask[here]).sum() / tokens
    return total


FUNCTIONS = {
    "advantages": {"grpo": grpo, "dr_grpo": dr_grpo, "rloo": rloo},
    "kl": {"k1": k1, "k2": k2, "k3": k3, "k3_clamped": k3_clamped},
    "surrogate": {"ppo": ppo, "gspo": gspo, "cispo": cispo},
    "aggregation": {"token_mean": token_mean, "row_mean": row_mean, "constant": constant},
    "loss": {"loss": loss},
    "logprob": {"logprob": logprob, "chosen_logprob": chosen_logprob, "entropy_alone": entropy_alone},
    "sampler": {"token_weight": token_weight, "sequence_weight": sequence_weight},
    "gae": {"gae": gae},
    "cuts": {"cuts": cuts},
}
