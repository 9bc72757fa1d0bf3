"""Runs the adapters of docs/exporters against stubs of their frameworks: modules of the documented names and arguments.

    python3 tests/python/vectors_adapters.py VECTORS

The stubs' equations are this project's own, so that a verdict tells whether the adapter hands on each argument in its place.
"""

import dataclasses
import importlib.util
import sys
import types
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent.parent


def module(name, **members):
    """A module of a name, its parents included."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(parts[i - 1]))
    for i in range(1, len(parts)):
        setattr(sys.modules[".".join(parts[:i])], parts[i], sys.modules[".".join(parts[:i + 1])])
    for key, value in members.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


def masked(term, mask):
    return torch.where(mask > 0, term, torch.zeros_like(term))


def aggregate(term, mask, mode):
    term = masked(term, mask)
    rows = (mask.sum(1) > 0).float()
    if mode == "token-mean":
        return term.sum() / mask.sum().clamp(min=1)
    if mode == "seq-mean-token-mean":
        return ((term.sum(1) / mask.sum(1).clamp(min=1)) * rows).sum() / rows.sum().clamp(min=1)
    total = term.sum() / rows.sum().clamp(min=1)
    return total / mask.shape[1] if mode == "seq-mean-token-sum-norm" else total


def clip_term(logp, old, advantage, low, high, dual=None):
    ratio = (logp - old).exp()
    term = torch.maximum(-ratio * advantage, -ratio.clamp(1 - low, 1 + high) * advantage)
    return term if dual is None else torch.where(advantage < 0, torch.minimum(term, -dual * advantage), term)


def k3(logp, ref, clamped=False):
    d = ref - logp
    d = d.clamp(-20, 20) if clamped else d
    value = d.exp() - 1 - d
    return value.clamp(-10, 10) if clamped else value


def kl_by_name(logp, ref, kind):
    return {"kl": logp - ref, "k1": logp - ref, "abs": (logp - ref).abs(), "mse": (logp - ref).square() / 2,
            "k2": (logp - ref).square() / 2, "k3": k3(logp, ref), "low_var_kl": k3(logp, ref, True)}[kind]


def group_advantage(scores, index, divide, alone):
    found = scores.clone()
    for g in set(index.tolist()):
        here = torch.tensor([i == g for i in index.tolist()])
        n = int(here.sum())
        if n == 1:
            found[here] = alone(scores[here])
        else:
            found[here] = divide(scores[here], n)
    return found


def stub_verl():
    def grpo(token_level_rewards, response_mask, index, epsilon=1e-6, norm_adv_by_std_in_grpo=True, config=None):
        std = (lambda r: r.std() + epsilon) if norm_adv_by_std_in_grpo else (lambda r: 1)
        alone = (lambda r: r / (1 + epsilon)) if norm_adv_by_std_in_grpo else (lambda r: r)
        a = group_advantage(token_level_rewards.sum(1), index, lambda r, n: (r - r.mean()) / std(r), alone)
        return a[:, None] * response_mask, a[:, None] * response_mask

    def rloo(token_level_rewards, response_mask, index, epsilon=1e-6, config=None, **_):
        a = group_advantage(token_level_rewards.sum(1), index, lambda r, n: r - (r.sum() - r) / (n - 1), lambda r: r)
        return a[:, None] * response_mask, a[:, None] * response_mask

    def baseline(token_level_rewards, response_mask, index, epsilon=1e-6, config=None, **_):
        a = group_advantage(token_level_rewards.sum(1), index, lambda r, n: r - r.mean(), lambda r: r)[:, None] * response_mask
        inside = a[response_mask > 0]
        a = (a - inside.mean()) * torch.rsqrt(inside.var() + 1e-8) * response_mask
        return a, a

    def gae(token_level_rewards, values, response_mask, gamma, lam):
        following, last, found = 0, 0, []
        for t in reversed(range(values.shape[1])):
            here = response_mask[:, t]
            delta = token_level_rewards[:, t] + gamma * following - values[:, t]
            last = here * (delta + gamma * lam * last) + (1 - here) * last
            following = here * values[:, t] + (1 - here) * following
            found.append(last)
        a = torch.stack(found[::-1], 1)
        inside = a[response_mask > 0]
        return (a - inside.mean()) * torch.rsqrt(inside.var() + 1e-8), a + values

    def policy(old_log_prob, log_prob, advantages, response_mask, cliprange=None, cliprange_low=None, cliprange_high=None,
               clip_ratio_c=3.0, loss_agg_mode="token-mean"):
        term = clip_term(log_prob, old_log_prob, advantages, cliprange_low, cliprange_high, clip_ratio_c)
        return aggregate(term, response_mask, loss_agg_mode), None, None, None

    module("verl.trainer.ppo.core_algos", compute_grpo_outcome_advantage=grpo, compute_rloo_outcome_advantage=rloo,
           compute_reinforce_plus_plus_baseline_outcome_advantage=baseline, compute_gae_advantage_return=gae,
           compute_policy_loss=policy, kl_penalty=lambda logprob, ref_logprob, kl_penalty: kl_by_name(logprob, ref_logprob, kl_penalty),
           agg_loss=lambda loss_mat, loss_mask, loss_agg_mode: aggregate(loss_mat, loss_mask, loss_agg_mode))


def stub_trl():
    class GRPOTrainer:
        def _compute_loss(self, model, inputs):
            ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
            logp, _ = self._get_per_token_logps_and_entropies(model, ids, None, inputs["completion_ids"].size(1))
            mask = inputs["completion_mask"].float()
            term = clip_term(logp, inputs["old_per_token_logps"], inputs["advantages"][:, None], self.epsilon_low, self.epsilon_high)
            term = masked(term + self.beta * k3(logp, inputs["ref_per_token_logps"]), mask)
            self._metrics["train"]["kl"].append(0.0)
            self.accelerator.gather(term)
            if self.loss_type == "grpo":
                return (term.sum(1) / mask.sum(1).clamp(min=1)).mean() / self.current_gradient_accumulation_steps
            if self.loss_type == "dr_grpo":
                return term.sum() / (len(term) * self.max_completion_length)
            tokens = inputs["num_items_in_batch"] / self.accelerator.num_processes if self.loss_type == "dapo" else mask.sum()
            return term.sum() / tokens.clamp(min=1)

    module("trl", GRPOTrainer=GRPOTrainer)


def stub_openrlhf():
    def masked_mean(tensor, mask, dim=None):
        tensor = masked(tensor, mask)
        return tensor.sum() / mask.sum().clamp(min=1) if dim is None else tensor.sum(dim) / mask.sum(dim).clamp(min=1)

    class PolicyLoss(torch.nn.Module):
        def __init__(self, clip_eps_low=0.2, clip_eps_high=0.2, dual_clip=None, token_level_loss=True):
            super().__init__()
            self.settings = (clip_eps_low, clip_eps_high, dual_clip)
            self.token_level_loss = token_level_loss

        def forward(self, log_probs, old_log_probs, advantages, action_mask=None):
            term = clip_term(log_probs, old_log_probs, advantages, *self.settings)
            return (masked_mean(term, action_mask) if self.token_level_loss else masked_mean(term, action_mask, -1).mean()), 0, 0

    module("openrlhf.models.loss", PolicyLoss=PolicyLoss)
    module("openrlhf.models.utils", masked_mean=masked_mean,
           compute_approx_kl=lambda log_probs, log_probs_base, kl_estimator="k1": kl_by_name(log_probs, log_probs_base, kl_estimator))


def stub_nemo_rl():
    class ClippedPGLossFn:
        def __init__(self, cfg):
            self.cfg = cfg

        def __call__(self, next_token_logprobs, data, global_valid_seqs, global_valid_toks):
            cut = {key: data[key][:, 1:] for key in ("advantages", "prev_logprobs", "reference_policy_logprobs", "token_mask")}
            mask = cut["token_mask"] * data["sample_mask"][:, None]
            term = clip_term(next_token_logprobs, cut["prev_logprobs"], cut["advantages"], self.cfg["ratio_clip_min"], self.cfg["ratio_clip_max"])
            term = masked(term + self.cfg["reference_policy_kl_penalty"] * k3(next_token_logprobs, cut["reference_policy_logprobs"]), mask)
            if self.cfg["token_level_loss"]:
                return term.sum() / global_valid_toks.clamp(min=1), {}
            return (term.sum(1) / mask.sum(1).clamp(min=1)).sum() / global_valid_seqs.clamp(min=1), {}

    module("nemo_rl.algorithms.loss_functions", ClippedPGLossFn=ClippedPGLossFn)


def stub_prime_rl():
    @dataclasses.dataclass
    class LossInputs:
        trainer_logprobs: object
        inference_logprobs: object
        teacher_logprobs: object
        advantages: object
        loss_mask: object

    module("prime_rl.trainer.rl.loss", LossInputs=LossInputs)


def stub_slime():
    def compute_policy_loss(ppo_kl, advantages, eps_clip, eps_clip_high, eps_clip_c=None):
        return clip_term(-ppo_kl, torch.zeros_like(ppo_kl), advantages, eps_clip, eps_clip_high, eps_clip_c), None

    module("slime.utils.ppo_utils", compute_policy_loss=compute_policy_loss,
           compute_approx_kl=lambda log_probs, log_probs_base, kl_loss_type, importance_ratio=None:
               k3(log_probs, log_probs_base).clamp(-10, 10) if kl_loss_type == "low_var_kl" else kl_by_name(log_probs, log_probs_base, kl_loss_type))


# What each function is by its framework's documentation, with the stub in its place; a framework's loss that the vectors have
# as no dialect is None: unknown, and not blamed on a mistake.
EXPECTED = {
    "verl": {"grpo": "grpo_n-1_eps1e-6_single-raw", "dr_grpo": "centered_single-raw", "rloo": "rloo_single-raw",
             "reinforce++ baseline": "baseline_whitened_tokens", "token-mean": "token_mean",
             "seq-mean-token-sum": "seq_mean_token_sum_nonempty", "seq-mean-token-mean": "seq_mean_token_mean_nonempty",
             "seq-mean-token-sum-norm": "seq_mean_token_sum_norm", "kl": "k1", "abs": "abs", "mse": "k2", "low_var_kl": "k3_clamped_20_10",
             "dual clip, token-mean": "dual_clip.token_mean.k3_clamped", "gae": "skips_masked_whitened",
             "dual clip, seq-mean-token-mean": "dual_clip.seq_mean_token_mean_nonempty.k3_clamped",
             "dual clip, seq-mean-token-sum": "dual_clip.seq_mean_token_sum_nonempty.k3_clamped",
             "dual clip, seq-mean-token-sum-norm": "dual_clip.seq_mean_token_sum_norm.k3_clamped"},
    "trl": {"grpo": "clip.seq_mean_token_mean.k3", "bnpo": "clip.token_mean.k3", "dr_grpo": "clip.constant_max_length.k3",
            "dapo": "clip.token_mean.k3"},
    "openrlhf": {"k1": "k1", "k2": "k2", "k3": "k3", "clip, tokens": "clip.token_mean.k3", "clip, sequences": "clip.seq_mean_token_mean.k3",
                 "dual clip, tokens": None, "dual clip, sequences": None},
    "nemo_rl": {"clip, tokens": "clip.token_mean.k3", "clip, sequences": None},
    "prime_rl": {"custom ppo_clip": "clip.token_mean.k3"},
    "slime": {"k1": "k1", "k2": "k2", "k3": "k3", "low_var_kl": "k3_clamped_10", "clip": "clip", "dual_clip": "dual_clip"},
}


def main(vectors):
    path = ROOT / "docs" / "exporters" / "agentrl_vectors.py"
    spec = importlib.util.spec_from_file_location("agentrl_vectors", path)
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    wrong = 0
    for stub, framework in ((stub_verl, "verl"), (stub_trl, "trl"), (stub_openrlhf, "openrlhf"), (stub_nemo_rl, "nemo_rl"),
                            (stub_prime_rl, "prime_rl"), (stub_slime, "slime")):
        stub()
        functions = harness.functions_of(path.parent / f"{framework}_vectors.py")
        found = harness.run_all(vectors, functions)
        names = [entry["name"] for entry, _, _ in found]
        if sorted(names) != sorted(EXPECTED[framework]):
            raise SystemExit(f"{framework}: {names} are bound, but {list(EXPECTED[framework])} are expected")
        for entry, judged, said in found:
            wanted = EXPECTED[framework][entry["name"]]
            right = not judged["mistakes"] if wanted is None else wanted in judged["dialects"] and judged["verdict"] in ("matches", "matches-but-edges")
            wrong += not right
            if not right:
                print(f"{framework} {entry['family']} {entry['name']}: {said} {entry.get('errors', '')}")
        print(f"{framework}: {len(found)} functions bound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
