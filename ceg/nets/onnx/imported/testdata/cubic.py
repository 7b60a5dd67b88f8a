"""Makes cubic.onnx, and cubic.json: what ONNX Runtime says of it and of cubic Resizes by themselves.

    python cubic.py        (onnx 1.23, onnxruntime 1.32)

cubic.onnx takes images [batch, 3, size, size], as those of make.py: patches, to which places are added that
were learnt on a grid of 3 x 3 and are resized to the patches' grid, whose size the graph computes, as PyTorch
exports a vision transformer's; then maps that are scaled by 1.3 with the corners in their place.
cubic.json has its outputs, every 7th, for the two images of 32 pixels of make.py, normalised with a mean of 0.5
and a deviation of 0.25; and, in cases, for the map of 5 x 7 whose pixel i is sin(i*i) what Resize makes of it.
"""
import itertools
import json

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def session(nodes, inputs, outputs, weights, opset=18):
    graph = helper.make_graph(nodes, "cubic", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.checker.check_model(model)
    return model, onnxruntime.InferenceSession(model.SerializeToString())


def pixels(k):
    i = np.arange(32 * 32 * 3, dtype=np.int64)
    return (((i * i >> 3) + 37 * k * (i // 96)) % 256).astype(np.uint8).reshape(32, 32, 3)


def short(v):
    return [float(f"{f:.9g}") for f in v.reshape(-1)]


cases = []
x = np.sin(np.arange(35.0) ** 2).astype(np.float32).reshape(1, 1, 5, 7)
for place, exclude, a, by in itertools.product(
    ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"), (0, 1), (-0.75, -0.5),
    ([1, 1, 8, 11], [1, 1, 2, 3], [1, 1, 1, 7], [1.0, 1.0, 1.7, 2.3], [1.0, 1.0, 0.6, 0.5])):
    sizes = isinstance(by[2], int)
    how = numpy_helper.from_array(np.array(by, np.int64 if sizes else np.float32), "by")
    node = helper.make_node("Resize", ["x", "", "", "by"] if sizes else ["x", "", "by"], ["y"], mode="cubic",
                            coordinate_transformation_mode=place, exclude_outside=exclude, cubic_coeff_a=a)
    _, s = session([node], [helper.make_tensor_value_info("x", 1, [1, 1, 5, 7])], [helper.make_tensor_value_info("y", 1, [1, 1, None, None])], [how])
    y = s.run(None, {"x": x})[0]
    cases.append({"place": place, "exclude": exclude, "a": a, "scales": [] if sizes else by[2:], "height": y.shape[2], "width": y.shape[3], "values": short(y)})

rng = np.random.default_rng(3)
weights = [numpy_helper.from_array(v, name) for name, v in {
    "patch": (rng.normal(size=(4, 3, 4, 4)) / 7).astype(np.float32), "places": rng.normal(size=(1, 4, 3, 3)).astype(np.float32),
    "first": np.array([0]), "middle": np.array([2]), "last": np.array([4]), "one": np.array([1]), "four": np.array([4]),
    "scales": np.array([1, 1, 1.3, 1.3], np.float32)}.items()]
nodes = [
    helper.make_node("Conv", ["pixels", "patch"], ["patches"], strides=[4, 4]),
    helper.make_node("Shape", ["patches"], ["shape"]),
    helper.make_node("Slice", ["shape", "middle", "last", "first"], ["grid"]),
    helper.make_node("Concat", ["one", "four", "grid"], ["sizes"], axis=0),
    helper.make_node("Resize", ["places", "", "", "sizes"], ["resized"], mode="cubic", coordinate_transformation_mode="pytorch_half_pixel", cubic_coeff_a=-0.75),
    helper.make_node("Add", ["patches", "resized"], ["sum"]),
    helper.make_node("Tanh", ["sum"], ["maps"]),
    helper.make_node("Resize", ["maps", "", "scales"], ["larger"], mode="cubic", coordinate_transformation_mode="align_corners", cubic_coeff_a=-0.5),
    helper.make_node("Flatten", ["larger"], ["y"]),
]
model, s = session(nodes, [helper.make_tensor_value_info("pixels", 1, ["n", 3, "side", "side"])], [helper.make_tensor_value_info("y", 1, ["n", "d"])], weights)
onnx.save(model, "cubic.onnx")
features = []
for k in range(2):
    image = ((pixels(k).astype(np.float32) / 255 - 0.5) / 0.25).transpose(2, 0, 1)[None]
    features.append(short(s.run(None, {"pixels": np.ascontiguousarray(image)})[0])[::7])
json.dump({"cases": cases, "features": features}, open("cubic.json", "w"), separators=(",", ":"))
