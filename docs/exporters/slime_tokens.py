"""slime: joins its two debug dumps and writes them as the common dump.

    --save-debug-rollout-data 'dump/rollout_{rollout_id}.pt'
    --save-debug-train-data 'dump/train_{rollout_id}_{rank}.pt'

    python slime_tokens.py dump/rollout_3.pt tokens --train dump/train_3_*.pt

A .pt file is a pickle, which runs what is in it when it is read: read only your own. Put this file and
common_dump.py in one folder. Written from slime's sources of August 2026 and tested on objects of the same
fields, not on slime itself.
"""

import argparse

import torch

from common_dump import number, without_fillers, write

ENDS = {"completed": "eos", "truncated": "length", "aborted": "error", "failed": "error"}
# The trainer's log-probs are of before the update: what the ratio divides by.
ARRAYS = {"log_probs": "lp_old", "ref_log_probs": "lp_ref", "advantages": "adv", "entropy": "entropy"}


def trained_samples(dumps):
    """What the trainer told of each sample, by its index."""
    found = {}
    for dump in dumps:
        if "samples" in dump:
            samples = dump["samples"]
        else:
            # Older: one dictionary of lists a rank.
            data = dump["rollout_data"]
            names = [name for name in ARRAYS if data.get(name) is not None]
            samples = [
                {"sample_index": index, **{name: data[name][i] for name in names}}
                for i, index in enumerate(data["sample_indices"])
            ]
        found.update({sample["sample_index"]: sample for sample in samples})
    return found


def sample_row(sample, trained):
    """One row. Arrays of slime are about the answer, which stands at the end."""
    ids, answer = list(sample["tokens"]), sample["response_length"]
    prompt = len(ids) - answer

    def about_answer(values, filler):
        if values is None:
            return None
        values = [value.item() if isinstance(value, torch.Tensor) else value for value in values]
        if len(values) != answer:
            raise ValueError(f"sample {sample['index']}: {len(values)} values for {answer} tokens of the answer")
        return [filler] * prompt + values

    def numbers(values):
        laid = about_answer(values, None)
        return None if laid is None else [None if value is None else number(value) for value in laid]

    mask = about_answer(sample.get("loss_mask") or [1] * answer, 0)
    is_removed = bool(sample.get("remove_sample"))
    versions = set(sample.get("weight_versions") or [])
    version = versions.pop() if len(versions) == 1 else None
    reward = sample.get("reward")
    row = {
        "group": sample.get("group_index"),
        "sample": sample.get("index"),
        "reward": number(reward) if isinstance(reward, (int, float)) else None,
        "reward_parts": {name: number(value) for name, value in reward.items() if isinstance(value, (int, float))}
        if isinstance(reward, dict)
        else None,
        "stop": ENDS.get(sample.get("status"), "other"),
        "stop_text": sample.get("status"),
        "ids": ids,
        "mask": [0] * len(ids) if is_removed else mask,
        "sampled": mask if is_removed else None,
        "lp_sampler": numbers(sample.get("rollout_log_probs")),
        "ver": int(version) if version is not None and str(version).isdigit() else None,
    }
    for theirs, ours in ARRAYS.items():
        row[ours] = numbers((trained or {}).get(theirs))
    return without_fillers({"v": 1, **{name: value for name, value in row.items() if value is not None}})


def dump_rows(rollout, train_dumps):
    """Rows of one rollout."""
    trained = trained_samples(train_dumps)
    return [sample_row(sample, trained.get(sample["index"])) for sample in rollout["samples"]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="slime's debug dumps as the common token dump.")
    parser.add_argument("rollout")
    parser.add_argument("folder")
    parser.add_argument("--train", nargs="*", default=[])
    options = parser.parse_args()

    def load(path):
        return torch.load(path, map_location="cpu", weights_only=False)

    rollout = load(options.rollout)
    found = dump_rows(rollout, [load(path) for path in options.train])
    print(write(found, options.folder, rollout["rollout_id"]))
