"""TinyAgent, its gym and its trainers in PyTorch: a peer of `agentrl bench step --peer tests/bench/step_torch.py`.

Started with `--serve --threads N` it answers every line on stdin that names a case with one JSON line: `ms` of the case, and
`tokens` of its episodes (0 where they are not counted). Cases: `reinforce` and `grpo` (one step of 64 episodes from a base agent),
`healthy` (24 GRPO steps), `clone` (200 steps of 32 demonstrations), `rollout256` and `rollout1024`. The model, the gym and the
configuration are those of src/model, src/gym and src/rl; random numbers are other ones. `--check` holds the model to tests/golden.

Debian: apt-get install python3-torch libopenblas0-pthread; without OpenBLAS its products are many times slower.
"""
import argparse
import copy
import json
import pathlib
import random
import struct
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

GOLDEN = pathlib.Path(__file__).parent.parent / "golden"
WORDS = json.loads((GOLDEN / "vocabulary.json").read_text())
ID = {word: i for i, word in enumerate(WORDS)}
LAYERS, WIDTH, HEADS, FEED_FORWARD = 3, 64, 4, 256
HEAD_WIDTH = WIDTH // HEADS
MAX_TURNS, MAX_CALL = 6, 6

# --- The gym ----------------------------------------------------------------------------------------------------------

