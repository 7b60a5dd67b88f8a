"""Times the features of images in ONNX Runtime: a file .onnx, batches of images of normal values in memory.

Prints one JSON object with the names that `bench features` uses.
"""

import argparse
import json
import os
import resource
import time

import numpy as np
import onnxruntime


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--net", required=True, help="file .onnx")
    p.add_argument("--size", type=int, default=224, help="side of the images in pixels")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--threads", type=int, default=0, help="0: what ONNX Runtime takes by itself")
    a = p.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = a.threads
    session = onnxruntime.InferenceSession(a.net, options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).standard_normal((a.batch, 3, a.size, a.size)).astype(np.float32)
    feeds = {session.get_inputs()[0].name: x}
    for _ in range(2):
        session.run(None, feeds)
    images, start = 0, time.perf_counter()
    while images == 0 or time.perf_counter() - start < a.seconds:
        session.run(None, feeds)
        images += a.batch
    seconds = time.perf_counter() - start
    print(json.dumps({
        "net": os.path.basename(a.net), "features": True, "size": a.size, "backend": "python",
        "version": "onnxruntime " + onnxruntime.__version__, "threads": a.threads, "images": images,
        "step_seconds_median": seconds / images,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


if __name__ == "__main__":
    main()
