"""SkyRL: writes a TrainingInputBatch as the common dump.

    python skyrl_tokens.py training_input.pkl tokens --step 3    # trainer.dump_data_batch=true writes the pickle

    from skyrl_tokens import dump
    dump(training_input, "tokens", step=self.global_step)        # or in the trainer, after the advantages

A pickle runs what is in it when it is read: read only your own. Put this file and common_dump.py in one folder.
Written from SkyRL's sources of August 2026 and tested on objects of the same fields, not on SkyRL itself.
"""

import argparse
import pickle

from common_dump import number, rows, write


def batch_rows(batch):
    """Rows of a batch: a dictionary of tensors, whose `metadata` names the prompt of each sample."""

    def get(name):
        return batch[name] if name in batch.keys() else None

    groups = (getattr(batch, "metadata", None) or {}).get("uids")
    rewards = get("rewards")
    if rewards is not None:
        # A reward stands at the token that earned it.
        rewards = [number(reward.sum()) for reward in rewards]
    return rows(
        batch["sequences"],
        batch["attention_mask"],
        arrays={
            "mask": get("loss_mask"),
            "lp_sampler": get("rollout_logprobs"),
            "lp_old": get("action_log_probs"),
            "lp_ref": get("base_action_log_probs"),
            "adv": get("advantages"),
        },
        scalars={"group": None if groups is None else [str(group) for group in groups], "reward": rewards},
    )


def dump(batch, folder, step, rank=0):
    """Writes one batch."""
    return write(batch_rows(batch), folder, step, rank)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="SkyRL's training input as the common token dump.")
    parser.add_argument("path")
    parser.add_argument("folder")
    parser.add_argument("--step", type=int, required=True)
    options = parser.parse_args()
    with open(options.path, "rb") as file:
        print(dump(pickle.load(file), options.folder, options.step))
