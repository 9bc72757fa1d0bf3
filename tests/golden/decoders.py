"""Goldens of decoders: float64 log-probs and entropies of the models of tests/model/random_decoder.ts, by numpy alone.

    deno run -A tests/model/random_decoder.ts FOLDER && python3 tests/golden/decoders.py FOLDER > tests/golden/decoders.json
"""
import json
import pathlib
import struct
import sys

import numpy as np


def tensors_of(path):
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        words = np.frombuffer(data[begin:end], np.uint16).astype(np.uint32) << 16
        found[name] = words.view(np.float32).astype(np.float64).reshape(entry["shape"])
    return found


def frequencies(config):
    half = config["head_dim"] // 2
    plain = config["rope_theta"] ** (-np.arange(half) / half)
    rope = config.get("rope_scaling", {})
    kind = rope.get("rope_type", rope.get("type"))
    if kind == "linear":
        return plain / rope["factor"]
    if kind != "llama3":
        return plain
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    turns = rope["original_max_position_embeddings"] * plain / (2 * np.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return plain * (kept + (1 - kept) / rope["factor"])


def log_probs(config, weights, ids):
    """[T, V] of every next token."""
    length, head, epsilon = len(ids), config["head_dim"], config["rms_norm_eps"]
    angle = np.outer(np.arange(length), frequencies(config))[:, None, :]
    group = config["num_attention_heads"] // config["num_key_value_heads"]

    def norm(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * weights[name + ".weight"]

    def linear(x, name):
        return x @ weights[name + ".weight"].T + weights.get(name + ".bias", 0)

    def heads(x, layer, letter):
        y = linear(x, f"{layer}.self_attn.{letter}_proj").reshape(length, -1, head)
        gain = f"{layer}.self_attn.{letter}_norm"
        if gain + ".weight" in weights:
            y = norm(y, gain)
        a, b = y[..., : head // 2], y[..., head // 2 :]
        turned = (a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle))
        return np.concatenate(turned, -1)

    x = weights["model.embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        y = norm(x, layer + ".input_layernorm")
        q, k = heads(y, layer, "q"), heads(y, layer, "k").repeat(group, 1)
        v = linear(y, layer + ".self_attn.v_proj").reshape(length, -1, head).repeat(group, 1)
        scores = np.einsum("ihk,jhk->hij", q, k) / np.sqrt(head)
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        o = np.einsum("hij,jhk->ihk", p, v).reshape(length, -1)
        x = x + linear(o, layer + ".self_attn.o_proj")
        y = norm(x, layer + ".post_attention_layernorm")
        gate = linear(y, layer + ".mlp.gate_proj")
        y = gate / (1 + np.exp(-gate)) * linear(y, layer + ".mlp.up_proj")
        x = x + linear(y, layer + ".mlp.down_proj")
    head_weight = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    logits = norm(x, "model.norm") @ head_weight.T
    z = logits - logits.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def sequences(vocabulary):
    """As sequencesOf in random_decoder.ts."""
    return [
        [(7919 * (b + 1) * (t + 3) ** 2 + 31 * t) % vocabulary for t in range(length)]
        for b, length in enumerate([23, 9, 1, 40, 2])
    ]


def main():
    goldens = {}
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        config = json.loads((folder / "config.json").read_text())
        if config["vocab_size"] > 1000:
            continue
        weights = tensors_of(folder / "model.safetensors")
        rows = []
        for ids in sequences(config["vocab_size"]):
            logp = log_probs(config, weights, ids)[:-1]
            entropy = -(np.exp(logp) * logp).sum(-1)
            chosen = [logp[t, token] for t, token in enumerate(ids[1:])]
            rows.append({"logp": np.round(chosen, 8).tolist(), "entropy": np.round(entropy, 8).tolist()})
        goldens[folder.name] = rows
    print(json.dumps(goldens))


main()
