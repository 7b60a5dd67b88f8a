"""Queries and heads over arrays."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _binary, _safetensors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ARRAYS = (
    "features class_logits class_probs domain_logits domain_probs domains groups "
    "labelled_features labelled_labels labelled_domains labelled_class_logits labelled_groups"
).split()

Array = Any
"""What numpy.asarray takes: arrays, lists, tensors of PyTorch."""


@dataclass(frozen=True)
class Scored:
    """A chosen row with its scores: score, or CEG's s_u, s_r, s_d, their ranks and r."""

    index: int
    scores: dict[str, float]


@dataclass(frozen=True)
class Probe:
    """What a head that was fitted on the labelled rows says.

    class_logits is [N, C], predictions [N], labelled_class_logits [M, C]; report has what
    ledg probe --json prints, such as the strength and, with labels, the accuracies.
    """

    class_logits: "NDArray[np.float32]"
    predictions: "NDArray[np.int64]"
    labelled_class_logits: "NDArray[np.float32]"
    report: dict[str, Any]


def query(
    *,
    n: int,
    strategy: str = "ceg",
    features: Array = None,
    class_logits: Array = None,
    class_probs: Array = None,
    domain_logits: Array = None,
    domain_probs: Array = None,
    domains: Array = None,
    labelled_features: Array = None,
    labelled_labels: Array = None,
    labelled_domains: Array = None,
    labelled_class_logits: Array = None,
    groups: Array = None,
    labelled_groups: Array = None,
    divide: str = "pooled",
    preset: str = "paper",
    gamma1: float = 1,
    gamma2: float = 1,
    radius: float | None = None,
    classes: int | None = None,
    subsample: int | None = None,
    seed: int = 0,
) -> "NDArray[np.int64]":
    """The rows of N unlabelled samples to label next, the best first.

    Of N unlabelled and M labelled samples, D features, C classes and K domains the arrays
    are features [N, D], class_logits or class_probs [N, C], domain_logits or domain_probs
    [N, K], domains [N], labelled_features [M, D], labelled_labels and labelled_domains [M]
    and labelled_class_logits [M, C]. A strategy looks at those it needs: ``ledg query
    --help`` lists them. groups [N] and labelled_groups, numbers or names, say what belongs
    together, such as the images of a patient: one of a group is chosen before a second, and
    first those of groups without a label. divide is how the query is divided among domains:
    pooled, stratified, proportional or balanced. subsample is at how many of more than a million
    rows a strategy looks that compares them. Raises LedgError with ledg's line.
    """
    return _numpy().array([s.index for s in query_scores(**locals())], dtype="int64")


def query_scores(*, n: int, strategy: str = "ceg", **arguments: Any) -> list[Scored]:
    """Like query, with the scores by which each row was chosen."""
    words = {"divide": "domains", "preset": "preset", "gamma1": "gamma1", "gamma2": "gamma2", "radius": "radius", "classes": "num-classes", "subsample": "subsample", "seed": "seed"}
    command = ["-n", str(n), "--strategy", strategy, "--json"]
    for name, flag in words.items():
        value = arguments.pop(name, None)
        if value is not None:
            command += [f"--{flag}", str(value)]
    if unknown := sorted(set(arguments) - set(_ARRAYS)):
        raise TypeError(f"query has no argument {unknown[0]!r}")
    _number(arguments, "groups", "labelled_groups")
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        pool = _write(Path(folder) / "pool.safetensors", arguments)
        printed = _binary.run(["query", "--pool", str(pool), *command])
    rows = [json.loads(line) for line in printed.splitlines()]
    return [Scored(row.pop("index"), row) for row in rows]


def probe(
    *,
    features: Array,
    labelled_features: Array,
    labelled_labels: Array,
    labelled_domains: Array = None,
    labelled_groups: Array = None,
    labels: Array = None,
    domains: Array = None,
    head: str = "logistic",
    text: Array = None,
    classes: int | None = None,
    seed: int = 1,
) -> Probe:
    """Fits a head on labelled features and asks it about the others.

    head is logistic, gda, zero-shot, zs-lp or clap; the last three need text [C, D], the
    embeddings of the class names. labelled_domains [M] chooses the strength by leaving out
    one domain at a time, and labelled_groups [M], numbers or names, says what belongs together
    and is left out together; labels [N] (-1 where unknown) and domains [N] are for accuracies
    alone. Raises LedgError with ledg's line.
    """
    np = _numpy()
    given = {"features": features, "labelled_features": labelled_features, "labelled_labels": labelled_labels, "labelled_domains": labelled_domains, "labelled_groups": labelled_groups, "labels": labels, "domains": domains}
    _number(given, "labelled_groups")
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        pool, out = _write(Path(folder) / "pool.safetensors", given), Path(folder) / "out.safetensors"
        command = ["probe", "--pool", str(pool), "--out", str(out), "--head", head, "--seed", str(seed), "--json"]
        if text is not None:
            command += ["--text", str(_write(Path(folder) / "text.safetensors", {"text": text}))]
        if classes is not None:
            command += ["--num-classes", str(classes)]
        report = json.loads(_binary.run(command))
        said = _safetensors.read(out, np)
    return Probe(said["class_logits"], said["predictions"].astype("int64"), said["labelled_class_logits"], report)


def _number(arguments: dict[str, Array], *names: str) -> None:
    """Gives names the numbers that they have in all of the arrays."""
    np = _numpy()
    given = {name: _array(arguments[name]) for name in names if arguments.get(name) is not None}
    if all(array.dtype.kind in "iub" for array in given.values()):
        return
    _, numbers = np.unique(np.concatenate([array.ravel().astype(str) for array in given.values()]), return_inverse=True)
    for name, array in given.items():
        arguments[name], numbers = numbers[: array.size].reshape(array.shape), numbers[array.size :]


def _write(path: Path, arrays: dict[str, Array]) -> Path:
    np = _numpy()
    ready = {}
    for name, value in arrays.items():
        if value is None:
            continue
        array = _array(value)
        if array.dtype.kind in "iub":
            array = array.astype("int64")
        elif array.dtype.kind != "f":
            raise _binary.LedgError(f"{name} has values of type {array.dtype}, want numbers")
        elif array.dtype.itemsize not in (2, 4, 8):
            array = array.astype("float64")
        ready[name] = np.ascontiguousarray(array)
    _safetensors.write(path, ready)
    return path


def _array(value: Array) -> "NDArray[Any]":
    if hasattr(value, "detach"):  # a tensor of PyTorch, perhaps on a GPU
        value = value.detach().cpu()
    return _numpy().asarray(value)


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise ImportError("ledg's functions need numpy: pip install 'ledg[numpy]'") from None
    return numpy
