"""Calls each exporter of docs/exporters with objects of its framework's fields, built from sequences that are known.

    python exporters.py EXPORTERS OUT

writes OUT/NAME/dump/… with the exporter and OUT/NAME/truth.jsonl by hand; the caller reads and compares both.
"""

import json
import os
import sys
from types import SimpleNamespace

import torch

sys.path.insert(0, sys.argv[1])
import openrlhf_tokens  # noqa: E402
import skyrl_tokens  # noqa: E402
import slime_tokens  # noqa: E402
import trl_tokens  # noqa: E402
import verl_tokens  # noqa: E402

PAD = 0
STEP = 3

# Prompt, answer, and for each token of the answer: trained, log-probs of sampler, old policy and reference. All numbers are
# exact in float32; the third sample has a tool's tokens inside, the fourth a NaN.
SAMPLES = [
    {"prompt": [5, 6], "answer": [7, 2], "mask": [1, 1], "group": 0, "reward": 1.0, "adv": 0.5},
    {"prompt": [5, 6], "answer": [8, 9, 2], "mask": [1, 1, 1], "group": 0, "reward": 0.0, "adv": -0.5},
    {"prompt": [5], "answer": [7, 3, 3, 2], "mask": [1, 0, 0, 1], "group": 1, "reward": 1.0, "adv": 0.25},
    {"prompt": [5], "answer": [9], "mask": [1], "group": 1, "reward": 0.5, "adv": -0.25},
]
for number, sample in enumerate(SAMPLES):
    length = len(sample["answer"])
    for side, first in (("sampler", -0.5), ("old", -0.625), ("ref", -1.0)):
        sample[side] = [first - 0.125 * (number + i) for i in range(length)]
SAMPLES[3]["old"] = [float("nan")]
# A token that the policy was sure of, and tokens of a tool, at which nothing was sampled.
SAMPLES[1]["sampler"][1] = 0.0
SAMPLES[2]["sampler"][1] = SAMPLES[2]["sampler"][2] = 0.0

PROMPT_WIDTH = max(len(sample["prompt"]) for sample in SAMPLES) + 1
ANSWER_WIDTH = max(len(sample["answer"]) for sample in SAMPLES) + 2


def left(values, width, filler=0):
    return [filler] * (width - len(values)) + list(values)


def right(values, width, filler=0):
    return list(values) + [filler] * (width - len(values))


def table(lists, width, place=right):
    return torch.tensor([place(values, width) for values in lists])


def answers(key):
    return table([sample[key] for sample in SAMPLES], ANSWER_WIDTH)


def token_advantages():
    return table([[sample["adv"]] * len(sample["answer"]) for sample in SAMPLES], ANSWER_WIDTH)


IDS = torch.cat([table([s["prompt"] for s in SAMPLES], PROMPT_WIDTH, left), answers("answer")], dim=1)
ATTENTION = torch.tensor(
    [left([1] * len(s["prompt"]), PROMPT_WIDTH) + right([1] * len(s["answer"]), ANSWER_WIDTH) for s in SAMPLES]
)


def value(number):
    return "NaN" if number != number else number


def log_probs(sample, side):
    """Of the tokens of the answer as they should be."""
    pairs = zip(sample[side], sample["mask"])
    return [None if number == 0 and not trained else value(number) for number, trained in pairs]


def truth(**fields):
    """Rows as they should be. fields: name in the dump -> a function of the sample and its number, or None."""
    found = []
    for number, sample in enumerate(SAMPLES):
        prompt = len(sample["prompt"])
        row = {
            "v": 1,
            "step": STEP,
            "rank": 0,
            "pad": {
                "left": PROMPT_WIDTH - prompt,
                "right": ANSWER_WIDTH - len(sample["answer"]),
            },
            "ids": sample["prompt"] + sample["answer"],
            "mask": [0] * prompt + sample["mask"],
        }
        for side, name in (("sampler", "lp_sampler"), ("old", "lp_old"), ("ref", "lp_ref")):
            row[name] = [None] * prompt + log_probs(sample, side)
        row["adv"] = [None] * prompt + [sample["adv"]] * len(sample["answer"])
        row["reward"] = sample["reward"]
        row["group"] = str(sample["group"])
        for name, read in fields.items():
            if read is None:
                row.pop(name)
            else:
                row[name] = read(sample, number)
        found.append(row)
    return found


