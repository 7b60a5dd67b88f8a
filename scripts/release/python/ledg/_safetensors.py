"""Files of named arrays: a length, a JSON header, and the values of each in little-endian."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

_NAMES = {"float16": "F16", "float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "uint8": "U8"}


def write(path: Path, arrays: dict[str, Any]) -> None:
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": _NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            f.write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def read(path: Path, np: Any) -> dict[str, Any]:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    kinds = {v: np.dtype(k).newbyteorder("<") for k, v in _NAMES.items()}
    out = {}
    for name, entry in header.items():
        start, end = (8 + size + v for v in entry["data_offsets"])
        out[name] = np.frombuffer(data[start:end], kinds[entry["dtype"]]).reshape(entry["shape"]).copy()
    return out
