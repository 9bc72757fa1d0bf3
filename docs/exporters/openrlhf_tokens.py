"""OpenRLHF: writes experiences as the common dump.

    from openrlhf_tokens import dump
    dump(experiences, "tokens", step=global_step)    # what make_experience_batch answers, before the update

Put this file and common_dump.py beside your script. Written from OpenRLHF's sources of August 2026 and tested
on objects of the same fields, not on OpenRLHF itself.
"""

from common_dump import number, rows, write


def experience_rows(experience, groups):
    """Rows of one Experience. groups: prompt -> its number, filled here; samples of one prompt are a group."""
    prompts = getattr(experience, "prompts", None) or None
    if prompts is not None:
        prompts = [str(groups.setdefault(prompt, len(groups))) for prompt in prompts]

    def per_sample(name, read):
        values = getattr(experience, name, None)
        return None if values is None else [read(value) for value in values]

    return rows(
        experience.sequences,
        experience.attention_mask,
        arrays={
            "mask": experience.action_mask,
            "lp_sampler": getattr(experience, "rollout_log_probs", None),
            "lp_old": experience.action_log_probs,
            "lp_ref": getattr(experience, "base_action_log_probs", None),
            "adv": getattr(experience, "advantages", None),
        },
        scalars={
            "group": prompts,
            "reward": per_sample("rewards", number),
            "stop": per_sample("truncated", lambda truncated: "length" if bool(truncated) else "eos"),
        },
    )


def dump(experiences, folder, step, rank=0):
    """Writes the experiences of one step."""
    groups = {}
    found = [row for experience in experiences for row in experience_rows(experience, groups)]
    return write(found, folder, step, rank)