def of_trl(folder):
    """Through the trainer's own method: what the base class answers, the exporter has to take in passing."""

    def answer(trained):
        return {
            "prompt_ids": IDS[:, :PROMPT_WIDTH],
            "prompt_mask": ATTENTION[:, :PROMPT_WIDTH],
            "completion_ids": IDS[:, PROMPT_WIDTH:],
            # mask_truncated_completions has cleared the last row.
            "completion_mask": ATTENTION[:, PROMPT_WIDTH:] * torch.tensor([[1], [1], [1], [0]]),
            "tool_mask": trained,
            "advantages": torch.tensor([sample["adv"] for sample in SAMPLES]),
            "num_items_in_batch": torch.tensor(10),
            "sampling_per_token_logps": answers("sampler"),
            "old_per_token_logps": answers("old"),
            "ref_per_token_logps": answers("ref"),
        }

    class GRPOTrainer:
        model = SimpleNamespace(training=True)
        accelerator = SimpleNamespace(process_index=0, num_processes=1)
        state = SimpleNamespace(global_step=STEP)
        processing_class = SimpleNamespace(pad_token_id=PAD)
        num_generations = 2
        temperature, top_p = 0.75, 1.0
        reward_weights = torch.tensor([1.0, 2.0])
        _logs = {
            "rewards": {
                # What was logged before this batch is in front.
                "tests": [9.0] + [sample["reward"] for sample in SAMPLES],
                "style": [9.0, 0.0, float("nan"), 0.0, 0.0],
            }
        }

        def _generate_and_score_completions(self, inputs):
            return answer(answers("mask"))

    class Trainer(trl_tokens.TokenDump, GRPOTrainer):
        token_folder = folder

    trainer = Trainer()
    output = trainer._generate_and_score_completions([])
    assert output["advantages"].shape == (4,)
    trainer.model.training = False
    trainer.state.global_step = 99
    trainer._generate_and_score_completions([])  # An evaluation leaves no file.

    def mask(sample, number):
        return [0] * len(sample["prompt"]) + ([0] if number == 3 else sample["mask"])

    def sampled(sample, number):
        return [0] * len(sample["prompt"]) + sample["mask"]

    return truth(
        mask=mask,
        sampled=sampled,
        adv=lambda sample, number: sample["adv"],
        group=lambda sample, number: f"{STEP}.{sample['group']}",
        sample=lambda sample, number: f"{STEP}.{number}",
        reward_parts=lambda sample, number: {
            "tests": sample["reward"],
            "style": "NaN" if number == 1 else 0.0,
        },
        temp=lambda sample, number: 0.75,
        top_p=lambda sample, number: 1.0,
    )


class Proto(SimpleNamespace):
    """A DataProto."""


def positions():
    return (ATTENTION.cumsum(dim=1) - 1).clamp(min=0)


def own_positions(sample, number):
    return list(range(len(sample["prompt"]) + len(sample["answer"])))


def of_verl(folder):
    scores = torch.zeros(len(SAMPLES), ANSWER_WIDTH)
    for b, sample in enumerate(SAMPLES):
        scores[b, len(sample["answer"]) - 1] = sample["reward"]
    batch = {
        "input_ids": IDS,
        "attention_mask": ATTENTION,
        "position_ids": positions(),
        "responses": IDS[:, PROMPT_WIDTH:],
        "response_mask": answers("mask"),
        "rollout_log_probs": answers("sampler"),
        "old_log_probs": answers("old"),
        "ref_log_prob": answers("ref"),
        "advantages": token_advantages(),
        "token_level_scores": scores,
    }
    others = {"uid": [sample["group"] for sample in SAMPLES]}
    verl_tokens.dump(Proto(batch=batch, non_tensor_batch=others, meta_info={"temperature": 0.5}), folder, STEP)
    return truth(pos=own_positions, temp=lambda sample, number: 0.5)


