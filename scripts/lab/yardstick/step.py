"""Times the training iteration of scripts/lab/bench in PyTorch, with maps in channels_last.

It is the iteration of CEG's published code, over K domains with B images each in every pool: pseudo-labels of
labelled and unlabelled weak views without gradients; cross-entropy on labelled weak views; consistency of both kinds of
strong views with the pseudo-labels that are sure; MixUp within every domain and between every pair; one step of backbone
and class head; one step of the domain head on the features of unlabelled weak views. With K = 3 and B = 16 that
sends 384 images through the backbone. Views are random and in memory, so nothing but computing is timed.

Prints one JSON object with the names that `bench` uses.
"""

import argparse
import itertools
import json
import platform
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

DEPTHS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3)}


def conv(inputs, outputs, size, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class Residual(nn.Module):
    """A block of a ResNet: two 3x3 convolutions, or 1x1, 3x3, 1x1 where it is a bottleneck."""

    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        if bottleneck:
            convolutions = [conv(inputs, width, 1), conv(width, width, 3, stride), conv(width, outputs, 1)]
        else:
            convolutions = [conv(inputs, width, 3, stride), conv(width, width, 3)]
        steps = []
        for c in convolutions:
            steps += [c, nn.BatchNorm2d(c.out_channels), nn.ReLU(inplace=True)]
        self.branch = nn.Sequential(*steps[:-1])
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.branch(x) + self.shortcut(x), inplace=True)


