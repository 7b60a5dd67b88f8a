#!/usr/bin/env python3
"""Packs the photographs that build.py makes as the embedded data set: pack.py NATURAL datasets/clothes/photos.zip.

Each photo becomes a WebP whose longest side is 96 px, called SITE/CLASS/SENDER_ID.webp with the first eight digits of
the photo's id. Needs Pillow 13.0.0; other versions may compress to other bytes.
"""
import csv
import io
import pathlib
import sys
import zipfile

from PIL import Image

SIDE, QUALITY = 96, 60

root = pathlib.Path(sys.argv[1])
names = {}
for row in csv.DictReader(open(root / "photos.csv", newline="")):
    sender, photo = pathlib.PurePath(row["path"]).stem.split("_")
    names[f"{row['site']}/{row['class']}/{sender}_{photo[:8]}.webp"] = row["path"]
with zipfile.ZipFile(sys.argv[2], "w") as z:
    for name, path in sorted(names.items()):
        picture = Image.open(root / path).convert("RGB")
        picture.thumbnail((SIDE, SIDE), Image.LANCZOS)
        data = io.BytesIO()
        picture.save(data, "WEBP", quality=QUALITY, method=6)
        z.writestr(zipfile.ZipInfo(name), data.getvalue())
print(len(names), "photos")
