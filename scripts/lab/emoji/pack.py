"""Packs a .safetensors file of ledg embed as a compressed .npz, which is half as large: pack.py FROM TO.

The numbers stay the same to the bit. Digests of images are left out, because the images are embedded in ledg.
"""

import json
import sys
import zipfile

import numpy as np
from numpy.lib import format
from safetensors import safe_open

with safe_open(sys.argv[1], "numpy") as f, zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    z.writestr("metadata.json", json.dumps(f.metadata(), sort_keys=True))
    for name in sorted(f.keys()):
        a = f.get_tensor(name)
        if a.dtype == "uint8":  # lines of text, plain or JSON
            a = np.array([json.loads(line) if line[:1] == '"' else line for line in a.tobytes().decode().rstrip("\n").split("\n")], "S")
        if name != "digests":
            with z.open(name + ".npy", "w") as entry:
                format.write_array(entry, a, version=(1, 0))
