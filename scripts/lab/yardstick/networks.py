"""Holds features of networks from ONNX files, by ledg's Go backend, against ONNX Runtime's in Python.

    python scripts/lab/yardstick/networks.py --ledg bin/ledg --dir DIR $(cat scripts/lab/yardstick/networks.txt)

Networks are timm's, or torchvision's, with random weights, written into DIR by PyTorch's older exporter or with --dynamo by
its newer one, unless they are there. Six images of noise, of the networks' own size, go through both. Prints a line for each
network: the largest difference as a share of the largest feature, or what was wrong. The status is 1 if one is above
--tolerance or failed.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime
import timm
import torch
import torchvision
from PIL import Image
from safetensors.numpy import load_file
from torch import nn

MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def make(name):
    """A network with random weights, none of whose scales and shifts are 0 or 1, and the side of its images."""
    torch.manual_seed(1)
    library, _, plain = name.rpartition("/")
    if library == "torchvision":
        more = {"init_weights": False, "aux_logits": False} if plain == "googlenet" else {}
        net, size = getattr(torchvision.models, plain)(weights=None, **more), 224
        for head in ("fc", "classifier"):
            last = getattr(net, head, None)
            if isinstance(last, nn.Linear):
                setattr(net, head, nn.Identity())
            elif last is not None and isinstance(last[-1], nn.Linear):
                last[-1] = nn.Identity()
    else:
        net = timm.create_model(name, pretrained=False, num_classes=0)
        size = net.default_cfg["input_size"][-1]
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.2), m.running_var.uniform_(0.5, 2)
            if m.weight is not None:
                m.weight.data.uniform_(0.5, 1.5), m.bias.data.normal_(0, 0.3)
    for p in net.parameters():
        if p.numel() > 1 and p.std() <= 1e-4 * p.abs().max():
            p.data += torch.randn(p.shape) / 10
    return net.eval(), size


def export(name, path, dynamo):
    net, size = make(name)
    x = (torch.randn(2, 3, size, size),)
    if dynamo:
        torch.onnx.export(net, x, path, dynamo=True, dynamic_shapes=({0: torch.export.Dim("batch")},), verbose=False)
    else:
        torch.onnx.export(net, x, path, dynamo=False, opset_version=17, input_names=["pixels"], output_names=["features"],
                          dynamic_axes={"pixels": {0: "n"}, "features": {0: "n"}})


def noise(folder, size):
    """Six images of noise in a folder that ledg reads, and their pixels as networks take them."""
    r, x = np.random.default_rng(size), []
    (folder / "domain" / "class").mkdir(parents=True, exist_ok=True)
    for k in range(6):
        few = r.integers(0, 256, (size // 8 + 1, size // 8 + 1, 3), dtype=np.uint8)
        pixels = few.repeat(8, 0).repeat(8, 1)[:size, :size]
        Image.fromarray(pixels).save(folder / "domain" / "class" / f"{k}.png")
        x.append(((pixels.astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1))
    return np.stack(x)


def compare(a, name, path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = session.get_inputs()[0]
    size = given.shape[2]
    images, out = a.dir / f"noise-{size}", path.with_suffix(".safetensors")
    x = noise(images, size)
    want = session.run(None, {given.name: x})[0]
    out.unlink(missing_ok=True)
    run = subprocess.run([a.ledg, "embed", "--dataset", "folder", "--root", images, "--net", path, "--preprocess", "imagenet", "--size", str(size),
                          "--short", str(size), "--backend", "go", "--out", out], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip().splitlines()[-1])
    got = next(v for v in load_file(out).values() if v.dtype == np.float32 and v.ndim > 1)
    out.unlink()
    d = apart(got, want)
    if d <= a.tolerance:
        return d, ""
    net = make(name)[0]  # the weights of the file
    with torch.no_grad():
        single = net(torch.from_numpy(x)).numpy()
        double = net.double()(torch.from_numpy(x).double()).numpy()
    return d, f", above the tolerance (PyTorch's float32 differs by {apart(single, double):.1e} from its float64)"


def apart(got, want):
    return np.abs(got.reshape(6, -1) - want.reshape(6, -1)).max() / np.abs(want).max()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--ledg", default="bin/ledg", help="the command")
    p.add_argument("--dir", type=pathlib.Path, required=True, help="folder of the networks")
    p.add_argument("--dynamo", action="store_true", help="write them by PyTorch's newer exporter")
    p.add_argument("--tolerance", type=float, default=1e-4)
    p.add_argument("names", nargs="+", help="timm's names, or torchvision/NAME")
    a = p.parse_args()
    a.dir.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    status, worst = 0, 0.0
    for name in a.names:
        path = a.dir / f"{name.replace('/', '_')}{'-dynamo' if a.dynamo else ''}.onnx"
        try:
            if not path.exists():
                export(name, path, a.dynamo)
            d, more = compare(a, name, path)
        except Exception as e:  # the next network all the same
            status = 1
            print(f"{name}: {str(e).splitlines()[0]}", flush=True)
            continue
        worst = max(worst, d)
        print(f"{name}: {d:.1e}{more}", flush=True)
        status |= not d <= a.tolerance
    print(f"{len(a.names)} networks, at most {worst:.1e}")
    sys.exit(status)


if __name__ == "__main__":
    main()
