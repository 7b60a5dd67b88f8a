"""Compares the speed of `ledg embed` with Pillow's draft mode and PyTorch, on synthetic photos, of 12 megapixels at first.

  python3 scripts/lab/photos_speed/photos_speed.py --ledg bin/ledg --dir /tmp/photos --photos 500 --rounds 3

It makes the photos once and then runs both in turns. It needs Pillow, NumPy and PyTorch. Network: EfficientNet-Lite0
at 224 px with PyTorch's first weights, which change no speed. Peak memory is that of the largest process.
"""

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image, ImageOps

SIDE = 224
WIDTH = 4000
FIRST = 5  # photos whose digest is known
KNOWN = "5cb6b5fcafa0719234c153b1d35e9f943338f223f09a58a9966af8d9013b0fec"  # by Pillow 13.0.0
BLOCKS = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]


def make(folder, n, width):
    """Writes n photos of width x 3/4 width pixels: smooth fields with a sensor's noise; one in five each 4:4:4, progressive, or turned by EXIF."""
    os.makedirs(folder, exist_ok=True)
    height = width * 3 // 4
    for i in range(n):
        path = os.path.join(folder, f"{i:04}.jpg")
        if os.path.exists(path):
            continue
        r = np.random.default_rng(i)
        field = Image.fromarray(r.integers(0, 256, (94, 125, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
        noise = r.integers(-4, 5, (height, width, 1), dtype=np.int16)
        photo = Image.fromarray((np.asarray(field, dtype=np.int16) + noise).clip(0, 255).astype(np.uint8))
        exif = Image.Exif()
        if i % 5 == 4:
            exif[0x0112] = 6
        photo.save(path + ".part", "JPEG", quality=90, subsampling=0 if i % 5 == 2 else 2, progressive=i % 5 == 3, exif=exif)
        os.rename(path + ".part", path)
    digest = hashlib.sha256()
    for i in range(min(n, FIRST)):
        with open(os.path.join(folder, f"{i:04}.jpg"), "rb") as f:
            digest.update(hashlib.sha256(f.read()).digest())
    if n >= FIRST and width == WIDTH and digest.hexdigest() != KNOWN:
        print(f"note: the first {FIRST} photos have digest {digest.hexdigest()}, not {KNOWN}: another encoder made them")


def network():
    """EfficientNet-Lite0 (Tan and Le 2019, without squeeze and excitation) up to its 1,280 features."""
    from torch import nn

    def conv(a, b, kernel, stride=1, groups=1, act=True):
        return [nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(b)] + [nn.ReLU6()] * act

    class Block(nn.Module):
        def __init__(self, a, b, expand, kernel, stride):
            super().__init__()
            wide = a * expand
            self.residual = stride == 1 and a == b
            self.body = nn.Sequential(*(conv(a, wide, 1) if expand > 1 else []), *conv(wide, wide, kernel, stride, wide), *conv(wide, b, 1, act=False))

        def forward(self, x):
            return x + self.body(x) if self.residual else self.body(x)

    layers, width = conv(3, 32, 3, 2), 32
    for expand, channels, repeats, stride, kernel in BLOCKS:
        for k in range(repeats):
            layers.append(Block(width, channels, expand, kernel, stride if k == 0 else 1))
            width = channels
    return nn.Sequential(*layers, *conv(width, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Photos:
    """A data set of PyTorch: photos decoded in draft mode, upright, at SIDE x SIDE pixels."""

    def __init__(self, folder):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        import torch

        with Image.open(self.paths[i]) as photo:
            photo.draft("RGB", (2 * SIDE, 2 * SIDE))
            small = ImageOps.exif_transpose(photo).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
        return torch.from_numpy(np.array(small)).permute(2, 0, 1).float().div_(127.5).sub_(1)


def peer(folder, out, workers):
    """Writes the features by PyTorch."""
    import torch

    net = network().eval().to(memory_format=torch.channels_last)
    loader = torch.utils.data.DataLoader(Photos(folder), batch_size=16, num_workers=workers)
    with torch.inference_mode():
        features = [net(x.contiguous(memory_format=torch.channels_last)) for x in loader]
    np.save(out, torch.cat(features).numpy())


def timed(command, env):
    """Runs a command; returns its seconds, the user seconds of all its processes, and MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed:\n{said}")
    return time.perf_counter() - start, used.ru_utime, used.ru_maxrss / 1024


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ledg", default="bin/ledg", help="the program")
    p.add_argument("--dir", required=True, help="folder for the photos, about 3 MB each")
    p.add_argument("--photos", type=int, default=500)
    p.add_argument("--width", type=int, default=WIDTH, help="of a photo, in pixels")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--workers", type=int, default=2, help="PyTorch's processes that decode")
    p.add_argument("--peer", help=argparse.SUPPRESS)
    a = p.parse_args()
    folder = os.path.join(a.dir, f"{a.photos}-{a.width}", "photos")
    if a.peer:
        return peer(folder, a.peer, a.workers)
    make(folder, a.photos, a.width)
    with tempfile.TemporaryDirectory() as scratch:
        own = [a.ledg, "embed", "--dataset", "folder", "--root", os.path.dirname(folder), "--quiet"]
        other = [sys.executable, __file__, "--dir", a.dir, "--photos", str(a.photos), "--width", str(a.width), "--workers", str(a.workers)]
        rows = {"ledg": [], "PyTorch": []}
        print(f"{a.photos} photos, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the start\n")
        print("| round | tool | photos/s | user s a photo | peak MB |\n| --: | --- | --: | --: | --: |")
        for k in range(a.rounds):
            commands = {"ledg": own + ["--out", os.path.join(scratch, f"{k}.safetensors")], "PyTorch": other + ["--peer", os.path.join(scratch, f"{k}.npy")]}
            for tool in list(commands)[:: 1 if k % 2 == 0 else -1]:
                seconds, user, peak = timed(commands[tool], os.environ)
                rows[tool].append((a.photos / seconds, user / a.photos, peak))
                print(f"| {k + 1} | {tool} | {a.photos / seconds:.2f} | {user / a.photos:.3f} | {peak:.0f} |", flush=True)
        middle = {tool: [statistics.median(column) for column in zip(*row)] for tool, row in rows.items()}
        for tool, (speed, user, peak) in middle.items():
            print(f"| median | {tool} | {speed:.2f} | {user:.3f} | {peak:.0f} |")
        print(f"\nledg / PyTorch: {middle['ledg'][0] / middle['PyTorch'][0]:.2f} in photos a second, {middle['PyTorch'][1] / middle['ledg'][1]:.2f} in photos a second of processor time")


if __name__ == "__main__":
    main()
