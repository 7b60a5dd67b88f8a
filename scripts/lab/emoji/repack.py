"""Compresses the images of an archive again, without loss and in fewer bytes: repack.py ARCHIVE.zip...

The pixels stay the same. main.go's files have other digests, by which records and features know the images: their
SHA-256 goes to first.sha256 beside the archives, in the order of the arguments. Needs Pillow 13.0.0.
"""

import hashlib
import io
import pathlib
import sys
import zipfile

from PIL import Image

first = b""
for name in sys.argv[1:]:
    with zipfile.ZipFile(name) as z:
        files = [(i.filename, z.read(i)) for i in z.infolist()]
    with zipfile.ZipFile(name, "w") as z:
        for path, data in files:
            first += hashlib.sha256(data).digest()
            picture, small = Image.open(io.BytesIO(data)).convert("RGB"), io.BytesIO()
            picture.save(small, "WEBP", lossless=True, quality=100, method=6)
            assert Image.open(small).convert("RGB").tobytes() == picture.tobytes(), path
            z.writestr(zipfile.ZipInfo(path), min(data, small.getvalue(), key=len))
pathlib.Path(sys.argv[1]).with_name("first.sha256").write_bytes(first)
