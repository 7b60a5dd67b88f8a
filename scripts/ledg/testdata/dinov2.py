"""Writes dinov2.onnx, a network with the inputs and outputs of DINOv2 and random weights: patches of
14 pixels become 256 tokens of 4 numbers, and their mean the token of the class. Needs onnx; run it in this folder."""
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

weights = np.random.default_rng(1).normal(size=(4, 3, 14, 14)).astype(np.float32) / 25
graph = helper.make_graph(
    [
        helper.make_node("Conv", ["pixel_values", "patches"], ["map"], strides=[14, 14]),
        helper.make_node("Reshape", ["map", "flat"], ["rows"]),
        helper.make_node("Transpose", ["rows"], ["tokens"], perm=[0, 2, 1]),
        helper.make_node("ReduceMean", ["tokens"], ["class"], axes=[1], keepdims=1),
        helper.make_node("Concat", ["class", "tokens"], ["last_hidden_state"], axis=1),
        helper.make_node("ReduceMean", ["tokens"], ["pooler_output"], axes=[1], keepdims=0),
    ],
    "dinov2",
    [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch", 3, 224, 224])],
    [
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", 257, 4]),
        helper.make_tensor_value_info("pooler_output", TensorProto.FLOAT, ["batch", 4]),
    ],
    [numpy_helper.from_array(weights, "patches"), numpy_helper.from_array(np.array([0, 4, -1]), "flat")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
checker.check_model(model, full_check=True)
save(model, "dinov2.onnx")