def resnet(name, width):
    layers = [conv(3, width, 7, 2), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    bottleneck = name == "resnet50"
    channels = width
    for stage, blocks in enumerate(DEPTHS[name]):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            layers.append(Residual(channels, width << stage, stride, bottleneck))
            channels = (width << stage) * (4 if bottleneck else 1)
    return layers, channels


def smallcnn(width):
    layers = []
    for inputs in (3, width, width, width):
        layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    return layers, width


class Same(nn.Module):
    """A convolution padded as TensorFlow does it: the odd row and column of zeros at the end."""

    def __init__(self, inputs, outputs, size, stride=1, groups=1):
        super().__init__()
        self.size, self.stride = size, stride
        self.inner = nn.Conv2d(inputs, outputs, size, stride, 0 if stride > 1 else size // 2, groups=groups, bias=False)

    def forward(self, x):
        if self.stride > 1:
            total = [max((-(-side // self.stride) - 1) * self.stride + self.size - side, 0) for side in x.shape[2:]]
            x = F.pad(x, (total[1] // 2, total[1] - total[1] // 2, total[0] // 2, total[0] - total[0] // 2))
        return self.inner(x)


def normed(convolution, outputs, limit=True):
    layers = [convolution, nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01)]
    return layers + [nn.ReLU6(inplace=True)] if limit else layers


class Inverted(nn.Module):
    """A depthwise convolution between two 1x1 ones, of which the first widens the maps."""

    def __init__(self, inputs, outputs, size, stride, expand):
        super().__init__()
        wide = inputs * expand
        layers = normed(Same(inputs, wide, 1), wide) if expand > 1 else []
        layers += normed(Same(wide, wide, size, stride, wide), wide) + normed(Same(wide, outputs, 1), outputs, False)
        self.layers = nn.Sequential(*layers)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        return self.layers(x) + x if self.shortcut else self.layers(x)


# Repeats, kernel, stride, expansion and channels of the stages of EfficientNet-Lite0.
LITE = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))


def lite0():
    layers, channels = normed(Same(3, 32, 3, 2), 32), 32
    for repeats, size, stride, expand, outputs in LITE:
        for block in range(repeats):
            layers.append(Inverted(channels, outputs, size, stride if block == 0 else 1, expand))
            channels = outputs
    return layers + normed(Same(channels, 1280, 1), 1280), 1280


class Step:
    """The networks, their optimizers and one batch of every pool."""

    def __init__(self, a):
        if a.net == "efficientnet-lite0":
            layers, features = lite0()
        else:
            layers, features = smallcnn(a.width) if a.net == "smallcnn" else resnet(a.net, a.width)
        self.backbone = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.backbone.to(memory_format=torch.channels_last).train()
        if a.compile:
            self.backbone.compile(dynamic=False)
        self.head = nn.Linear(features, a.classes)
        widths = (features, 128, 64, a.domains)  # the published domain head has no activations
        self.domain_head = nn.Sequential(*(nn.Linear(i, o) for i, o in itertools.pairwise(widths)))
        self.optimizers = [self.sgd(self.backbone, 0.003), self.sgd(self.head, 0.01)]
        self.domain_optimizer = self.sgd(self.domain_head, 0.01)

        shape = (a.domains, a.per_domain, 3, a.size, a.size)
        views = lambda: [v.contiguous(memory_format=torch.channels_last) for v in torch.randn(shape)]
        labels = lambda: torch.randint(a.classes, shape[:2])
        self.x_weak, self.x_strong, self.u_weak, self.u_strong, self.reliable = (views() for _ in range(5))
        self.x_label, self.reliable_label = labels(), labels()
        self.domains, self.per_domain = a.domains, a.per_domain
        self.share = torch.distributions.Beta(*torch.tensor([0.2, 0.2], device="cpu"))  # read at once, without waiting for a GPU

    @staticmethod
    def sgd(module, rate):
        return torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4)

    def logits(self, *views):
        return self.head(self.backbone(torch.cat(views) if len(views) > 1 else views[0]))

    def mixup(self, a, labels_a, b, labels_b):
        share = self.share.sample().item()
        out = self.logits(share * a + (1 - share) * b)
        return share * F.cross_entropy(out, labels_a) + (1 - share) * F.cross_entropy(out, labels_b)

    def run(self):
        each = range(self.domains)
        with torch.no_grad():
            pseudo = [F.softmax(self.logits(self.x_weak[k], self.u_weak[k]), 1).max(1) for k in each]
        loss = torch.zeros(())
        for k in each:
            loss = loss + F.cross_entropy(self.logits(self.x_weak[k]), self.x_label[k])
            out = self.logits(self.x_strong[k], self.u_strong[k])
            sure = (pseudo[k].values >= 0.95).float()
            loss = loss + (F.cross_entropy(out, pseudo[k].indices, reduction="none") * sure).mean()
        r, labels = self.reliable, self.reliable_label
        mixed = torch.zeros(())
        for k in each:
            other = torch.randperm(self.per_domain)
            mixed = mixed + self.mixup(r[k], labels[k], r[k][other], labels[k][other])
        for i, j in itertools.combinations(each, 2):
            mixed = mixed + self.mixup(r[i], labels[i], r[j], labels[j])
        loss = loss + 0.15 * mixed
        self.update(loss, self.optimizers)

        domain_loss = torch.zeros(())
        for k in each:
            features = self.backbone(self.u_weak[k]).detach()
            domain_loss = domain_loss + F.cross_entropy(self.domain_head(features), torch.full((self.per_domain,), k))
        self.update(domain_loss, [self.domain_optimizer])
        return loss.item()

    @staticmethod
    def update(loss, optimizers):
        for o in optimizers:
            o.zero_grad()
        loss.backward()
        for o in optimizers:
            o.step()

    def forwards(self):
        n, b = self.domains * self.per_domain, self.per_domain
        return 2 * n + n + 2 * n + n + b * (self.domains * (self.domains - 1) // 2) + n


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--net", default="smallcnn", choices=["smallcnn", *DEPTHS, "efficientnet-lite0"])
    p.add_argument("--width", type=int, default=64, help="channels of smallcnn, of the first stage of a resnet (efficientnet-lite0 has its own)")
    p.add_argument("--size", type=int, default=32, help="side of the images in pixels")
    p.add_argument("--classes", type=int, default=7)
    p.add_argument("--domains", type=int, default=3)
    p.add_argument("--per-domain", type=int, default=16)
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--amp", action="store_true", help="compute in bfloat16 where torch.autocast does")
    p.add_argument("--device", default="cpu", help="cpu, or cuda, which multiplies float32 as tf32")
    p.add_argument("--compile", action="store_true", help="compile the backbone by torch.compile")
    p.add_argument("--threads", type=int, default=0, help="0: what PyTorch takes by itself")
    a = p.parse_args()
    torch.set_default_device(a.device)
    torch.manual_seed(1)
    cuda = a.device.startswith("cuda")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = cuda
    if a.threads:
        torch.set_num_threads(a.threads)

    step = Step(a)
    seconds = []
    for _ in range(a.warmup + a.steps):
        start = time.perf_counter()
        with torch.autocast(torch.device(a.device).type, torch.bfloat16, enabled=a.amp):
            step.run()  # ends with a number read from the device, so all work is done
        seconds.append(time.perf_counter() - start)
    first, timed = seconds[0], seconds[a.warmup :]
    median = statistics.median(timed)
    print(json.dumps({
        "net": a.net, "width": 32 if a.net == "efficientnet-lite0" else a.width, "size": a.size, "per_domain": a.per_domain,
        "backend": "pytorch, compiled" if a.compile else "pytorch", "version": torch.__version__, "precision": "bfloat16" if a.amp else "tf32" if cuda else "float32",
        "threads": torch.get_num_threads(), "steps": a.steps,
        "step_seconds_median": median, "steps_per_second": 1 / median,
        "forwards_per_step": step.forwards(), "forwards_in_method": step.forwards(),
        "images_per_second": step.forwards() / median,
        "compile_seconds": max(0.0, first - median),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "python": platform.python_version(),
    }))


if __name__ == "__main__":
    main()
