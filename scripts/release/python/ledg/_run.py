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
    labels [N] numbers class_names, -1 where unknown; domains [N] numbers domain_names. text [C, D]
    has the embeddings of class names with names="auto", otherwise None.
    """

    features: "NDArray[np.floating[Any]]"
    ids: list[str]
    labels: "NDArray[np.int64]"
    domains: "NDArray[np.int64]"
    class_names: list[str]
    domain_names: list[str]
    text: "NDArray[np.float32] | None" = None


def embed(root: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None, dataset: str = "folder", progress: bool = True, **flags: Any) -> Features:
    """Computes features of the photos in a folder with a pretrained network (``ledg embed``).

    out is a .safetensors file to keep, which ``train(..., dataset="features")`` reads. Other
    arguments are the command's flags: net="dinov2.onnx", views=4, labels="labels.csv",
    names="auto" for embeddings of class names by CLIP or SigLIP. Raises LedgError with ledg's line.
    """
    np = _numpy()
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        file = Path(out) if out is not None else Path(folder) / "features.safetensors"
        _binary.run(["embed", "--dataset", dataset, "--root", _path(root), "--out", _path(file), *_flags(flags, folder)], progress)
        arrays = _safetensors.read(file, np)
    text = {name: _lines(arrays[name]) for name in ("ids", "class_names", "domain_names")}
    return Features(arrays["features"], text["ids"], arrays["labels"], arrays["domains"], text["class_names"], text["domain_names"], arrays.get("text"))


def train(root: str | os.PathLike[str] | None = None, *, out: str | os.PathLike[str], dataset: str = "folder", progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Chooses labels and trains a run in the folder out (``ledg train``).

    Other arguments are the command's flags: classes=["pants", "t-shirt"], budget=60,
    target="home02", preset="authors". Labels come from labels="labels.csv", or from a person on the
    labelling page with label=True. Returns what ``ledg train --json`` prints. Raises LedgError
    with ledg's line; Interrupt stops the run, and resume=True goes on with it.
    """
    command = ["train", "--out", _path(out), "--json"]
    if not flags.get("resume"):
        command += ["--dataset", dataset]
        if root is not None:
            command += ["--root", _path(root)]
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        return json.loads(_binary.run(command + _flags(flags, folder), progress))


def predict(run: str | os.PathLike[str] | None, images: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Predicts the classes of images (``ledg predict``).

    run None predicts by class names alone: net="hf:OWNER/NAME", names="auto", classes=["cat", "dog"].
    images is a folder, a file, or a list of them. Returns the table's columns by name: arrays of
    floats (probability, margin, entropy, distance) or bools (calibrated, looks_new, abstained),
    and lists of text. looks_new is a list of None where it is not known. Names of files are those
    of the file system, as os.fsdecode gives them. Other arguments are the command's flags:
    sets=0.9. Raises LedgError with ledg's line.
    """
    np = _numpy()
    command = ["predict"] + ([] if run is None else [_path(run)])
    for image in [images] if isinstance(images, (str, os.PathLike)) else images:
        command += ["--images", _path(image)]
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        table = Path(folder) / "predictions.csv"
        _binary.run([*command, "--out", str(table), *_flags(flags, folder)], progress)
        with open(table, newline="", encoding="utf-8", errors="surrogateescape") as f:
            rows = [[_unguard(cell) for cell in row] for row in csv.reader(f)]
    return {name: _column(np, name, [row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])}


def site(run: str | os.PathLike[str] | None = None, images: str | os.PathLike[str] | None = None, *, progress: bool = True, **flags: Any) -> dict[str, Any]:
    """Applies a run to the images of a site that it has not seen (``ledg site``).

    Other arguments are the command's flags: out="sites/many", ask=True. Returns the report, with
    the accuracy estimate, as ``ledg site --json`` prints it. Raises LedgError with ledg's line.
    """
    command = ["site"] + ([] if run is None else [_path(run)]) + ["--json"]
    if images is not None:
        command += ["--images", _path(images)]
    with tempfile.TemporaryDirectory(prefix="ledg-") as folder:
        return json.loads(_binary.run(command + _flags(flags, folder), progress))


def _path(path: str | os.PathLike[str]) -> str:
    """A path as the command takes it: one that begins like a flag is a path all the same."""
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def _flags(arguments: dict[str, Any], folder: str) -> list[str]:
    """Flags of the command: True stands alone, and a list gives the flag once for each value.

    Names of classes may have commas, so they go into a file in folder.
    """
    out = []
    for name, value in arguments.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            out.append(flag if value else flag + "=false")
        elif name == "classes" and isinstance(value, (list, tuple)):
            if lines := [c for c in map(str, value) if not c.strip() or len(c.splitlines()) > 1]:
                raise _binary.LedgError(f"class {lines[0]!r}: want a name on one line")
            file = Path(folder) / "classes.txt"
            file.write_text("".join(f"{c}\n" for c in value), encoding="utf-8")
            out += [flag, str(file)]
        elif isinstance(value, (list, tuple)):
            for one in map(str, value):
                if name == "new_class" and ("," in one or '"' in one):
                    one = '"' + one.replace('"', '""') + '"'  # the command takes it apart at commas
                out += [flag, one]
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


def _column(np: Any, name: str, cells: list[str]) -> Any:
    """A column by its name, never by its cells: classes may be called 007 or true."""
    if name in ("probability", "margin", "entropy", "distance"):
        return np.array([float(cell) if cell else float("nan") for cell in cells])
    if name in ("calibrated", "looks_new", "abstained"):
        known = {"true": True, "false": False}
        return np.array([known[cell] for cell in cells]) if all(cells) else [known.get(cell) for cell in cells]
    return cells
