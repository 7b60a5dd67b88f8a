"""Makes small networks of four families, and PyTorch's gradients of one step of theirs.

    python make.py        (PyTorch 2.15, timm 1.0.31, onnx 1.23)

A step is one of train_test.go's: images 0 to 3 of imported_test.go's image(k), normalised with a mean of 0.5
and a deviation of 0.25, go through the network in evaluation mode in two batches, 0 to 2 and 3 to 5,
and the loss is the sum of features times cos(0.7 i), with i their flat index in a batch. golden.json has by
network and weight the norm of the gradient and some of its values, and of the features.
"""
import json

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from timm.models.convnext import ConvNeXt
from timm.models.mobilenetv3 import MobileNetV3
from timm.models.resnet import BasicBlock, ResNet
from timm.models.vision_transformer import VisionTransformer
from timm.models.efficientnet import EfficientNet
from timm.models._efficientnet_builder import decode_arch_def
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)


def pixels(k):
    i = np.arange(32 * 32 * 3, dtype=np.int64)
    return (((i * i >> 3) + 37 * k * (i // 96)) % 256).astype(np.uint8).reshape(32, 32, 3)


def batch(ks):
    x = np.stack([pixels(k) for k in ks]).astype(np.float32) / 255
    return torch.from_numpy(np.ascontiguousarray(((x - 0.5) / 0.25).transpose(0, 3, 1, 2)))


def some(v):
    v = np.asarray(v, np.float64).reshape(-1)
    at = [int(i) for i in np.unique(np.linspace(0, len(v) - 1, 8).round())]
    return {"norm": float(f"{np.linalg.norm(v):.7g}"), "at": at, "values": [float(f"{v[i]:.7g}") for i in at]}


golden = {}


def make(name, net, shuffle=(), opset=17):
    net = net.eval()
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.2), m.running_var.uniform_(0.5, 2)
            if m in shuffle or not shuffle:
                m.weight.data.uniform_(0.5, 2), m.bias.data.normal_(0, 0.3)
        if isinstance(m, nn.LayerNorm):
            m.weight.data.uniform_(0.5, 2), m.bias.data.normal_(0, 0.3)
    for p in net.parameters():
        if not shuffle and p.std() == 0:  # no two are equal
            p.data += torch.randn(p.shape) / 10
    torch.onnx.export(net, (batch([0]),), name + ".onnx", dynamo=False, opset_version=opset, input_names=["pixels"], output_names=["features"],
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=True, dynamic_axes={"pixels": {0: "batch"}})
    model = onnx.load(name + ".onnx")
    model.producer_name = ""
    del model.graph.value_info[:], model.graph.metadata_props[:]
    for n in model.graph.node:
        n.doc_string = ""
        del n.metadata_props[:]
    onnx.save(model, name + ".onnx")
    print(name, sorted({n.op_type for n in model.graph.node}))

    loss, features = 0, []
    for ks in ([0, 1, 2], [3, 4, 5]):
        y = net(batch(ks))
        features.append(y.detach().numpy())
        loss = loss + (y * torch.cos(0.7 * torch.arange(y.numel())).reshape(y.shape)).sum()
    loss.backward()
    golden[name] = {"features": some(np.stack(features)), "gradients": gradients(model, net)}


def gradients(model, net):
    given = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    ties = {o for n in model.graph.node if n.op_type == "Identity" for o in n.output}
    grads = {}
    for key, p in net.named_parameters():
        g, v = p.grad.numpy(), None
        if key not in given and key not in ties:  # which the export has turned
            p = p.detach().numpy()
            key = next(k for k, v in given.items() if v.size == p.size and np.array_equal(v.reshape(-1), (p.T if p.ndim == 2 else p).reshape(-1)))
            g = g.T if p.ndim == 2 else g
        grads[key] = some(g)
    return grads


torch.backends.mkldnn.enabled = False
resnet = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=0, channels=(6, 6, 8, 8), zero_init_last=False)
resnet.conv1, resnet.bn1, resnet.layer1[0].conv1 = nn.Conv2d(3, 6, 7, 2, 3, bias=False), nn.BatchNorm2d(6), nn.Conv2d(6, 6, 3, 1, 1, bias=False)
resnet.layer1[0].downsample[0] = nn.Conv2d(6, 6, 1, bias=False)
make("resnet", resnet, shuffle=[resnet.bn1, resnet.layer3[0].bn2])
arch = [["ds_r1_k3_s1_e1_c8"], ["ir_r1_k3_s2_e3_c8", "ir_r1_k5_s1_e3_c8_se0.25"]]
make("mobilenet", MobileNetV3(decode_arch_def(arch), num_classes=0, num_features=16, stem_size=6, global_pool="avg", act_layer=nn.Hardswish))
make("convnext", ConvNeXt(depths=(1, 1, 1, 1), dims=(4, 6, 8, 12), num_classes=0, ls_init_value=0.5, drop_path_rate=0))
make("vit", VisionTransformer(img_size=32, patch_size=8, embed_dim=16, depth=2, num_heads=2, num_classes=0, init_values=0.5), opset=16)

# For runs: any size, exported as it trains, with BatchNormalization's own statistics and Dropout.
small = nn.Sequential(nn.Conv2d(3, 6, 4, 4, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3, 1, 1, groups=6), nn.Dropout(0.1),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten())
torch.onnx.export(small.train(), (batch([0, 1]),), "small.onnx", dynamo=False, opset_version=18, input_names=["pixels"], output_names=["features"],
                  training=torch.onnx.TrainingMode.TRAINING, dynamic_axes={"pixels": {0: "batch", 2: "h", 3: "w"}})
model = onnx.load("small.onnx")
model.producer_name = ""
onnx.save(model, "small.onnx")
json.dump(golden, open("golden.json", "w"), separators=(",", ":"))
