#!/usr/bin/env python3
"""Writes domain labels for a study in which the true ones are unknown.

    domains.py [--early WEIGHTS] FEATURES IMAGES FOLDER

FEATURES is a file of ledg embed, of which the clean view counts, and IMAGES the folder of its images; for built-in ones `go run -C
scripts/lab ./domains NAME IMAGES` writes it. For each target domain there are tables with the columns path and
site, one per source of the labels:

    merged    all source images are of one domain
    random    each source image is of a random domain
    clusters  k-means on the features: signed square roots, then unit length
    styles    k-means on the mean and the standard deviation of each colour channel
    early     k-means on the mean and the standard deviation of each channel of EfficientNet-Lite0 after its third
              stage: what MixStyle mixes (Zhou et al., ICLR 2021). WEIGHTS is efficientnet-lite0-57934424.pth
              of ledg's cache; needs torch

Apart from merged, there are as many domains as true source domains. The target's images keep their domain. Each
table's line on stdout has its target, source and digest, the value of data.labels. The random numbers are Go's
(math/rand/v2, PCG), and sums go one by one, so that a table is the same on every machine.
"""

import argparse
import csv
import hashlib
import json
import pathlib

import numpy as np
from PIL import Image


class PCG:
    """The generator rand.New(rand.NewPCG(hi, lo)) of Go."""

    def __init__(self, hi, lo):
        self.state = hi << 64 | lo

    def uint64(self):
        self.state = (self.state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x5851F42D4C957F2D14057B7EF767814F) % 2**128
        hi, lo = self.state >> 64, self.state % 2**64
        hi = (hi ^ hi >> 32) * 0xDA942042E4DD58B5 % 2**64
        return (hi ^ hi >> 48) * (lo | 1) % 2**64

    def below(self, n):
        if n & (n - 1) == 0:
            return self.uint64() & (n - 1)
        while True:
            product = (self.uint64() >> 32) * n
            if product % 2**32 >= -n % 2**32 % n:
                return product >> 32

    def float(self):
        return self.uint64() % 2**53 / 2**53


def total(x):
    """The sum over rows, one after the other."""
    return np.cumsum(x, axis=0)[-1]


def nearest(x, centres):
    """The nearest centre of each row of x and its squared distance."""
    d = np.zeros((len(centres), len(x)))
    for j, column in enumerate(x.T):
        d += np.square(column - centres[:, j : j + 1])
    return d.argmin(0), d.min(0)


def lloyd(x, k, r):
    """One run of Lloyd's algorithm, initialised by k-means++ (Arthur and Vassilvitskii, SODA 2007)."""
    centres = x[[r.below(len(x))]]
    while len(centres) < k:
        d = nearest(x, centres)[1]
        left = np.subtract.accumulate(np.append(r.float() * total(d), d[:-1]))[1:]
        at = np.argmax(left < 0) if (left < 0).any() else len(x) - 1
        centres = np.append(centres, x[[at]], axis=0)
    clusters = None
    for _ in range(100):
        found, d = nearest(x, centres)
        if clusters is not None and (found == clusters).all():
            break
        clusters = found
        for c in np.unique(clusters):
            centres[c] = total(x[clusters == c]) / (clusters == c).sum()
    return total(d), clusters


def k_means(x, k, r):
    x = np.asfortranarray(x)
    return min((lloyd(x, k, r) for _ in range(10)), key=lambda run: run[0])[1]


def standardised(x):
    mean = total(x / len(x))
    square = total(np.square(x - mean) / len(x))
    return (x - mean) / np.sqrt(np.where(square > 0, square, np.inf))


def style(pixels):
    """Mean and standard deviation of each channel of maps [pixels, channels]."""
    pixels = pixels.astype(np.float64)
    mean = pixels.sum(0) / len(pixels)
    return np.append(mean, np.sqrt(np.maximum(np.square(pixels).sum(0) / len(pixels) - mean * mean, 0)))


