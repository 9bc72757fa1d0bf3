"""verl and ROLL: writes a DataProto as the common dump, once its advantages are computed.

    from verl_tokens import dump
    dump(batch, "tokens", step=self.global_steps)            # in the trainer's loop, before update_actor

    python verl_tokens.py gen_batch.dp tokens --step 3       # a DataProto that verl's skip.rollout has saved

Put this file and common_dump.py beside your script. Written from the sources of August 2026 and tested on
objects of the same fields, not on the frameworks themselves.
"""

import argparse

from common_dump import number, rows, write

# What verl calls it, then what ROLL does.
NAMES = {
    "mask": ("response_mask",),
    "lp_sampler": ("rollout_log_probs", "infer_logprobs"),
    "lp_old": ("old_log_probs",),
    "lp_ref": ("ref_log_prob", "ref_log_probs"),
    "adv": ("advantages",),
    "entropy": ("entropys",),
}
TOKEN_REWARDS = ("token_level_scores", "token_level_rewards")
GROUPS = ("uid", "traj_group_id", "prompt_id")


def batch_rows(data):
    """Rows of a DataProto: `data.batch` holds tensors, `data.non_tensor_batch` arrays, `data.meta_info` settings."""
    batch, others = data.batch, data.non_tensor_batch

    def first(names, source=batch):
        return next((source[name] for name in names if name in source.keys()), None)

    count = batch["input_ids"].shape[0]
    rewards = first(TOKEN_REWARDS)
    rewards = rewards.sum(dim=-1) if rewards is not None else first(("response_level_rewards",))
    groups = first(GROUPS, others)
    positions = first(("position_ids",))
    temperature = data.meta_info.get("temperature")
    return rows(
        batch["input_ids"],
        batch["attention_mask"],
        arrays={name: first(theirs) for name, theirs in NAMES.items()},
        scalars={
            "group": None if groups is None else [str(group) for group in groups],
            "reward": None if rewards is None else [number(reward) for reward in rewards],
            "temp": None if temperature is None else [float(temperature)] * count,
        },
        # Models for images have three positions a token.
        positions=positions if positions is not None and positions.dim() == 2 else None,
    )


def dump(data, folder, step, rank=0):
    """Writes one batch."""
    return write(batch_rows(data), folder, step, rank)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A saved DataProto as the common token dump.")
    parser.add_argument("path")
    parser.add_argument("folder")
    parser.add_argument("--step", type=int, required=True)
    options = parser.parse_args()
    from verl import DataProto

    print(dump(DataProto.load_from_disk(options.path), options.folder, options.step))
