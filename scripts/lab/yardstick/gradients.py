"""Writes networks as ONNX files, and PyTorch's gradients of one step of each beside them, to hold ledg's against.

    python scripts/lab/yardstick/gradients.py --dir DIR resnet18 $(cat scripts/lab/yardstick/networks.txt)
    LEDG_NETWORKS=DIR go test ./ceg/nets/onnx/imported -run StepOfNetworks -v

Networks are those of networks.py, exported with their BatchNormalization. A step is two batches of three images of noise in
training mode, each with statistics of its own, of which the loss is the sum of features times cos(0.7 i), with i their flat
index in a batch; Dropout and stochastic depth are off. NAME.safetensors has the images (uint8), the features, the gradients and
the running statistics afterwards, all of float64.

How near float32 can be depends on the network: where a value is nearly on the bound of a ReLU, what is on which side of it
changes gradients by more than rounding. So the file also has how far PyTorch's gradients move in float32, and in float64 when
the images are moved by a deviation of 0.0002 grey levels, three times: the largest difference of a tensor, as a share of its largest
value or, where that is more, a hundredth of that of all.
"""

import argparse
import copy
import pathlib

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.numpy import save_file

import networks


def prepare(name, size):
    """A network, and the side of its images: as asked for, or its own where it takes no other."""
    net, own = networks.make(name)
    if not name.startswith("torchvision/") and not net.default_cfg.get("fixed_input_size", False) and size < own:
        own = size
    for m in net.modules():
        for name in ("p", "drop_prob", "drop_rate", "drop_path_rate", "proj_drop", "attn_drop"):  # of Dropout, DropPath and functions
            if isinstance(getattr(m, name, None), float):
                setattr(m, name, 0.0)
    return net, own


def step(net, images):
    """Features, gradients and running statistics."""
    net.train()
    net.zero_grad()
    x = ((images.astype(np.float64) / 255 - 0.5) / 0.25).transpose(0, 3, 1, 2)
    x = torch.from_numpy(np.ascontiguousarray(x)).to(next(net.parameters()).dtype)
    features, loss = [], 0
    for batch in (x[:3], x[3:]):
        y = net(batch)
        features.append(y.detach().double().numpy())
        loss = loss + (y * torch.cos(0.7 * torch.arange(y.numel(), dtype=y.dtype)).reshape(y.shape)).sum()
    loss.backward()
    running = {k: b.double().numpy() for k, b in net.named_buffers() if "running" in k}
    return np.stack(features), {k: p.grad.double().numpy() for k, p in net.named_parameters() if p.grad is not None}, running


def named(path, net, grads):
    """The gradients by the names of the file's initializers, turned where the export has turned a matrix."""
    graph = onnx.load(path).graph
    given = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    given |= {n.output[0]: given[n.input[0]] for n in graph.node if n.op_type == "Identity" and n.input[0] in given}
    out, left = {}, []
    for key, p in net.named_parameters():
        if key not in grads:
            continue
        g, v = grads[key], p.detach().numpy()
        if key not in given:
            v, g = (v.T, g.T) if v.ndim == 2 else (v, g)
            same = [k for k, w in given.items() if w.size == v.size and np.array_equal(w.reshape(-1), v.reshape(-1))]
            if len(same) != 1:
                left.append(key)
                continue
            key = same[0]
        out[key] = g
    return out, left


def apart(got, want):
    """The largest difference of a tensor, and whose."""
    most = max(np.abs(w).max() for w in want.values())
    return max((np.abs(got[k] - w).max() / max(np.abs(w).max(), 1e-2 * most), k) for k, w in want.items())


def write(a, name):
    net, size = prepare(name, a.size)
    path = a.dir / f"{name.replace('/', '_')}.onnx"
    images = np.random.default_rng(a.seed).integers(0, 256, (6, size, size, 3), dtype=np.uint8)
    if a.dynamo:
        torch.onnx.export(net, (torch.randn(2, 3, size, size),), path, dynamo=True, optimize=False, dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},),
                          input_names=["pixels"], output_names=["features"], external_data=False, verbose=False)
    else:
        torch.onnx.export(net, (torch.randn(2, 3, size, size),), path, dynamo=False, opset_version=17, input_names=["pixels"], output_names=["features"],
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=True, dynamic_axes={"pixels": {0: "n"}, "features": {0: "n"}})
    net.eval()
    features, exact, running = step(copy.deepcopy(net).double(), images)
    single, _ = apart(step(copy.deepcopy(net), images)[1], exact)
    moved = []
    for k in range(3):
        nearby = images + np.random.default_rng(k).normal(0, 2e-4, images.shape)
        moved.append(apart(step(copy.deepcopy(net).double(), nearby)[1], exact)[0])
    grads, left = named(path, net, exact)
    save = {"images": images, "features": features} | {f"gradient/{k}": np.ascontiguousarray(g) for k, g in grads.items()}
    save_file(save | {f"running/{k}": v for k, v in running.items()}, path.with_suffix(".safetensors"),
              metadata={"float32": f"{single:.3g}", "moved": f"{max(moved):.3g}"})
    print(f"{name}, {size} px: {len(grads)} gradients, {len(left)} that the file has otherwise; float32 differs by {single:.1e}, moved images by {max(moved):.1e}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--dir", type=pathlib.Path, required=True, help="folder of the networks")
    p.add_argument("--dynamo", action="store_true", help="write them by PyTorch's newer exporter")
    p.add_argument("--size", type=int, default=96, help="side of the images of networks that take any")
    p.add_argument("--seed", type=int, default=1, help="of the images")
    p.add_argument("names", nargs="+", help="timm's names, or torchvision/NAME")
    a = p.parse_args()
    a.dir.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name in a.names:
        try:
            write(a, name)
        except Exception as e:  # the next network all the same
            print(f"{name}: {str(e).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