def early_layer(path):
    """EfficientNet-Lite0 up to its third stage, as a function of an image: maps [pixels, channels]."""
    import torch
    import torch.nn.functional as f

    w = torch.load(path, map_location="cpu", weights_only=True)

    def conv(x, name, norm, stride=1, depthwise=False, relu=True):
        weight = w[name + ".weight"]
        size = weight.shape[-1]
        pad = max((-(-x.shape[-1] // stride) - 1) * stride + size - x.shape[-1], 0)  # TensorFlow's SAME
        x = f.conv2d(f.pad(x, (pad // 2, pad - pad // 2) * 2), weight, stride=stride, groups=len(weight) if depthwise else 1)
        scale, shift, mean, var = (w[f"{norm}.{n}"] for n in ("weight", "bias", "running_mean", "running_var"))
        x = f.batch_norm(x, mean, var, scale, shift, eps=1e-3)
        return x.clamp(0, 6) if relu else x

    def maps(image):
        x = np.asarray(image.resize((224, 224), Image.BILINEAR), dtype=np.float32).transpose(2, 0, 1)
        with torch.no_grad():
            x = conv((torch.from_numpy(x.copy())[None] - 127) / 128, "_conv_stem", "_bn0", 2)
            for block, stride in (("_blocks.0.", 1), ("_blocks.1.", 2), ("_blocks.2.", 1)):
                y = conv(x, block + "_expand_conv", block + "_bn0") if block != "_blocks.0." else x
                y = conv(y, block + "_depthwise_conv", block + "_bn1", stride, depthwise=True)
                y = conv(y, block + "_project_conv", block + "_bn2", relu=False)
                x = x + y if x.shape == y.shape else y
        return x[0].flatten(1).T.numpy()

    return maps


def load(path):
    """The features, IDs and domains of a file, and the domains' names."""
    if path.endswith(".npz"):
        a = np.load(path)
        text = lambda m: [row.decode() for row in m]
    else:
        from safetensors.numpy import load_file

        a = load_file(path)
        text = lambda m: [json.loads(line) if line[:1] == '"' else line for line in m.tobytes().decode().rstrip("\n").split("\n")]
    return a["features"], text(a["ids"]), a["domains"], text(a["domain_names"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--early", metavar="WEIGHTS", help="also write domains by an early layer of EfficientNet-Lite0")
    p.add_argument("features")
    p.add_argument("images", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    a = p.parse_args()
    features, ids, domains, names = load(a.features)
    order = sorted(range(len(ids)), key=lambda i: (domains[i], ids[i].encode()))
    x = features.reshape(len(features), -1, features.shape[-1])[order, 0].astype(np.float64)
    ids, domains = [ids[i] for i in order], np.asarray(domains)[order]
    x = np.copysign(np.sqrt(abs(x)), x) / np.maximum(np.sqrt(np.cumsum(abs(x), axis=1)[:, -1:]), 1e-300)
    image = lambda i: Image.open(a.images / i).convert("RGB")
    styles = np.array([style(np.asarray(image(i)).reshape(-1, 3)) for i in ids])
    maps = early_layer(a.early) if a.early else None
    layer = np.array([style(maps(image(i))) for i in ids]) if maps else None
    a.folder.mkdir(parents=True, exist_ok=True)
    for target, name in enumerate(names):
        sources, k, r = np.flatnonzero(domains != target), len(names) - 1, PCG(1, target)
        kinds = {"merged": [0] * len(sources), "random": [r.below(k) for _ in sources]}
        kinds["clusters"] = k_means(x[sources], k, r)
        kinds["styles"] = k_means(standardised(styles[sources]), k, r)
        if maps:
            kinds["early"] = k_means(standardised(layer[sources]), k, r)
        for kind, found in kinds.items():
            site = dict(zip(sources, (f"source{c + 1}" for c in found)))
            rows = [(id, site.get(i, name)) for i, id in enumerate(ids)]
            with open(a.folder / f"{name}-{kind}.csv", "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([("path", "site"), *rows])
            lines = sorted(f'"{id}" "" "" "{s}"\n' for id, s in rows)
            print(name, kind, hashlib.sha256("".join(lines).encode()).hexdigest(), flush=True)


if __name__ == "__main__":
    main()
