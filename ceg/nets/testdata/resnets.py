#!/usr/bin/python3
"""Writes resnets.json, which zstd --ultra -22 packs: what PyTorch computes for ResNets of several depths, widths and image sizes.

The networks are built from torch's own layers as torchvision builds them and have its state-dict names; weights and
images follow from the formula of resnet_test.go, and everything is computed in float64. Needs torch and numpy
(Debian: python3-torch). Run in this folder. Where resnet18.json lies beside it, that independent file is met first.
"""
import json
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 1
CLASSES = 10
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
# With the last images no value comes within 5e-6 of a ReLU's kink in eval mode. Of input64 one
# was at -4.4e-7 in layer2: float32 may put it on the other side, which moves gradients by up to 1.6%.
CASES = [  # depth, width, images, side, input
    (18, 16, 4, 32, "input32"),
    (34, 8, 3, 100, "input100"),
    (50, 8, 8, 33, "input33"),
    (50, 16, 1, 224, "input224"),
    (50, 64, 2, 64, "input64.46"),
]


def conv(cin, cout, size, stride=1):
    return nn.Conv2d(cin, cout, size, stride, size // 2, bias=False)


def downsample(cin, cout, stride):
    if stride == 1 and cin == cout:
        return None
    return nn.Sequential(conv(cin, cout, 1, stride), nn.BatchNorm2d(cout))


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, cin, mid, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(cin, mid, 3, stride), nn.BatchNorm2d(mid)
        self.conv2, self.bn2 = conv(mid, mid, 3), nn.BatchNorm2d(mid)
        self.downsample = downsample(cin, mid, stride)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, cin, mid, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(cin, mid, 1), nn.BatchNorm2d(mid)
        self.conv2, self.bn2 = conv(mid, mid, 3, stride), nn.BatchNorm2d(mid)
        self.conv3, self.bn3 = conv(mid, 4 * mid, 1), nn.BatchNorm2d(4 * mid)
        self.downsample = downsample(cin, 4 * mid, stride)

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, depth, width, classes):
        super().__init__()
        block = Bottleneck if depth == 50 else BasicBlock
        self.conv1, self.bn1 = conv(3, width, 7, 2), nn.BatchNorm2d(width)
        c = width
        for stage, n in enumerate(BLOCKS[depth]):
            mid, layer = width << stage, []
            for i in range(n):
                layer.append(block(c, mid, 2 if i == 0 and stage > 0 else 1))
                c = mid * block.expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layer))
        self.fc = nn.Linear(c, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        features = x.mean((2, 3))
        return features, self.fc(features)


def fmix(h):
    h = h ^ (h >> np.uint32(16))
    h = h * np.uint32(0x85EBCA6B)
    h = h ^ (h >> np.uint32(13))
    h = h * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


def formula(name, shape, seed=SEED):
    with np.errstate(over="ignore"):
        h = np.uint32(0x811C9DC5)
        for b in name.encode():
            h = (h ^ np.uint32(b)) * np.uint32(0x01000193)
        s = fmix(h + np.uint32(0x9E3779B9 * seed & 0xFFFFFFFF))
        i = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint32)
        bits = fmix(fmix(i) ^ s) >> np.uint32(8)
    v = (2 * bits.astype(np.int64) + 1 - (1 << 24)) / (1 << 24)
    if name.startswith("input"):
        v = 2 * v
    elif name.endswith("running_mean"):
        v = 0.1 * v
    elif name.endswith("running_var"):
        v = 2 + 0.5 * v
    elif name.endswith("bias"):
        v = 0.1 * v
    elif len(shape) == 1:
        v = 1 + 0.25 * v
    else:
        v = v * np.sqrt(6 / np.prod(shape[1:]))
    return torch.from_numpy(v.astype(np.float32).reshape(shape)).double()


def compute(depth, width, classes, images, labels, training):
    net = ResNet(depth, width, classes).double()
    state = {k: formula(k, tuple(v.shape)) for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}
    missing, extra = net.load_state_dict(state, strict=False)
    assert not extra and all(m.endswith("num_batches_tracked") for m in missing)
    net.train(training)
    features, logits = net(images)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    return net, features.detach(), logits.detach(), loss.item()


def numbers(t):
    return [float(f"{x:.7g}") for x in t.flatten().tolist()]


def meet_resnet18():
    if not os.path.exists("resnet18.json"):
        return
    with open("resnet18.json") as f:
        want = json.load(f)
    assert want["hash"]["seed"] == SEED, want["hash"]
    images = formula("input64", (2, 3, 64, 64))
    for mode, e in want["expected"].items():
        net, _, _, loss = compute(18, 64, 1000, images, torch.tensor(e["labels"]), mode == "train")
        assert abs(loss - e["loss"]) < 1e-9, (mode, loss, e["loss"])
        for name, p in net.named_parameters():
            got, norm = p.grad.norm().item(), e["grad_l2"][name]
            assert abs(got - norm) < 1e-9 * (1 + norm), (mode, name, got, norm)


def main():
    meet_resnet18()
    cases = []
    for depth, width, n, side, name in CASES:
        images, labels = formula(name, (n, 3, side, side)), [(3 * i + 1) % CLASSES for i in range(n)]
        case = {"depth": depth, "width": width, "classes": CLASSES, "input": name, "shape": [n, 3, side, side],
                "labels": labels, "expected": {}}
        for mode in ("eval", "train"):
            net, features, logits, loss = compute(depth, width, CLASSES, images, torch.tensor(labels), mode == "train")
            e = {"features_first16": numbers(features[:, :16]), "logits": numbers(logits), "loss": loss,
                 "grad_l2": {k: float(f"{p.grad.norm().item():.7g}") for k, p in net.named_parameters()}}
            if mode == "eval":
                e["grad_first4"] = {k: numbers(p.grad.flatten()[:4]) for k, p in net.named_parameters()}
            else:
                e["running_first2"] = {k: numbers(v[:2]) for k, v in net.state_dict().items() if "running" in k}
            case["expected"][mode] = e
        case["trained_values"] = sum(p.numel() for p in net.parameters())
        cases.append(case)
    with open("resnets.json", "w") as f:
        json.dump({"seed": SEED, "torch": torch.__version__, "cases": cases}, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
