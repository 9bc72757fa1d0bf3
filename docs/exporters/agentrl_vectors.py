"""Is your loss what you think it is? Runs agentrl's known-answer vectors through functions of your trainer.

    cli/agentrl vectors --out vectors             # writes the vectors
    python agentrl_vectors.py vectors mine.py     # prints what each function is

mine.py holds FUNCTIONS: family -> a function, or several by name. A function takes what it needs of the
vector's arrays (torch tensors) and numbers, by name, in snake case, and returns its first output, or a dict of
outputs. Gradients are taken by autograd, so nothing else is needed:

    FUNCTIONS = {"aggregation": lambda term, mask: (term * mask).sum() / mask.sum()}

    family       takes                                                             returns
    advantages   reward, group, greedy_reward, length                              advantage [B]
    kl           logp, ref_logp                                                    kl [N]
    surrogate    logp, old_logp, advantage, mask, clip_low, clip_high, ...         term [B, T]
    aggregation  term, mask, max_length                                            loss
    loss         logp, old_logp, ref_logp, advantage, mask, clip_low, ...          loss
    logprob      logits, target, temperature                                       {"logp": [N], "entropy": [N]}
    sampler      old_logp, sampler_logp, mask, cap, floor                          weight [B, T]
    gae          reward, value, mask, gamma, lambda_                               {"advantage", "return": [B, T]}
    cuts         term, mask, micro_batch, rank, max_length                         the sum of what is backpropagated

In pytest, in a file of your own:

    import agentrl_vectors
    test_my_losses = agentrl_vectors.pytest_cases("vectors", FUNCTIONS)
    test_as_said = agentrl_vectors.pytest_cases("vectors", FUNCTIONS, dialects={"aggregation": "token_mean"})

Needs Python 3.8 and torch. With arrays="lists" the arrays are nested lists and torch is not needed; gradients
are then those that a function returns itself.
"""

import argparse
import importlib.util
import inspect
import json
import math
import re
import struct
import sys
from pathlib import Path

VERSION = 1
FAMILIES = ("advantages", "kl", "surrogate", "aggregation", "loss", "logprob", "sampler", "gae", "cuts")


def softmax(given, out):
    """Both outputs of `logprob`, to which the gradient belongs: a right one stands in for what a function lacks."""
    logp = (given["logits"] / given["temperature"]).log_softmax(-1)
    right = {"logp": logp.gather(1, given["target"][:, None])[:, 0], "entropy": -(logp.exp() * logp).sum(-1)}
    return {key: out.get(key, right[key]) for key in right}


# Which output is the gradient of what: (output, the input it belongs to, what is summed up).
GRADIENTS = {
    "kl": ("dlogp", "logp", lambda out, x: out["kl"].sum()),
    "surrogate": ("dlogp", "logp", lambda out, x: out["term"].sum()),
    "aggregation": ("dterm", "term", lambda out, x: out["loss"]),
    "loss": ("dlogp", "logp", lambda out, x: out["loss"]),
    "logprob": ("dlogits", "logits", lambda out, x: sum((x[f"d{k}"] * y).sum() for k, y in softmax(x, out).items())),
    "cuts": ("dterm", "term", lambda out, x: out["loss"]),
}
# What a function that returns no dict has returned.
FIRST = {"advantages": "advantage", "kl": "kl", "surrogate": "term", "aggregation": "loss", "loss": "loss",
         "logprob": "logp", "sampler": "weight", "gae": "advantage", "cuts": "loss"}
INTEGERS = ("group", "target", "length", "micro_batch", "rank")
# Outputs that are defined under the mask alone; a right trainer may hold anything elsewhere.
UNDER_MASK = {"surrogate": ("term",), "sampler": ("weight",), "gae": ("advantage", "return")}


class VectorsError(Exception):
    """What stands in the way of a verdict, in one sentence."""


def snake(name):
    """maxLength -> max_length; lambda is a word of Python."""
    name = re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m.group(1).lower(), name)
    return name + "_" if name == "lambda" else name


def load(folder):
    """Files of vectors by family."""
    found = {}
    for path in sorted(Path(folder).glob("*.json")):
        if path.name.endswith(".schema.json"):
            continue
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise VectorsError(f"{path} is not JSON: {error}") from None
        if not isinstance(document, dict) or "vectors" not in document or "family" not in document:
            continue
        if document.get("v") != VERSION:
            raise VectorsError(
                f"{path} has version {document.get('v')} of the form, but this file reads version {VERSION}: "
                "take both from the same agentrl")
        found[document["family"]] = document
    if not found:
        raise VectorsError(f"{folder} holds no vectors: write them with `agentrl vectors --out {folder}`")
    return found


def named_functions(functions):
    """(family, name, function) of every function."""
    for family, value in functions.items():
        several = value.items() if isinstance(value, dict) else [(getattr(value, "__name__", family), value)]
        for name, function in several:
            yield family, (family if name == "<lambda>" else name), function


# --- Running -------------------------------------------------------------------------------------------------


def numbers(values):
    return [float(value) for value in values]