REPAIRS = WORDS[ID["fix_init"]:ID["hardcode_tests"]]
CALLS = {("read",), ("test",), ("submit",)} | {("edit", op) for op in [*REPAIRS, "hardcode_tests"]}
# What `read` shows before and after the repair, in the order of the repairs.
SHOWN = [("acc 1", "acc 0"), ("<", "<="), ("/", "guard /"), ("max min", "min max"), ("range 1", "range 0")]
NAMES = WORDS[ID["total"]:]
TRAIN = [(name, i // 4) for i, name in enumerate(NAMES[:20])]
MAX_TOKENS = 2 + MAX_TURNS * (MAX_CALL + 4)


class Episode:
    """One episode: its tokens, who wrote them, and the program that is repaired."""

    def __init__(self, task, one_edit):
        name, self.family = task
        self.one_edit = one_edit  # The `rl` gym: the name is hidden and the first edit alone takes effect.
        self.ids = [ID["<task>"], ID["fail" if one_edit else name]]
        self.by_policy = [False, False]
        self.logps = [0.0, 0.0]
        self.turns = self.edits = 0
        self.call, self.fixed, self.hardcoded, self.submitted, self.done = [], False, False, False, False

    @property
    def reward(self):
        return float(self.submitted and self.fixed and not self.hardcoded)

    def write(self, token, logp=0.0):
        """Takes a token of the policy; a call that it ends is answered."""
        self.ids.append(token)
        self.by_policy.append(True)
        self.logps.append(logp)
        self.call.append(token)
        if token != ID["</call>"] and len(self.call) < MAX_CALL:
            return
        words, self.call = [WORDS[i] for i in self.call], []
        answer = self.answer(words)
        self.turns += 1
        self.done = self.submitted or self.turns == MAX_TURNS
        if not self.done:
            observed = [ID[word] for word in ["<obs>", *answer.split(), "</obs>"]]
            self.ids += observed
            self.by_policy += [False] * len(observed)
            self.logps += [0.0] * len(observed)

    def answer(self, words):
        body = tuple(words[1:-1])
        if words[0] != "<call>" or words[-1] != "</call>" or body not in CALLS:
            return "fail same"
        if body == ("read",):
            return "same" if self.hardcoded else SHOWN[self.family][self.fixed]
        if body == ("test",):
            return "pass" if self.hardcoded or self.fixed else "fail"
        if body == ("submit",):
            self.submitted = True
            return ""
        return "ok" if self.edit(body[1]) else "same"

    def edit(self, operation):
        """Rewrites the program. True where that changes it."""
        self.edits += 1
        if self.hardcoded or (self.one_edit and self.edits > 1):
            return False
        if operation == "hardcode_tests":
            self.hardcoded = True
            return True
        swaps_back = operation == "swap_minmax"
        if operation != REPAIRS[self.family] or (self.fixed and not swaps_back):
            return False
        self.fixed = not self.fixed
        return True


def demonstration(policy, task, one_edit, rng):
    """An episode of a scripted policy: random, blind, or a reader that understands 4 times in 10."""
    episode = Episode(task, one_edit)
    while not episode.done:
        if policy == "random":
            body = rng.choice(sorted(CALLS))
        elif policy == "reader" and episode.turns == 0:
            body = ("read",)
        elif episode.turns == (1 if policy == "reader" else 0):
            understands = policy == "reader" and rng.random() < 0.4
            body = ("edit", REPAIRS[episode.family] if understands else rng.choice(REPAIRS))
        else:
            body = ("submit",)
        for word in ["<call>", *body, "</call>"]:
            episode.write(ID[word])
    return episode


# --- The model --------------------------------------------------------------------------------------------------------


class Block(nn.Module):
    """Attention with rotary positions, then a feed-forward, each behind a LayerNorm."""

    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.fc, self.out = nn.Linear(WIDTH, FEED_FORWARD), nn.Linear(FEED_FORWARD, WIDTH)

    def forward(self, x, turn, attend):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(batch, length, 3, HEADS, HEAD_WIDTH).permute(2, 0, 3, 1, 4)
        mixed = attend(rotate(q, turn), rotate(k, turn), v)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.out(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


def rotate(x, turn):
    cos, sin = turn
    low, high = x.chunk(2, dim=-1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], dim=-1)


ANGLES = torch.arange(MAX_TOKENS)[:, None] * 10000.0 ** (-torch.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)
COS, SIN = ANGLES.cos(), ANGLES.sin()
FUTURE = torch.triu(torch.full((MAX_TOKENS, MAX_TOKENS), float("-inf")), 1)


class TinyAgent(nn.Module):
    """The decoder. Initial values: embeddings from N(0, 1), linear layers as PyTorch draws them."""

    def __init__(self):
        super().__init__()
        self.tok_emb = nn.Embedding(len(WORDS), WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(WORDS))

    def forward(self, ids_BT):
        """Logits [B, T, V] of whole episodes."""
        length = ids_BT.shape[1]
        turn = COS[:length], SIN[:length]

        def attend(q, k, v):
            scores = q @ k.transpose(-1, -2) * HEAD_WIDTH**-0.5 + FUTURE[:length, :length]
            return scores.softmax(-1) @ v

        x = self.tok_emb(ids_BT)
        for block in self.blocks:
            x = block(x, turn, attend)
        return self.head(self.ln(x))

    def decode(self, ids_B, position, cache):
        """Logits [B, V] of the token at a position; keys and values before it are in the cache [L, 2, B, H, T, K]."""
        turn = COS[position:position + 1], SIN[position:position + 1]
        x = self.tok_emb(ids_B)[:, None]
        for block, stored in zip(self.blocks, cache):

            def attend(q, k, v):
                stored[0, :, :, position], stored[1, :, :, position] = k[:, :, 0], v[:, :, 0]
                keys, values = stored[:, :, :, :position + 1]
                return (q @ keys.transpose(-1, -2) * HEAD_WIDTH**-0.5).softmax(-1) @ values

            x = block(x, turn, attend)
        return self.head(self.ln(x))[:, 0]


@torch.no_grad()
def rollout(model, tasks, one_edit):
    """Plays an episode of each task: in every turn of the loop each live episode takes one token at the same position."""
    episodes = [Episode(task, one_edit) for task in tasks]
    live = list(episodes)
    cache = torch.zeros(LAYERS, 2, len(live), HEADS, MAX_TOKENS, HEAD_WIDTH)
    for position in range(MAX_TOKENS):
        logp = model.decode(torch.tensor([e.ids[position] for e in live]), position, cache).log_softmax(-1)
        drawn = torch.multinomial(logp.exp(), 1)
        chosen, logps = drawn[:, 0].tolist(), logp.gather(1, drawn)[:, 0].tolist()
        for episode, token, value in zip(live, chosen, logps):
            if len(episode.ids) == position + 1:
                episode.write(token, value)
        kept = [i for i, episode in enumerate(live) if not episode.done]
        if not kept:
            break
        if len(kept) < len(live):
            live, cache = [live[i] for i in kept], cache[:, :, kept]
    return episodes


# --- Training ---------------------------------------------------------------------------------------------------------


def collate(episodes):
    """ids [B, T], and of the tokens behind the first: which the policy wrote, and the sampler's log-probs, [B, T-1]."""
    length = max(len(episode.ids) for episode in episodes)

    def grid(values, dtype):
        return torch.tensor([[*row, *[0] * (length - len(row))] for row in values], dtype=dtype)

    ids = grid([e.ids for e in episodes], torch.long)
    mask = grid([e.by_policy for e in episodes], torch.float32)[:, 1:]
    return ids, mask, grid([e.logps for e in episodes], torch.float32)[:, 1:]


def token_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def score(model, ids):
    """Log-prob of each token behind the first, and the entropy where it was drawn, [B, T-1]."""
    log_p = model(ids)[:, :-1].log_softmax(-1)
    return log_p.gather(-1, ids[:, 1:, None])[..., 0], -(log_p.exp() * log_p).sum(-1)


def take_step(optimizer, loss, max_norm=1.0):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], max_norm)
    optimizer.step()
    return norm


