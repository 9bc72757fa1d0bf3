"""Breaks the trainer of vectors_trainer.py in one place at a time, and asks the vectors what each mutant is.

    python3 tests/python/vectors_mutants.py VECTORS OUT

writes OUT/results.json (the right functions, then every mutant) and OUT/verdicts.json (what the harness says, what
a mutant's mistake is called), which tests/python/run.ts holds to the other judge and counts.
"""

import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "vectors_trainer.py"

# Family, function, a text of its source, what stands there instead, and the names that say just that.
MUTANTS = [
    # Signs.
    ("advantages", "grpo", "reward[here] - reward[here].mean()", "reward[here].mean() - reward[here]", "negated"),
    ("advantages", "rloo", "reward[here] - others", "others - reward[here]", "negated"),
    ("kl", "k3", "- 1 - difference", "- 1 + difference", "linear_sign"),
    ("kl", "k1", "logp - ref_logp", "ref_logp - logp", "swapped negated"),
    ("surrogate", "ppo", "-torch.minimum", "torch.minimum", "negated"),
    ("surrogate", "cispo", "-weight * advantage", "weight * advantage", "negated advantage_negated"),
    ("aggregation", "token_mean", "return term.sum()", "return -term.sum()", "negated"),
    ("loss", "loss", "term + kl_coef * kl", "term - kl_coef * kl", "kl_subtracted"),
    ("loss", "loss", "term = -torch", "term = torch", ""),
    ("logprob", "logprob", "entropy = -(", "entropy = (", "entropy_negated"),
    ("logprob", "logprob", '"logp": chosen', '"logp": -chosen', "logp_negated"),
    ("gae", "gae", "- value[b, t]\n", "\n", "no_value"),
    # Degrees of freedom and standard deviations. (n in place of n - 1 is a dialect: see DIALECTS.)
    ("advantages", "grpo", "(reward[here].std(unbiased=True) + 1e-6)", "(reward[here].var(unbiased=True) + 1e-6)", "variance"),
    ("advantages", "grpo", "centered / (reward", "centered * (reward", "times_std"),
    ("advantages", "grpo", "(reward[here].std(unbiased=True) + 1e-6)", "reward[here].std(unbiased=True)", "eps_missing"),
    ("advantages", "grpo", "(reward[here].std(unbiased=True) + 1e-6)", "(reward.std(unbiased=True) + 1e-6)", "batch_std"),
    ("advantages", "grpo", "(reward[here].std(unbiased=True) + 1e-6)", "(reward[here].var(unbiased=True) + 1e-6).sqrt()", "eps_in_root"),
    ("advantages", "grpo", "reward[here] - reward[here].mean()", "reward[here]", "not_centered"),
    ("advantages", "grpo", "reward[here] - reward[here].mean()", "reward[here] - reward.mean()", "batch_mean"),
    ("advantages", "grpo", "reward[here] - reward[here].mean()", "reward[here] - reward[here].median()", ""),
    ("advantages", "grpo", "if here.sum() > 1", "if here.sum() > 0", "single_nan"),
    # Groups and axes.
    ("advantages", "dr_grpo", "here = group == g", "here = group == group", "one_group"),
    ("advantages", "grpo", "here = group == g", "here = torch.arange(len(group)) // int((group == group[0]).sum()) == g", "groups_by_position"),
    ("advantages", "rloo", "/ (n - 1)", "/ n", "others_over_n"),
    ("advantages", "dr_grpo", "reward[here] - reward[here].mean()", "(reward[here] - reward[here].mean()).clamp(min=0)", "positive_only"),
    ("advantages", "dr_grpo", "reward[here] - reward[here].mean()", "(reward[here] - reward[here].mean()).abs()", "absolute"),
    ("advantages", "dr_grpo", "advantage = torch.zeros_like(reward)", "reward = reward.roll(1); advantage = torch.zeros_like(reward)", "rewards_one_late"),
    ("advantages", "dr_grpo", "advantage = torch.zeros_like(reward)", "reward = reward.clamp(-1, 1); advantage = torch.zeros_like(reward)", "rewards_clipped"),
    ("aggregation", "row_mean", "term.sum(1) / mask.sum(1)", "term.sum(0) / mask.sum(0)", "columns_then_rows"),
    # KL.
    ("kl", "k3", "ref_logp - logp", "logp - ref_logp", "swapped"),
    ("kl", "k3", "difference.exp() - 1", "difference.exp()", "one_missing"),
    ("kl", "k3", "- 1 - difference", "- 1", "linear_missing"),
    ("kl", "k2", ".square() / 2", ".square()", "doubled"),
    ("kl", "k3", "return difference.exp() - 1 - difference", "return (difference.exp() - 1 - difference).detach()", "detached"),
    ("kl", "k3", "difference = ref_logp - logp", "difference = (ref_logp - logp).clamp(-5, 5)", "clamped_5"),
    ("kl", "k1", "return logp - ref_logp", "return (logp - ref_logp).clamp(min=0)", "floored"),
    ("kl", "k3", "difference = ref_logp - logp", "logp, ref_logp = logp.exp(), ref_logp.exp(); difference = ref_logp - logp", "probabilities"),
    # Min, max and clips.
    ("surrogate", "ppo", "torch.minimum", "torch.maximum", "max_for_min"),
    ("surrogate", "ppo", "-torch.minimum(ratio * advantage, clipped * advantage)", "-clipped * advantage", "always_clipped"),
    ("surrogate", "ppo", "1 - clip_low, 1 + clip_high", "1 - clip_high, 1 + clip_low", "clip_sides_swapped"),
    ("surrogate", "ppo", "1 + clip_high", "1 + clip_low", "clip_low_for_both"),
    ("surrogate", "ppo", "1 - clip_low", "1 - clip_high", "clip_high_for_both"),
    ("surrogate", "ppo", "1 - clip_low, 1 + clip_high", "max=1 + clip_high", "clip_lower_missing"),
    ("surrogate", "ppo", "1 - clip_low, 1 + clip_high", "min=1 - clip_low", "clip_upper_missing"),
    ("surrogate", "ppo", "logp - old_logp", "old_logp - logp", "ratio_inverted"),
    ("surrogate", "ppo", "logp - old_logp", "logp - logp.detach()", "old_is_current"),
    ("surrogate", "ppo", "ratio * advantage, clipped * advantage", "ratio * advantage.abs(), clipped * advantage.abs()", "absolute_advantage"),
    ("surrogate", "gspo", " / mask.sum(1, keepdim=True).clamp(min=1)", "", "sequence_sum"),
    ("surrogate", "gspo", "difference.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)", "(logp - old_logp).mean(1, keepdim=True)", "sequence_mean_unmasked"),
    ("surrogate", "cispo", ".detach()", "", "weight_not_stopped"),
    ("surrogate", "ppo", "return -torch.minimum(ratio * advantage, clipped * advantage)", "return (-torch.minimum(ratio * advantage, clipped * advantage)).detach()", "detached"),
    # Masks and denominators.
    ("aggregation", "token_mean", "mask.sum().clamp(min=1)", "mask.numel()", "denominator_counts_masked"),
    ("aggregation", "token_mean", "term = torch.where(mask > 0, term, torch.zeros_like(term))\n", "\n", "numerator_unmasked"),
    ("aggregation", "token_mean", "term = torch", "mask = torch.ones_like(mask); term = torch", "mask_ignored"),
    ("aggregation", "token_mean", "term = torch", "mask = torch.nn.functional.pad(mask, (1, 0))[:, :-1]; term = torch", "mask_one_late"),
    ("aggregation", "token_mean", "term = torch", "mask = torch.nn.functional.pad(mask, (0, 1))[:, 1:]; term = torch", "mask_one_early"),
    ("aggregation", "token_mean", "term = torch", "mask = 1 - mask; term = torch", "mask_inverted"),
    ("aggregation", "row_mean", "mask.sum(1).clamp(min=1)", "mask.shape[1]", "row_denominator_counts_masked"),
    ("aggregation", "row_mean", "rows.mean()", "rows.sum()", "times_rows"),
    ("aggregation", "row_mean", "rows.mean()", "rows.mean() / len(rows)", "divided_twice_by_rows"),
    ("aggregation", "row_mean", ".clamp(min=1)", "", "nan_in_empty_row"),
    ("aggregation", "token_mean", "return term", "return 0.5 * term", "halved"),
    ("aggregation", "token_mean", "return term.sum()", "return term.detach().sum()", "detached"),
    ("aggregation", "row_mean", "term = torch", "mask = (mask.cumsum(1) > 1).float() * mask; term = torch", "first_token_dropped"),
    ("aggregation", "constant", "term.shape[0] * max_length", "max_length", "times_rows"),
    # Whole losses.
    ("loss", "loss", "term + kl_coef * kl", "term + kl", "kl_coefficient_missing"),
    ("loss", "loss", "kl_coef * kl", "kl_coef * kl_coef * kl", "kl_coefficient_squared"),
    ("loss", "loss", "kl_coef * kl", "kl_coef * kl.detach()", "kl_detached"),
    ("loss", "loss", "term + kl_coef * kl", "term", "kl_missing"),
    ("loss", "loss", "ref_logp - logp", "logp - ref_logp", "kl_swapped"),
    ("loss", "loss", "ref_logp - logp", "old_logp - logp", "kl_to_old"),
    ("loss", "loss", "1 - clip_low, 1 + clip_high", "1 - clip_high, 1 + clip_low", "clip_sides_swapped"),
    ("loss", "loss", "mask.sum().clamp(min=1)", "mask.numel()", "denominator_counts_masked"),
    ("loss", "loss", "inside = mask > 0", "mask = torch.ones_like(mask); inside = mask > 0", "mask_ignored"),
    ("loss", "loss", "logp - old_logp, zero", "logp - logp.detach(), zero", "old_is_current"),
    # Logits.
    ("logprob", "logprob", "logits / temperature", "logits", "temperature_ignored"),
    ("logprob", "logprob", "logits / temperature", "logits * temperature", "temperature_multiplied"),
    ("logprob", "logprob", "* logp).sum(-1)", "* logp).mean(-1)", "entropy_mean"),
    ("logprob", "logprob", "* logp).sum(-1)", "* logp).sum(-1).detach()", "entropy_detached"),
    ("logprob", "logprob", '"entropy": entropy', '"entropy": -chosen', "entropy_of_sample"),
    ("logprob", "logprob", "target[:, None]", "target.roll(-1)[:, None]", "target_one_early"),
    # Sampler weights.
    ("sampler", "token_weight", "old_logp - sampler_logp", "sampler_logp - old_logp", "ratio_inverted"),
    ("sampler", "token_weight", ".clamp(max=cap)", "", "cap_missing"),
    ("sampler", "token_weight", ".clamp(max=cap)", ".clamp(max=1)", "at_most_one"),
    ("sampler", "sequence_weight", "(weight > cap) | (weight < floor)", "(weight > cap)", "floor_missing"),
    ("sampler", "sequence_weight", "difference = torch.where(mask > 0, old_logp - sampler_logp, torch.zeros_like(old_logp))", "difference = old_logp - sampler_logp", "sequence_unmasked"),
    # Generalized advantages.
    ("gae", "gae", "gamma * following", "following", "next_undiscounted"),
    ("gae", "gae", "gamma * lambda_ * last", "lambda_ * last", "gamma_missing_in_decay"),
    ("gae", "gae", "gamma * lambda_ * last", "gamma * last", "lambda_missing"),
    ("gae", "gae", "gamma * lambda_ * last", "0 * last", "one_step"),
    ("gae", "gae", "reversed(range(reward.shape[1]))", "range(reward.shape[1])", "not_reversed"),
    ("gae", "gae", "advantage + value}", "advantage}", "returns_without_value"),
    # Accumulation and ranks.
    ("cuts", "cuts", "/ tokens", "/ tokens / len(micro_batch[rank == r].unique())", "divided_by_micro_batches"),
    ("cuts", "cuts", "/ tokens", "/ tokens / len(rank.unique())", "divided_by_ranks"),
    ("cuts", "cuts", "/ tokens", "/ mask[here].sum().clamp(min=1)", "sum_of_micro_token_means"),
    ("cuts", "cuts", "total = total +", "total =", ""),
    ("cuts", "cuts", "/ tokens", "/ tokens * int(here.sum())", "times_rows_of_micro_batch"),
    # Precision.
    ("aggregation", "token_mean", "return term.sum() / mask.sum().clamp(min=1)", "return (term.bfloat16().sum() / mask.sum().clamp(min=1)).float()", ""),
    ("logprob", "logprob", "logits / temperature", "(logits / temperature).bfloat16().float()", ""),
]
# An empty name: the list of mistakes does not hold it, so that the right answer is none.

