"""Scoring in PyTorch as a peer of `agentrl bench score --peer tests/bench/score_torch.py`.

Started with `--serve --threads N` it answers every line `score SHAPE TOKENS f32|bf16` on stdin with one JSON line: `ms` of a
forward from ids to log-probs and entropies, `tokens`, `logp` of each token, and `peakBytes` that PyTorch's allocator held at
once beyond the weights. Shapes, ids and weights are those of src/bench/score.ts and src/bench/random_decoder.ts, value by
value; `bf16` computes in bf16 what PyTorch computes in it, with log-softmax in f32. The first question about a case is its
warm-up, under a profiler. A dtype's weights stay in memory from the first question on.
"""
import argparse
import json
import os
import sys
import time

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

# V, D, layers, heads, groups, head width, F.
SHAPES = {
    "qwen2.5-0.5b": (151936, 896, 24, 14, 2, 64, 4864),
    "small": (4096, 64, 2, 4, 2, 16, 128),
}
THETA, EPSILON = 1e6, 1e-6
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
# Rows whose logits are held at once: those of all would take longer to hand out than to fill.
LOGIT_ROWS = 128
CHUNK = 2**22


def seed_of(name):
    value = 2166136261
    for character in name.encode():
        value = ((value ^ character) * 16777619) & 0xFFFFFFFF
    return value


def random_weight(name, shape, spread, offset=0.0):
    """Uniform around the offset, rounded to bf16, by the counter of each value."""
    count = int(np.prod(shape))
    words = torch.empty(count, dtype=torch.int16)
    for begin in range(0, count, CHUNK):
        end = min(begin + CHUNK, count)
        x = (np.arange(begin, end, dtype=np.uint64) + seed_of(name)).astype(np.uint32)
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
        x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
        x = x ^ (x >> np.uint32(16))
        bits = (offset + spread * (x / 2**31 - 1)).astype(np.float32).view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
        words[begin:end] = torch.from_numpy(rounded.astype(np.uint16).view(np.int16))
    return words.view(torch.bfloat16).view(*shape)


class Model:
    """Qwen2 with random weights of one dtype."""

    def __init__(self, shape, dtype):
        self.shape = V, D, L, H, G, K, F = SHAPES[shape]
        self.dtype = dtype

        def matrix(name, rows, columns):
            return random_weight(name, (rows, columns), 3**0.5 / columns**0.5).to(dtype)

        def vector(name, length):
            is_bias = name.endswith(".bias")
            return random_weight(name, (length,), 0.3 if is_bias else 0.2, 0.0 if is_bias else 1.0).to(dtype)

        def stack(make, prefix, names, suffix, rows, *rest):
            return torch.cat([make(f"{prefix}.{name}{suffix}", count, *rest) for name, count in zip(names, rows)])

        self.table = random_weight("model.embed_tokens.weight", (V, D), 0.7).to(dtype)
        self.layers = []
        for layer in range(L):
            name = f"model.layers.{layer}"
            attention = (f"{name}.self_attn", ("q_proj", "k_proj", "v_proj"))
            rows = (H * K, G * K, G * K)
            self.layers.append({
                "norm1": vector(f"{name}.input_layernorm.weight", D),
                "norm2": vector(f"{name}.post_attention_layernorm.weight", D),
                "qkv": stack(matrix, *attention, ".weight", rows, D),
                "qkv_bias": stack(vector, *attention, ".bias", rows),
                "o": matrix(f"{name}.self_attn.o_proj.weight", D, H * K),
                "gate_up": stack(matrix, f"{name}.mlp", ("gate_proj", "up_proj"), ".weight", (F, F), D),
                "down": matrix(f"{name}.mlp.down_proj.weight", D, F),
            })
        self.norm = vector("model.norm.weight", D)

    def rmsnorm(self, x, gain):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(self.dtype) * gain

    def turn(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    @torch.no_grad()
    def score(self, ids):
        """Log-prob and entropy of every id after the first."""
        _, D, _, H, G, K, F = self.shape
        T = len(ids) - 1
        angles = torch.arange(T, dtype=torch.float64)[:, None] * THETA ** (
            -2 * torch.arange(K // 2, dtype=torch.float64) / K
        )
        cos, sin = angles.cos()[None].to(self.dtype), angles.sin()[None].to(self.dtype)
        mask = torch.full((T, T), float("-inf")).triu(1)
        x = self.table[ids[:-1]]
        for w in self.layers:
            qkv = torch.addmm(w["qkv_bias"], self.rmsnorm(x, w["norm1"]), w["qkv"].t())
            q, k, v = (part.view(T, -1, K).transpose(0, 1) for part in qkv.split([H * K, G * K, G * K], 1))
            q = self.turn(q, cos, sin).reshape(G, H // G * T, K)
            k = self.turn(k, cos, sin)
            scores = (q @ k.transpose(1, 2)).float().view(G, H // G, T, T) / K**0.5 + mask
            weights = torch.softmax(scores, -1).to(self.dtype).view(G, H // G * T, T)
            o = (weights @ v).view(H, T, K).transpose(0, 1).reshape(T, H * K)
            x = x + o @ w["o"].t()
            gate, up = (self.rmsnorm(x, w["norm2"]) @ w["gate_up"].t()).split([F, F], 1)
            x = x + (torch.nn.functional.silu(gate) * up) @ w["down"].t()
        h = self.rmsnorm(x, self.norm)
        logp, entropy = torch.empty(T), torch.empty(T)
        for begin in range(0, T, LOGIT_ROWS):
            rows = slice(begin, begin + LOGIT_ROWS)
            log_p = torch.log_softmax((h[rows] @ self.table.t()).float(), -1)
            logp[rows] = log_p.gather(1, ids[1:][rows, None])[:, 0]
            entropy[rows] = -(log_p.exp() * log_p).sum(-1)
        return logp, entropy


def peak_bytes(profiler):
    """The most that was allocated at once while the profiler ran, beyond what was there before."""
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    events.sort(key=lambda e: e.start_ns() if hasattr(e, "start_ns") else e.start_us())
    held = peak = 0
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak


class Cases:
    """Models by shape and dtype, and what was found out about each case at its first question."""

    def __init__(self):
        self.models, self.facts = {}, {}

    def answer(self, line):
        _, shape, tokens, dtype = line.split()
        if (shape, dtype) not in self.models:
            self.models[shape, dtype] = Model(shape, DTYPES[dtype])
        model, count = self.models[shape, dtype], int(tokens)
        ids = torch.tensor([(7919 * (t + 3) ** 2) % model.shape[0] for t in range(count + 1)])
        if line not in self.facts:
            with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
                logp, _ = model.score(ids)
            self.facts[line] = {"logp": logp.tolist(), "peakBytes": peak_bytes(profiler)}
        start = time.perf_counter()
        model.score(ids)
        ms = (time.perf_counter() - start) * 1e3
        return {"case": line, "ms": ms, "tokens": count, **self.facts[line]}


def serve(threads):
    torch.set_num_threads(threads)
    print(json.dumps({"ready": True, "torch": torch.__version__, "threads": threads}), flush=True)
    cases = Cases()
    for line in map(str.strip, sys.stdin):
        print(json.dumps(cases.answer(line)), flush=True)


if __name__ == "__main__":
    # Large pages for large tensors, as logprob_torch.py says; glibc reads this when a program starts.
    if "GLIBC_TUNABLES" not in os.environ:
        os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", action="store_true", required=True)
    parser.add_argument("--threads", type=int, default=1)
    serve(parser.parse_args().threads)
