"""Rows of the common token dump (docs/formats.md) from padded tensors. Needs nothing but torch.

Trainers keep token ids as [B, T] with padding on either side, and their arrays as [B, A] about the last A
columns of the ids: A is the width of the answers (TRL, verl, SkyRL) or T - 1 (ROLL, OpenRLHF).
"""

import json
import math
import os

# Arrays that say yes or no: outside of them, as in the prompt, the answer is no.
FLAGS = ("mask", "sampled")


def number(value):
    """A number as JSON has it: 9 digits are all that a float32 holds."""
    value = float(value)
    if math.isfinite(value):
        return float(f"{value:.9g}")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def rows(ids, attention, arrays=None, scalars=None, positions=None):
    """One row for each sequence of a batch.

    ids, attention: [B, T]; 1 where there is a token and no padding.
    arrays: name in the dump -> [B, A] about the last A columns of ids; None is left out.
    scalars: name in the dump -> a list of B values; None is left out, as a whole or in one place.
    positions: [B, T]; None is left out.
    """
    arrays = {name: array for name, array in (arrays or {}).items() if array is not None}
    scalars = {name: values for name, values in (scalars or {}).items() if values is not None}
    width = ids.shape[1]
    found = []
    for b in range(ids.shape[0]):
        columns = attention[b].nonzero().flatten().tolist()
        if not columns:
            continue
        row = {"v": 1}
        row.update({name: values[b] for name, values in scalars.items() if values[b] is not None})
        row["pad"] = {"left": columns[0], "right": width - 1 - columns[-1]}
        row["ids"] = ids[b][columns].tolist()
        if positions is not None:
            row["pos"] = positions[b][columns].tolist()
        for name, array in arrays.items():
            first = width - array.shape[1]
            values = array[b].tolist()
            there = [values[column - first] if column >= first else None for column in columns]
            if name in FLAGS:
                row[name] = [int(bool(value)) for value in there]
            else:
                row[name] = [None if value is None else number(value) for value in there]
        found.append(without_fillers(row))
    return found


def without_fillers(row):
    """Log-probs of 0 stand where nothing was scored: in a prompt, or at the tokens of a tool.

    At a token of the policy 0 is a log-prob, that of a token which it was sure of.
    """
    policy = row.get("sampled", row.get("mask"))
    for name, values in row.items():
        if policy and name.startswith("lp_"):
            row[name] = [None if value == 0 and not flag else value for value, flag in zip(values, policy)]
    return row


def write(found, folder, step, rank=0):
    """Writes rows of one step and rank; the reader takes the whole folder."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"tokens_step_{step}_rank_{rank}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for row in found:
            place = {"v": row["v"], "step": step, "rank": rank}
            file.write(json.dumps({**place, **row}, allow_nan=False, separators=(",", ":")) + "\n")
    return path