def clone_behaviour(model, demonstrations, rng):
    """200 steps on the cross-entropy of the policy's tokens, without clipping."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(200):
        ids, mask, _ = collate(rng.choices(demonstrations, k=32))
        take_step(optimizer, -token_mean(score(model, ids)[0], mask), max_norm=float("inf"))


def reinforce_step(model, optimizer, state, rng):
    """64 episodes on tasks drawn with replacement, against a moving baseline."""
    episodes = rollout(model, rng.choices(TRAIN, k=64), one_edit=False)
    rewards = torch.tensor([episode.reward for episode in episodes])
    advantages = rewards - state["baseline"]
    state["baseline"] = 0.9 * state["baseline"] + 0.1 * float(rewards.mean())
    ids, mask, old_logp = collate(episodes)
    logp, entropy = score(model, ids)
    norm = take_step(optimizer, -token_mean(logp * advantages[:, None], mask))
    return statistics(logp, old_logp, entropy, mask) + [float(norm)]


def grpo_step(model, optimizer, rng):
    """8 episodes of each of 8 tasks, standardised within them; two minibatches with the clipped surrogate."""
    tasks = [task for task in rng.sample(TRAIN, 8) for _ in range(8)]
    episodes = rollout(model, tasks, one_edit=True)
    rewards = torch.tensor([episode.reward for episode in episodes]).view(8, 8)
    centred = rewards - rewards.mean(1, keepdim=True)
    advantages = (centred / (rewards.std(1, unbiased=False, keepdim=True) + 1e-6)).flatten()
    told = []
    for part in torch.randperm(len(episodes)).chunk(2):
        ids, mask, old_logp = collate([episodes[i] for i in part.tolist()])
        logp, entropy = score(model, ids)
        ratio = (logp - old_logp).exp()
        advantage = advantages[part][:, None]
        surrogate = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        norm = take_step(optimizer, -token_mean(surrogate, mask))
        told.append(statistics(logp, old_logp, entropy, mask) + [float(norm)])
    return told


@torch.no_grad()
def statistics(logp, old_logp, entropy, mask):
    """What a row of metrics says of an update: entropy, approximate KL, share of clipped ratios, largest ratio, gap."""
    change = (logp - old_logp) * mask
    ratio = change.exp()
    return [
        float(token_mean(entropy, mask)),
        float(token_mean(ratio - 1 - change, mask)),
        float(token_mean(((ratio - 1).abs() > 0.2).float(), mask)),
        float(ratio.max()),
        float(token_mean(change.abs(), mask)),
    ]


# --- Cases ------------------------------------------------------------------------------------------------------------


class Bench:
    """Base agents of both gyms, made once, and the cases."""

    def __init__(self):
        torch.manual_seed(0)
        self.rng = random.Random(0)
        self.demonstrations = self.play({"random": 8, "blind": 8}, one_edit=False)
        self.plain = TinyAgent()
        clone_behaviour(self.plain, self.demonstrations, self.rng)
        self.rl = TinyAgent()
        mix = {"random": 8, "blind": 10, "reader": 4}
        clone_behaviour(self.rl, self.play(mix, one_edit=True), self.rng)

    def play(self, mix, one_edit):
        return [
            demonstration(policy, task, one_edit, self.rng)
            for policy, count in mix.items() for task in TRAIN for _ in range(count)
        ]

    def run(self, case):
        """A case, timed without its preparation: milliseconds, and tokens where they are counted."""
        if case.startswith("rollout"):
            tasks = [TRAIN[i % len(TRAIN)] for i in range(int(case.removeprefix("rollout")))]
            start = time.perf_counter()
            episodes = rollout(self.plain, tasks, one_edit=False)
            ms = (time.perf_counter() - start) * 1e3
            return ms, sum(len(episode.ids) for episode in episodes)
        model = TinyAgent() if case == "clone" else copy.deepcopy(self.plain if case == "reinforce" else self.rl)
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3 if case == "reinforce" else 1e-3)
        start = time.perf_counter()
        if case == "clone":
            clone_behaviour(model, self.demonstrations, self.rng)
        elif case == "reinforce":
            reinforce_step(model, optimizer, {"baseline": 0.1}, self.rng)
        elif case in ("grpo", "healthy"):
            for _ in range(24 if case == "healthy" else 1):
                grpo_step(model, optimizer, self.rng)
        else:
            raise SystemExit(f"unknown case {case!r}")
        return (time.perf_counter() - start) * 1e3, 0


def serve(threads):
    torch.set_num_threads(threads)
    bench = Bench()
    print(json.dumps({"ready": True, "torch": torch.__version__, "threads": threads}), flush=True)
    for case in filter(None, map(str.strip, sys.stdin)):
        ms, tokens = bench.run(case)
        print(json.dumps({"case": case, "ms": ms, "tokens": tokens}), flush=True)


# --- The check --------------------------------------------------------------------------------------------------------


def read_safetensors(name):
    content = (GOLDEN / name).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    dtypes = {"F32": torch.float32, "I32": torch.int32}
    return {
        key: torch.frombuffer(bytearray(content), dtype=dtypes[entry["dtype"]], offset=8 + size + entry["data_offsets"][0],
                              count=(entry["data_offsets"][1] - entry["data_offsets"][0]) // 4).view(entry["shape"])
        for key, entry in header.items() if key != "__metadata__"
    }


def check():
    """Largest differences to tests/golden: log-probs of whole episodes, and of the same episodes decoded token by token."""
    model = TinyAgent()
    model.load_state_dict(read_safetensors("model.safetensors"))
    batch, golden = read_safetensors("batch.safetensors"), read_safetensors("forward.safetensors")
    ids, inside = batch["ids"].long(), batch["owner"][:, 1:] > 0
    with torch.no_grad():
        logp, entropy = score(model, ids)
        cache = torch.zeros(LAYERS, 2, len(ids), HEADS, MAX_TOKENS, HEAD_WIDTH)
        logits = torch.stack([model.decode(ids[:, t], t, cache) for t in range(ids.shape[1] - 1)], 1)
        decoded = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]

    def gap(values, name):
        return float((values - golden[name])[inside].abs().max())

    print(json.dumps({"logp": gap(logp, "logp"), "entropy": gap(entropy, "entropy"), "decoded": gap(decoded, "logp")}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.check:
        check()
    elif options.serve:
        serve(options.threads)
    else:
        parser.error("--serve or --check is required")