# Changes that make another dialect, not a mistake, and which.
DIALECTS = [
    ("advantages", "grpo", "unbiased=True", "unbiased=False", "grpo_n_eps1e-6_single-0"),
    ("advantages", "grpo", "1e-6", "1e-4", "grpo_n-1_eps1e-4_single-0"),
    ("advantages", "grpo", "1e-6", "1e-8", "grpo_n-1_eps1e-8_single-0"),
    ("advantages", "rloo", "if n > 1:", "if n == 1:\n            advantage[here] = reward[here]\n        else:", "rloo_single-raw"),
    ("kl", "k1", "return logp - ref_logp", "return (logp - ref_logp).abs()", "abs"),
    ("surrogate", "ppo", "torch.clamp(difference, -20, 20)", "difference", "clip"),
    ("aggregation", "token_mean", " / mask.sum().clamp(min=1)", "", "token_sum"),
    ("aggregation", "row_mean", " / mask.sum(1).clamp(min=1)", "", "seq_mean_token_sum"),
    ("aggregation", "row_mean", "rows.mean()", "rows.sum() / (mask.sum(1) > 0).sum().clamp(min=1)", "seq_mean_token_mean_nonempty"),
    ("sampler", "sequence_weight", "torch.where((weight > cap) | (weight < floor), torch.zeros_like(weight), weight)", "weight.clamp(max=cap)", "sequence_truncate"),
    ("sampler", "token_weight", "difference.exp().clamp(max=cap)", "difference.exp() * (difference.exp() <= cap) * (difference.exp() >= floor)", "token_mask"),
]


