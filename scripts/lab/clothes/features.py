#!/usr/bin/env python3
"""Makes the features of the embedded photographs: features.py NATURAL.safetensors SMALL.safetensors datasets/clothes/lite0.npz.

NATURAL is of the photos that build.py makes, at 256 px; its vectors of the first view are taken. SMALL, of ledg embed --dataset
clothes with any network, has the IDs, labels and splits of the embedded photos. Each value is rounded to the square
of a multiple of 1/16: this halves the file. Needs numpy and safetensors.
"""
import io
import json
import sys
import zipfile

import numpy as np
from safetensors import safe_open


def read(path):
    with safe_open(path, "numpy") as f:
        return f.metadata(), {k: f.get_tensor(k) for k in f.keys()}


def lines(a):
    return [json.loads(line) for line in a.tobytes().decode().splitlines()]


def short(name):
    folder, _, file = name.rpartition("/")
    sender, photo = file.removesuffix(".jpg").split("_")
    return f"{folder}/{sender}_{photo[:8]}.webp"


meta, large = read(sys.argv[1])
_, small = read(sys.argv[2])
at = {short(name): k for k, name in enumerate(lines(large["ids"]))}
ids = lines(small["ids"])
x = large["features"][[at[name] for name in ids], 0].astype(np.float32)
arrays = {k: small[k] for k in ("domains", "labels", "splits")}
arrays |= {k: np.array(lines(small[k]), "S") for k in ("class_names", "domain_names", "ids")}
arrays["features"] = ((np.round(np.sqrt(x) * 16) / 16) ** 2).astype(np.float16)

made, origin = json.loads(meta["made_by"]), json.loads(meta["origin"])
made["views"] = 1
made["by"] += "; values are rounded to squares of sixteenths"
origin = {k: v for k, v in origin.items() if k not in ("root", "beside", "layout")} | {"dataset": "clothes"}
texts = {"format": meta["format"], "views": "clean", "made_by": json.dumps(made), "origin": json.dumps(origin)}
with zipfile.ZipFile(sys.argv[3], "w") as z:
    z.writestr(zipfile.ZipInfo("metadata.json"), json.dumps(texts, sort_keys=True), zipfile.ZIP_DEFLATED, 9)
    for name, a in sorted(arrays.items()):
        b = io.BytesIO()
        np.lib.format.write_array(b, a, version=(1, 0))
        z.writestr(zipfile.ZipInfo(name + ".npy"), b.getvalue(), zipfile.ZIP_DEFLATED, 9)