def nested(values, shape):
    """A flat list as lists of lists."""
    if len(shape) <= 1:
        return values[0] if len(shape) == 0 else list(values)
    step = len(values) // shape[0] if shape[0] else 0
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def arguments(vector, arrays, dtype):
    """The arrays and numbers of a vector, by name."""
    found = {snake(key): value for key, value in vector["config"].items()}
    for key, array in vector["inputs"].items():
        name, values = snake(key), numbers(array["values"])
        if name in INTEGERS:
            values = [int(value) for value in values]
        if arrays == "lists":
            found[name] = nested(values, array["shape"])
        else:
            import torch
            kind = torch.int64 if name in INTEGERS else getattr(torch, dtype)
            found[name] = torch.tensor(values, dtype=kind).reshape(array["shape"])
    return found


def accepted(function, given):
    """What the function takes of the arguments."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return given
    return {p.name: given[p.name] for p in parameters if p.name in given}


def plain(value):
    """An output as a flat list of numbers."""
    if hasattr(value, "detach"):
        return value.detach().double().reshape(-1).tolist()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [number for inner in value for number in plain(inner)]
    return [float(value)]


def run_vector(function, family, vector, arrays="torch", dtype="float32"):
    """Outputs of a function for one vector: name -> flat list."""
    given = arguments(vector, arrays, dtype)
    output, source, total = GRADIENTS.get(family, (None, None, None))
    if arrays == "torch" and source is not None:
        given[source].requires_grad_(True)
    out = function(**accepted(function, given))
    if not isinstance(out, dict):
        out = {FIRST[family]: out}
    if arrays == "torch":
        import torch
        for key in UNDER_MASK.get(family, ()):
            if key in out:
                out[key] = torch.where(given["mask"] > 0, out[key], torch.zeros_like(out[key]))
        if output is not None and output not in out:
            value = total(out, given)
            if getattr(value, "requires_grad", False):
                gradient, = torch.autograd.grad(value, given[source], allow_unused=True)
                out[output] = torch.zeros_like(given[source]) if gradient is None else gradient
            elif hasattr(value, "detach"):
                out[output] = torch.zeros_like(given[source])  # Detached: there is no gradient.
    known = next(iter(vector["expected"].values()))
    return {key: plain(value) for key, value in out.items() if key in known}


def run_function(function, document, name=None, arrays="torch", dtype="float32"):
    """Results of a function for a family, as RESULTS.json has them."""
    results, errors = {}, {}
    for vector in document["vectors"]:
        try:
            results[vector["id"]] = run_vector(function, document["family"], vector, arrays, dtype)
        except Exception as error:  # The function of a user may raise anything.
            errors[vector["id"]] = f"{type(error).__name__}: {error}"[:500]
    entry = {"name": name or document["family"], "family": document["family"], "digest": document["digest"],
             "results": results}
    return {**entry, "errors": errors} if errors else entry


# --- Judging: by the rules of `agentrl vectors --check` ------------------------------------------------------


def float32(value):
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def agrees(got, expected, tolerance):
    """Whether each number is the expected one, within the tolerance of its array."""
    if len(got) != len(expected):
        return False
    scale = max((abs(value) for value in expected if math.isfinite(value)), default=0)
    room = tolerance["absolute"] + tolerance["relative"] * scale

    def near(a, b):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or a == float32(b) or abs(a - b) <= room

    return all(near(a, b) for a, b in zip(got, expected))


def judge(document, entry):
    """What a function is: verdict, dialects, mistakes, and the vectors on which it differs from the first dialect."""
    vectors = [v for v in document["vectors"] if entry["results"].get(v["id"])]
    edges = {v["id"] for v in vectors if v["edge"]}

    def differing(dialect, mistake=None):
        found = set()
        for vector in vectors:
            right = vector["expected"][dialect]
            wrong = vector["mistaken"].get(dialect, {}).get(mistake, {})
            for key, got in entry["results"][vector["id"]].items():
                expected = wrong.get(key) if key in wrong else right[key]["values"]
                if not agrees(got, numbers(expected), vector["tolerance"]):
                    found.add(vector["id"])
        return found

    # Few vectors are soon explained: a mistake is named only where most are there.
    is_thin = len(document["vectors"]) > 2 * len(vectors)

    def verdict(kind, candidates, mistakes=()):
        if mistakes and is_thin:
            kind, mistakes = "unknown", ()
        first = min(candidates, key=lambda c: len(c[2]), default=(None, None, set()))
        return {"verdict": kind, "dialects": list(dict.fromkeys(c[0] for c in candidates)),
                "mistakes": list(dict.fromkeys(c[1] for c in mistakes)), "differs": sorted(first[2])}

    def fewest(candidates):
        least = min((len(c[2]) for c in candidates), default=0)
        return [c for c in candidates if len(c[2]) == least]

    if not vectors:
        return verdict("not-checkable", [])
    right = [(d["name"], None, differing(d["name"])) for d in document["dialects"]]
    whole = [c for c in right if not c[2]]
    if whole:
        return verdict("matches" if len(vectors) == len(document["vectors"]) else "incomplete", whole)
    wrong = []
    for d in document["dialects"]:
        possible = {m for v in document["vectors"] for m in v["mistaken"].get(d["name"], {})}
        wrong += [(d["name"], m["name"], differing(d["name"], m["name"]))
                  for m in document["mistakes"] if m["name"] in possible]
    core = fewest([c for c in right if c[2] <= edges])
    if core:
        explaining = [w for w in wrong if any(w[0] == c[0] and w[2] < c[2] for c in core)]
        return verdict("matches-but-edges", core, explaining)
    explained = [c for c in wrong if not c[2]] or fewest([c for c in wrong if c[2] <= edges])
    if explained:
        dialects = fewest([c for c in right if c[0] in {e[0] for e in explained}])
        names = {c[0] for c in dialects}
        return verdict("mistaken", dialects, [e for e in explained if e[0] in names])
    return verdict("unknown", fewest(right))


def sentence(document, judged):
    """The verdict in words."""
    named = ", ".join(judged["dialects"][:4]) + (" ..." if len(judged["dialects"]) > 4 else "")
    where = ", ".join(judged["differs"][:4]) + (" ..." if len(judged["differs"]) > 4 else "")
    known = {m["name"]: m["sentence"] for m in document["mistakes"]}
    mistakes = "; or: ".join(f"{known[name]} ({name})" for name in judged["mistakes"][:3])
    kind = judged["verdict"]
    if kind == "matches":
        return f"matches {named}"
    if kind == "incomplete":
        return f"matches {named}, as far as it gave results"
    if kind == "matches-but-edges":
        return f"matches {named}, but not at the edges ({where})" + (f": it {mistakes}" if mistakes else "")
    if kind == "mistaken":
        return f"matches none; nearest is {named}, and differs on {where} as a trainer would that {mistakes}"
    if kind == "unknown":
        return f"matches none; nearest is {named}, and differs on {where}; no known mistake explains it"
    return "gave no result for any vector"


def run_all(folder, functions, arrays="torch", dtype="float32"):
    """[(results, verdict, sentence)] of every function."""
    documents, found = load(folder), []
    for family, name, function in named_functions(functions):
        if family not in documents:
            raise VectorsError(f"{folder} has no family {family}, but {', '.join(documents)}")
        entry = run_function(function, documents[family], name, arrays, dtype)
        judged = judge(documents[family], entry)
        found.append((entry, judged, sentence(documents[family], judged)))
    return found


def pytest_cases(folder, functions, dialects=None, arrays="torch", dtype="float32"):
    """A test for each function: it is one of the dialects, or the one that `dialects` names for its family or its name."""
    import pytest

    cases = list(named_functions(functions))

    @pytest.mark.parametrize("family,name,function", cases, ids=[f"{f}:{n}" for f, n, _ in cases])
    def test_known_answers(family, name, function):
        (entry, judged, said), = run_all(folder, {family: {name: function}}, arrays, dtype)
        assert judged["verdict"] in ("matches", "matches-but-edges"), f"{said} {entry.get('errors', '')}"
        wanted = (dialects or {}).get(name, (dialects or {}).get(family))
        assert wanted is None or wanted in judged["dialects"], f"{said}, where {wanted} was wanted"

    return test_known_answers


def functions_of(path):
    """FUNCTIONS of a Python file."""
    if not Path(path).is_file():
        raise VectorsError(f"{path} is not there: name a Python file that holds FUNCTIONS")
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise VectorsError(f"{path} cannot be loaded ({error}): run this in the environment of your trainer") from None
    functions = getattr(module, "FUNCTIONS", None)
    if not isinstance(functions, dict) or not functions:
        raise VectorsError(f"{path} holds no FUNCTIONS: a dict from a family ({', '.join(FAMILIES)}) to a function")
    return functions


def main(argv=None):
    parser = argparse.ArgumentParser(description="Runs known-answer vectors through functions of a trainer.")
    parser.add_argument("vectors", help="folder that `agentrl vectors --out` has written")
    parser.add_argument("bindings", help="Python file that holds FUNCTIONS")
    parser.add_argument("--out", help="also write RESULTS.json, for `agentrl vectors --check`")
    parser.add_argument("--trainer", help="name of the trainer in RESULTS.json")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64", "bfloat16"))
    parser.add_argument("--arrays", default="torch", choices=("torch", "lists"))
    options = parser.parse_args(argv)
    try:
        found = run_all(options.vectors, functions_of(options.bindings), options.arrays, options.dtype)
    except VectorsError as error:
        print(f"agentrl_vectors: {error}", file=sys.stderr)
        return 2
    for entry, judged, said in found:
        print(f"{entry['family']}  {entry['name']}: {said}")
        for vector, text in list(entry.get("errors", {}).items())[:3]:
            print(f"    {vector}: {text}")
    if options.out:
        document = {"v": VERSION, **({"trainer": options.trainer} if options.trainer else {}),
                    "functions": [entry for entry, _, _ in found]}
        Path(options.out).write_text(json.dumps(document) + "\n", encoding="utf-8")
    return 0 if all(judged["verdict"] == "matches" for _, judged, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
