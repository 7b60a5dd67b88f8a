"""Compares the files that TestWritten writes with those that they come from, both by ONNX Runtime.

    LEDG_WRITTEN=DIR go test ./ceg/nets/onnx/imported -run TestWritten && python written.py DIR

By hand: tests need no Python. With onnxruntime 1.32 they were equal, but for small.onnx, which is a network in
training itself.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

i = np.arange(32 * 32 * 3, dtype=np.int64)
image = (((i * i >> 3) + 37 * (i // 96)) % 256).astype(np.float32).reshape(1, 32, 32, 3) / 255
image = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    onnx.checker.check_model(onnx.load(path))
    session = onnxruntime.InferenceSession(path)
    out = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"image": image})))
    origin = pathlib.Path(__file__).parent / (path.stem.rstrip("_") + ".onnx")
    if not origin.exists():
        print(path.name, {k: v.shape for k, v in out.items()})
        continue
    want = onnxruntime.InferenceSession(origin).run(["features"], {"pixels": (image - 0.5) / 0.25})[0]
    print(path.name, "off by", np.abs(out["features"] - want).max(), "of", np.abs(want).max())
