"""TRL: writes the tokens of every generation batch of GRPOTrainer (or RLOOTrainer) as the common dump.

    from trl_tokens import TokenDump

    class Trainer(TokenDump, GRPOTrainer):
        token_folder = "tokens"

Put this file and common_dump.py beside your script. Written from TRL's sources of August 2026 and tested on
objects of the same fields, not on TRL itself.
"""

import torch

from common_dump import number, rows, write


def batch_rows(output, *, first, num_generations, step, pad_token_id, rewards=None, weights=None, **scalars):
    """Rows of what `_generate_and_score_completions` answers.

    first: the number of samples that the processes before this one hold of the batch.
    rewards: name of a reward function -> a list of B numbers.
    """
    prompt_mask, completion_mask = output["prompt_mask"], output["completion_mask"]
    completions = output["completion_ids"]
    count = completions.shape[0]
    # mask_truncated_completions clears a whole row: its tokens are there all the same.
    is_cleared = completion_mask.sum(dim=1, keepdim=True) == 0
    tokens = torch.where(is_cleared, (completions != pad_token_id).to(completion_mask.dtype), completion_mask)
    sampled = output.get("tool_mask")
    advantages = output["advantages"]
    names = list(rewards or {})
    parts = [{name: number(rewards[name][b]) for name in names} for b in range(count)] if names else None
    total = None
    if names and weights is not None:
        table = torch.tensor([[float(rewards[name][b]) for name in names] for b in range(count)])
        total = [number(value) for value in (table * torch.tensor(weights)).nansum(dim=1)]
    return rows(
        torch.cat([output["prompt_ids"], completions], dim=1),
        torch.cat([prompt_mask, tokens], dim=1),
        arrays={
            "mask": completion_mask if sampled is None else completion_mask * sampled,
            "sampled": tokens if sampled is None else sampled,
            "lp_sampler": output.get("sampling_per_token_logps"),
            "lp_old": output.get("old_per_token_logps"),
            "lp_ref": output.get("ref_per_token_logps"),
            "adv": advantages if advantages.dim() == 2 else None,
        },
        scalars={
            "group": [f"{step}.{(first + b) // num_generations}" for b in range(count)],
            "sample": [f"{step}.{first + b}" for b in range(count)],
            "adv": [number(value) for value in advantages] if advantages.dim() == 1 else None,
            "reward": total,
            "reward_parts": parts,
            **{name: [value] * count for name, value in scalars.items() if value is not None},
        },
    )


class TokenDump:
    """Before the trainer in the list of bases."""

    token_folder = "tokens"

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        if not self.model.training:
            return output
        rank, count = self.accelerator.process_index, output["completion_ids"].shape[0]
        total = count * self.accelerator.num_processes
        # TRL gathers the rewards of all processes for its own log; the last of them are this batch's.
        logged = getattr(self, "_logs", {}).get("rewards", {})
        rewards = {
            name: list(values)[-total:][rank * count : (rank + 1) * count]
            for name, values in logged.items()
            if len(values) >= total
        }
        weights = getattr(self, "reward_weights", None)
        found = batch_rows(
            output,
            first=rank * count,
            num_generations=self.num_generations,
            step=self.state.global_step,
            pad_token_id=self.processing_class.pad_token_id,
            rewards=rewards,
            weights=None if weights is None else weights.tolist(),
            temp=getattr(self, "temperature", None),
            top_p=getattr(self, "top_p", None),
        )
        write(found, self.token_folder, self.state.global_step, rank)
        return output
