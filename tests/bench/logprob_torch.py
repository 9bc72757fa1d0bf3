"""PyTorch's log_softmax, gather and entropy as a peer of `agentrl bench logprob --peer tests/bench/logprob_torch.py`.

Started with `--serve --threads N` it answers every line on stdin that names a case, `logprob60` for a vocabulary of 60, with
one JSON line: `ms` of a forward and backward, `forwardMs` of the forward alone, `tokens`, `peakBytes` that PyTorch's
allocator held at once beyond inputs and outputs, and the largest `errors` against its own float64. The first question about
a case is its warm-up: peak and errors are measured there, under a profiler, and repeated afterwards. Sizes and distributions are those of
src/bench/logprob.ts; the numbers are other ones.
"""
import argparse
import json
import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

ROWS, WIDTH = 2048, 64
# Rows times entries that are computed again in float64.
CHECKED_ENTRIES = 2**21
# Passes are repeated for at least this time, and their mean counts.
SAMPLE_S = 0.02


def forward(h, weight, bias, targets):
    """Log-prob of each row's target, and the entropy of each row; logits are [N, V]."""
    log_p = torch.log_softmax(torch.addmm(bias, h, weight.t()), dim=-1)
    return log_p.gather(1, targets[:, None])[:, 0], -(log_p.exp() * log_p).sum(-1)


class Case:
    """One vocabulary: inputs, what was found out at the first question, and timed passes."""

    def __init__(self, vocabulary):
        generator = torch.Generator().manual_seed(0)

        def uniform(*shape, scale):
            return (torch.rand(*shape, generator=generator) * 2 - 1) * scale

        self.inputs = [
            uniform(ROWS, WIDTH, scale=3**0.5),
            uniform(vocabulary, WIDTH, scale=2 / WIDTH**0.5),
            uniform(vocabulary, scale=2 / WIDTH**0.5),
        ]
        for tensor in self.inputs:
            tensor.requires_grad_()
        self.targets = torch.randint(vocabulary, (ROWS,), generator=generator)
        self.gradients = [uniform(ROWS, scale=1), uniform(ROWS, scale=1)]
        self.facts = self.check(vocabulary)

    def time(self):
        """Mean milliseconds of a forward, and of a forward and its backward."""
        forward_s, both_s, passes = 0, 0, 0
        while passes == 0 or both_s < SAMPLE_S:
            _, first_s, all_s = self.run(self.gradients)
            forward_s, both_s, passes = forward_s + first_s, both_s + all_s, passes + 1
        return forward_s * 1e3 / passes, both_s * 1e3 / passes

    def run(self, gradients):
        """A forward and a backward: results, seconds of the forward, seconds of both."""
        for tensor in self.inputs:
            tensor.grad = None
        start = time.perf_counter()
        results = forward(*self.inputs, self.targets)
        middle = time.perf_counter()
        torch.autograd.backward(results, gradients)
        end = time.perf_counter()
        return [result.detach() for result in results], middle - start, end - start

    def check(self, vocabulary):
        """Peak memory and errors of a loss over a sample of rows, whose share of the gradients float64 can compute."""
        count = min(ROWS, max(2, CHECKED_ENTRIES // vocabulary))
        rows = torch.linspace(0, ROWS - 1, count).round().long()
        mask = torch.zeros(ROWS).index_fill_(0, rows, 1.0)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            results, forward_s, both_s = self.run([gradient * mask for gradient in self.gradients])
        self.warm_up_ms = forward_s * 1e3, both_s * 1e3
        outputs = [*results, *(tensor.grad for tensor in self.inputs)]
        output_bytes = sum(4 * tensor.numel() for tensor in outputs)

        h, weight, bias = (tensor.detach().double() for tensor in self.inputs)
        exact_inputs = [tensor.requires_grad_() for tensor in (h[rows], weight, bias)]
        exact = forward(*exact_inputs, self.targets[rows])
        torch.autograd.backward(exact, [gradient[rows].double() for gradient in self.gradients])
        dh, dweight, dbias = (tensor.grad for tensor in exact_inputs)
        head = max(dweight.abs().max(), dbias.abs().max())
        found = [tensor.grad for tensor in self.inputs]
        head_error = max((found[1] - dweight).abs().max(), (found[2] - dbias).abs().max())
        errors = {
            "logp": (results[0][rows] - exact[0]).abs().max(),
            "entropy": (results[1][rows] - exact[1]).abs().max(),
            "dh": (found[0][rows] - dh).abs().max() / dh.abs().max(),
            "dhead": head_error / head,
        }
        return {
            "peakBytes": peak_bytes(profiler) - output_bytes,
            "errors": {name: float(error) for name, error in errors.items()},
        }


def peak_bytes(profiler):
    """The most that was allocated at once while the profiler ran, beyond what was there before."""
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    events.sort(key=lambda e: e.start_ns() if hasattr(e, "start_ns") else e.start_us())
    held = peak = 0
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def serve(threads):
    torch.set_num_threads(threads)
    print(json.dumps({"ready": True, "torch": torch.__version__, "threads": threads}), flush=True)
    name, case = "", None
    for line in map(str.strip, sys.stdin):
        if line == name:
            forward_ms, both_ms = case.time()
        else:
            case = None  # Frees the case before.
            name, case = line, Case(int(line.removeprefix("logprob")))
            forward_ms, both_ms = case.warm_up_ms
        answer = {"case": name, "ms": both_ms, "forwardMs": forward_ms, "tokens": ROWS}
        print(json.dumps({**answer, **case.facts}), flush=True)


if __name__ == "__main__":
    # Large pages for large tensors: with small ones the system takes up to ten times as long to hand out gigabytes as
    # PyTorch takes to fill them. glibc reads this when a program starts.
    if "GLIBC_TUNABLES" not in os.environ:
        os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", action="store_true", required=True)
    parser.add_argument("--threads", type=int, default=1)
    serve(parser.parse_args().threads)