def of_roll(folder):
    """Arrays one shorter than the ids, and a mask as long."""
    width = PROMPT_WIDTH + ANSWER_WIDTH
    prompt = torch.zeros(len(SAMPLES), PROMPT_WIDTH)

    def shifted(array):
        return torch.cat([prompt[:, 1:], array], dim=1)

    batch = {
        "input_ids": IDS,
        "attention_mask": ATTENTION,
        # Of a model for images.
        "position_ids": positions()[:, None, :].expand(-1, 3, -1),
        "response_mask": torch.cat([prompt, answers("mask")], dim=1),
        "infer_logprobs": shifted(answers("sampler")),
        "old_log_probs": shifted(answers("old")),
        "ref_log_probs": shifted(answers("ref")),
        "advantages": shifted(token_advantages()),
        "response_level_rewards": torch.tensor([sample["reward"] for sample in SAMPLES]),
    }
    assert batch["old_log_probs"].shape[1] == width - 1
    others = {"traj_group_id": [sample["group"] for sample in SAMPLES]}
    verl_tokens.dump(Proto(batch=batch, non_tensor_batch=others, meta_info={}), folder, STEP)

    def advantages(sample, number):
        prompt = len(sample["prompt"])
        return [0.0] * prompt + [sample["adv"]] * len(sample["answer"])

    # Padding stands on the left, so that even the first token has a column.
    assert PROMPT_WIDTH > max(len(sample["prompt"]) for sample in SAMPLES)
    return truth(adv=advantages)


def of_slime(folder):
    statuses = ["completed", "truncated", "aborted", "completed"]
    samples = [
        {
            "group_index": sample["group"],
            "index": 10 + number,
            "tokens": sample["prompt"] + sample["answer"],
            "response_length": len(sample["answer"]),
            "reward": sample["reward"],
            "loss_mask": sample["mask"],
            "rollout_log_probs": sample["sampler"],
            "weight_versions": ["7", "7"] if number == 0 else ["7", "8"],
            "status": statuses[number],
            "remove_sample": number == 1,
        }
        for number, sample in enumerate(SAMPLES)
    ]
    new = [
        {
            "sample_index": 10 + number,
            "log_probs": torch.tensor(sample["old"]),
            "ref_log_probs": torch.tensor(sample["ref"]),
            "advantages": torch.tensor([sample["adv"]] * len(sample["answer"])),
        }
        for number, sample in enumerate(SAMPLES)
    ]
    names = ("log_probs", "ref_log_probs", "advantages")
    # Two forms of the trainer's dump, of two ranks, in another order than the samples.
    version2 = {"format_version": 2, "rollout_id": STEP, "rank": 0, "samples": [new[3], new[1]]}
    version1 = {
        "rollout_id": STEP,
        "rank": 1,
        "rollout_data": {
            "sample_indices": [12, 10],
            **{name: [new[2][name], new[0][name]] for name in names},
        },
    }
    paths = []
    os.makedirs(folder)
    for name, content in (("rollout", {"rollout_id": STEP, "samples": samples}), ("a", version2), ("b", version1)):
        path = os.path.join(folder, f"{name}.pt")
        torch.save(content, path)
        paths.append(path)
    loaded = [torch.load(path, map_location="cpu") for path in paths]
    from common_dump import write

    write(slime_tokens.dump_rows(loaded[0], loaded[1:]), folder, STEP)
    ends = {"completed": "eos", "truncated": "length", "aborted": "error"}
    found = truth(
        pad=None,
        mask=lambda s, n: [0] * len(s["prompt"]) + [0 if n == 1 else flag for flag in s["mask"]],
        sample=lambda sample, number: str(10 + number),
        stop=lambda sample, number: ends[statuses[number]],
        stop_text=lambda sample, number: statuses[number],
    )
    found[0]["ver"] = 7
    found[1]["sampled"] = [0, 0, 1, 1, 1]
    return found


def of_skyrl(folder):
    class TrainingInputBatch(dict):
        metadata = {"uids": [sample["group"] for sample in SAMPLES], "response_length": ANSWER_WIDTH}

    rewards = torch.zeros(len(SAMPLES), ANSWER_WIDTH)
    for b, sample in enumerate(SAMPLES):
        rewards[b, len(sample["answer"]) - 1] = sample["reward"]
    batch = TrainingInputBatch(
        sequences=IDS,
        attention_mask=ATTENTION,
        loss_mask=answers("mask"),
        response_mask=answers("mask"),
        rollout_logprobs=answers("sampler"),
        action_log_probs=answers("old"),
        base_action_log_probs=answers("ref"),
        advantages=token_advantages(),
        rewards=rewards,
        values=None,
    )
    skyrl_tokens.dump(batch, folder, STEP)
    return truth()