def body_of(source, function):
    """Where the text of a function stands."""
    start = source.index(f"def {function}(")
    end = source.find("\n\n\n", start)
    return start, len(source) if end < 0 else end


def changed(family, function, old, new):
    """The function with one text replaced; None where the text is not there or nothing changes."""
    source = SOURCE.read_text(encoding="utf-8")
    start, end = body_of(source, function)
    body = source[start:end]
    if old not in body or old == new:
        return None
    if "floor" in new and "floor" not in body.split("):")[0]:
        body = body.replace("cap)", "cap, floor)", 1)
    space = {}
    exec(source[:start] + body.replace(old, new) + source[end:], space)  # The file is this repository's own.
    return space[function]


def main(vectors, out):
    spec = importlib.util.spec_from_file_location(
        "agentrl_vectors", HERE.parent.parent / "docs" / "exporters" / "agentrl_vectors.py")
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    documents = harness.load(vectors)
    entries, verdicts = [], []

    def ask(kind, name, family, function, wanted):
        entry = harness.run_function(function, documents[family], name)
        judged = harness.judge(documents[family], entry)
        entries.append(entry)
        verdicts.append({"kind": kind, "name": name, "family": family, "wanted": wanted, **judged})

    for family, name, function in harness.named_functions(harness.functions_of(SOURCE)):
        ask("right", name, family, function, [])
    for kind, table in (("dialect", DIALECTS), ("mutant", MUTANTS)):
        for family, function, old, new, wanted in table:
            mutant = changed(family, function, old, new)
            if mutant is None:
                if old != new:
                    raise SystemExit(f"{function}: the text {old!r} is not there")
                continue
            ask(kind, f"{function}: {old.strip()} -> {new.strip()}", family, mutant, wanted.split())
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps({"v": 1, "trainer": "mutants", "functions": entries}), encoding="utf-8")
    (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
