"""Features, training, predictions and new sites of photos, by the command."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

from . import _binary, _safetensors
from ._pool import _numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Features:
    """Features of images, a row for each.

    features is [N, D], or [N, V, D] with several views; ids has the N paths below the folder;
    labels [N] numbers class_names, -1 where unknown; domains [N] numbers domain_names.
    """

    features: "NDArray[np.floating[Any]]"
    ids: list[str]
    labels: "NDArray[np.int64]"
    domains: "NDArray[np.int64]"
    class_names: list[str]
    domain_names: list[str]


def embed(root: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None, dataset: str = "folder", progress: bool = True, **flags: Any) -> Features:
    """Computes features of the photos in a folder with a pretrained network (``ledg embed``).

    out is a .safetensors file to keep, which ``train(..., dataset="features")`` reads. Other
    arguments are the command's flags: net="dinov2.onnx", views=4, labels="labels.csv".
    Raises LedgError with ledg's line.
    """
    np = _numpy()
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        file = Path(out) if out is not None else Path(folder) / "features.safetensors"
        _binary.run(["embed", "--dataset", dataset, "--root", os.fspath(root), "--out", os.fspath(file), *_flags(flags)], progress)
        arrays = _safetensors.read(file, np)
    text = {name: _lines(arrays[name]) for name in ("ids", "class_names", "domain_names")}
    return Features(arrays["features"], text["ids"], arrays["labels"], arrays["domains"], text["class_names"], text["domain_names"])


def train(root: str | os.PathLike[str] | None = None, *, out: str | os.PathLike[str], dataset: str = "folder", progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Chooses labels and trains a run in the folder out (``ledg train``).

    Other arguments are the command's flags: classes=["mammal", "vehicle"], budget=60,
    target="north", preset="ledg". Labels come from labels="labels.csv", or from a person on the
    labelling page with label=True. Returns what ``ledg train --json`` prints. Raises LedgError
    with ledg's line; Interrupt stops the run, and resume=True goes on with it.
    """
    command = ["train", "--out", os.fspath(out), "--json"]
    if not flags.get("resume"):
        command += ["--dataset", dataset]
        if root is not None:
            command += ["--root", os.fspath(root)]
    return json.loads(_binary.run(command + _flags(flags), progress))


def predict(run: str | os.PathLike[str], images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Predicts the classes of images (``ledg predict``).

    images is a folder, a file, or a list of them. Returns the table's columns by name: arrays of
    floats or bools, and lists of text. Other arguments are the command's flags: sets=0.9.
    Raises LedgError with ledg's line.
    """
    np = _numpy()
    command = ["predict", os.fspath(run)]
    for image in [images] if isinstance(images, (str, os.PathLike)) else images:
        command += ["--images", os.fspath(image)]
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        table = Path(folder) / "predictions.csv"
        _binary.run([*command, "--out", str(table), *_flags(flags)], progress)
        with open(table, newline="", encoding="utf-8") as f:
            rows = [[_unguard(cell) for cell in row] for row in csv.reader(f)]
    return {name: _column(np, [row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])}


def site(run: str | os.PathLike[str] | None = None, images: str | os.PathLike[str] | None = None, *, progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Applies a run to the images of a site that it has not seen (``ledg site``).

    Other arguments are the command's flags: out="sites/north", ask=True. Returns the report, with
    the accuracy estimate, as ``ledg site --json`` prints it. Raises LedgError with ledg's line.
    """
    command = ["site"] + ([] if run is None else [os.fspath(run)]) + ["--json"]
    if images is not None:
        command += ["--images", os.fspath(images)]
    return json.loads(_binary.run(command + _flags(flags), progress))


def _flags(arguments: dict[str, Any]) -> list[str]:
    """Flags of the command: True stands alone, and a list gives its values with commas."""
    out = []
    for name, value in arguments.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            out.append(flag if value else flag + "=false")
        elif isinstance(value, (list, tuple)):
            out += [flag, ",".join(map(str, value))]
        else:
            out += [flag, str(value)]
    return out


def _lines(values: Any) -> list[str]:
    """Text in a file of ledg embed: a line each, which may be a JSON string."""
    lines = values.tobytes().decode().split("\n")
    return [json.loads(line) if line.startswith('"') else line for line in lines if line]


def _unguard(cell: str) -> str:
    """A cell without the apostrophe before what a spreadsheet takes for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r", "'") and len(cell) > 1 else cell


def _column(np: Any, cells: list[str]) -> Any:
    if not any(cells):
        return [None] * len(cells)
    if cells and set(cells) <= {"true", "false"}:
        return np.array([cell == "true" for cell in cells])
    try:
        return np.array([float(cell) if cell else float("nan") for cell in cells])
    except ValueError:
        return cells
