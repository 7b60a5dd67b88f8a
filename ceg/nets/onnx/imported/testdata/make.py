"""Makes the networks of this folder, with random weights, and what ONNX Runtime says of them.

    python make.py        (PyTorch 2.15, onnx 1.23, onnxruntime 1.32, Pillow)

NAME.onnx takes images [batch, 3, 32, 32]; golden.json has, for each, the outputs for the two images
that image(0) and image(1) of imported_test.go are, normalised with a mean of 0.5 and a deviation of 0.25.
resize.json has Pillow's resized images.
"""
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.a, self.b = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.Conv2d(b, b, 3, 1, 1, groups=b)
        self.na, self.nb = nn.BatchNorm2d(b), nn.BatchNorm2d(b)
        self.short = nn.Conv2d(a, b, 1, stride) if stride > 1 or a != b else nn.Identity()

    def forward(self, x):
        return F.relu(self.nb(self.b(F.hardswish(self.na(self.a(x))))) + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 12, 2))

    def forward(self, x):
        x = F.max_pool2d(F.leaky_relu(self.norm(self.stem(x)), 0.1), 3, 2, 1)
        return self.blocks(x).mean((2, 3))


class ViT(nn.Module):
    """Two outputs: tokens [n, 17, 16], and a class token that went through a layer."""

    def __init__(self, d=16, heads=2):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 8, 8)
        self.cls, self.place = nn.Parameter(torch.randn(1, 1, d)), nn.Parameter(torch.randn(1, 17, d))
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.n1, self.n2, self.last = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 6)
        self.heads = heads

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.place
        b, n, d = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = ((q * (d // self.heads) ** -0.5) @ k.transpose(-2, -1)).softmax(-1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(b, n, d))
        x = x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))
        return x, torch.tanh(self.last(x[:, 0]))


class Fixed(nn.Module):
    """For one image at a time, channels last, pooled with borders."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 6, 3, 1, 1, dilation=1)

    def forward(self, x):
        x = F.avg_pool2d(F.elu(self.a(x.permute(0, 3, 1, 2))), 3, 2, 1)
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        return F.softplus(F.pad(x, (1, 1, 1, 1))).reshape(1, 6, -1).mean(2)


def pixels(k):
    """image(k) of imported_test.go."""
    i = np.arange(32 * 32 * 3, dtype=np.int64)
    return (((i * i >> 3) + 37 * k * (i // 96)) % 256).astype(np.uint8).reshape(32, 32, 3)


def save(model, name):
    model.doc_string, model.producer_name = "", ""
    for n in model.graph.node:
        n.doc_string = ""
    del model.graph.value_info[:]
    onnx.checker.check_model(model)
    onnx.save(model, name + ".onnx")
    return model


def export(net, name, x, outputs, opset=17, dynamic=True):
    torch.onnx.export(net.eval(), (x,), name + ".onnx", dynamo=False, opset_version=opset, input_names=["pixels"], output_names=outputs,
                      dynamic_axes={"pixels": {0: "batch"}} if dynamic else None)
    return save(onnx.load(name + ".onnx"), name)


golden = {}


def run(name, last=False):
    session = onnxruntime.InferenceSession(name + ".onnx")
    half = session.get_inputs()[0].type == "tensor(float16)"
    for k in range(2):
        x = ((pixels(k).astype(np.float32) / 255 - 0.5) / 0.25)[None]
        x = x if last else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        for o, v in zip(session.get_outputs(), session.run(None, {"pixels": x.astype(np.float16) if half else x})):
            golden.setdefault(name, {}).setdefault(o.name, []).append({"shape": v.shape[1:], "values": [float(f"{f:.9g}") for f in v.reshape(-1)]})


for m in (resnet := ResNet()).modules():
    if isinstance(m, nn.BatchNorm2d):
        m.running_mean.normal_(0, 0.2), m.running_var.uniform_(0.5, 2), m.weight.data.uniform_(0.5, 2), m.bias.data.normal_()
x = torch.randn(1, 3, 32, 32)
export(resnet, "resnet", x, ["features"])
vit = export(ViT(), "vit", x, ["tokens", "pooled"])
export(ViT(), "vit11", x, ["tokens", "pooled"], opset=11)
export(Fixed(), "fixed", torch.randn(1, 32, 32, 3), ["y"], dynamic=False)
for name, last in [("resnet", False), ("vit", False), ("vit11", False), ("fixed", True)]:
    run(name, last)

# The vit once more: weights beside it, and in half precision (with the outputs of the rounded weights in float32).
pathlib.Path("outside.bin").unlink(missing_ok=True)
onnx.save(vit, "outside.onnx", save_as_external_data=True, location="outside.bin", size_threshold=64)
rounded, halved = onnx.load("vit.onnx"), onnx.load("vit.onnx")
for a, b in zip(rounded.graph.initializer, halved.graph.initializer):
    if a.data_type == TensorProto.FLOAT:
        v = numpy_helper.to_array(a).astype(np.float16)
        b.CopyFrom(numpy_helper.from_array(v, a.name))
        a.CopyFrom(numpy_helper.from_array(v.astype(np.float32), a.name))
for m in (rounded, halved):
    for n in m.graph.node:
        for at in n.attribute:
            if at.name == "value" and at.t.data_type == TensorProto.FLOAT:
                v = numpy_helper.to_array(at.t).astype(np.float16)
                at.t.CopyFrom(numpy_helper.from_array(v if m is halved else v.astype(np.float32)))
halved.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT16
for o in halved.graph.output:
    o.type.tensor_type.elem_type = TensorProto.FLOAT16
onnx.save(rounded, "half.onnx")
run("half")
onnx.save(halved, "half.onnx")

json.dump(golden, open("golden.json", "w"), separators=(",", ":"))

# Pillow's filters, of an image of 23 x 17 pixels.
source = np.random.default_rng(2).integers(0, 256, (17, 23, 3), dtype=np.uint8)
resized = []
for name, kind in (("bilinear", Image.BILINEAR), ("bicubic", Image.BICUBIC), ("lanczos", Image.LANCZOS)):
    for size in ((9, 11), (26, 19), (23, 5), (2, 2)):
        resized.append({"filter": name, "width": size[0], "height": size[1], "pixels": np.asarray(Image.fromarray(source).resize(size, kind)).reshape(-1).tolist()})
json.dump({"width": 23, "height": 17, "pixels": source.reshape(-1).tolist(), "resized": resized}, open("../../../../../datasets/rgb/testdata/filters.json", "w"), separators=(",", ":"))