def of_skyrl_left(folder):
    """The later layout: one block padded on the left, arrays right-aligned to it."""
    width = max(len(sample["prompt"]) + len(sample["answer"]) for sample in SAMPLES) + 1
    answer_width = max(len(sample["answer"]) for sample in SAMPLES)

    def block(key):
        return table([sample[key] for sample in SAMPLES], answer_width, left)

    class TrainingInputBatch(dict):
        metadata = {"uids": [sample["group"] for sample in SAMPLES]}

    whole = [sample["prompt"] + sample["answer"] for sample in SAMPLES]
    batch = TrainingInputBatch(
        sequences=table(whole, width, left),
        attention_mask=table([[1] * len(ids) for ids in whole], width, left),
        loss_mask=block("mask"),
        rollout_logprobs=block("sampler"),
        action_log_probs=block("old"),
        base_action_log_probs=block("ref"),
        advantages=table([[s["adv"]] * len(s["answer"]) for s in SAMPLES], answer_width, left),
        rewards=table([[s["reward"]] for s in SAMPLES], answer_width, left),
    )
    skyrl_tokens.dump(batch, folder, STEP)

    def pad(sample, number):
        return {"left": width - len(whole[number]), "right": 0}

    def advantages(sample, number):
        # Columns of the arrays that lie under the prompt hold zeros.
        covered = min(answer_width - len(sample["answer"]), len(sample["prompt"]))
        bare = len(sample["prompt"]) - covered
        return [None] * bare + [0.0] * covered + [sample["adv"]] * len(sample["answer"])

    return truth(pad=pad, adv=advantages)


def of_openrlhf(folder):
    """Two experiences of two samples, padded on the right; arrays are one shorter than the ids."""
    width = max(len(sample["prompt"]) + len(sample["answer"]) for sample in SAMPLES) + 1

    def per_token(sample, values):
        return right([0] * (len(sample["prompt"]) - 1) + list(values), width - 1)

    def experience(samples):
        ids = [s["prompt"] + s["answer"] for s in samples]
        return SimpleNamespace(
            sequences=table(ids, width),
            attention_mask=table([[1] * len(one) for one in ids], width),
            action_mask=torch.tensor([per_token(s, s["mask"]) for s in samples]).bool(),
            rollout_log_probs=torch.tensor([per_token(s, s["sampler"]) for s in samples]),
            action_log_probs=torch.tensor([per_token(s, s["old"]) for s in samples]),
            base_action_log_probs=torch.tensor([per_token(s, s["ref"]) for s in samples]),
            advantages=torch.tensor([per_token(s, [s["adv"]] * len(s["answer"])) for s in samples]),
            rewards=torch.tensor([s["reward"] for s in samples]),
            truncated=torch.tensor([False, True]),
            prompts=[f"prompt {s['group']}" for s in samples],
        )

    # The second experience mixes prompts, so that groups have to be found across both.
    openrlhf_tokens.dump([experience(SAMPLES[:2]), experience(SAMPLES[2:])], folder, STEP)

    def advantages(sample, number):
        return [None] + [0.0] * (len(sample["prompt"]) - 1) + [sample["adv"]] * len(sample["answer"])

    return truth(
        pad=lambda s, n: {"left": 0, "right": width - len(s["prompt"]) - len(s["answer"])},
        adv=advantages,
        stop=lambda sample, number: "length" if number % 2 else "eos",
    )


for name, export in (
    ("trl", of_trl),
    ("verl", of_verl),
    ("roll", of_roll),
    ("slime", of_slime),
    ("skyrl", of_skyrl),
    ("skyrl_left", of_skyrl_left),
    ("openrlhf", of_openrlhf),
):
    folder = os.path.join(sys.argv[2], name)
    found = export(os.path.join(folder, "dump"))
    with open(os.path.join(folder, "truth.jsonl"), "w", encoding="utf-8") as file:
        for row in found:
            file.write(json.dumps(row, allow_nan=False) + "\n")
