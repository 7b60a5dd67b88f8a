"""Writes decode/jpegs_* and scaled.csv: JPEGs in all flavours that Pillow and libjpeg's cjpeg write,
and for each the RGB pixels that Pillow makes of it (NAME.want.png). Needs Pillow 13
and the cjpeg of libjpeg-turbo (Debian's libjpeg-turbo-progs).
"""
import glob
import hashlib
import io
import os
import subprocess

import numpy as np
from PIL import Image

rng = np.random.RandomState(11)


def picture(w, h, noise=12):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([40 + 5 * x, 250 - 7 * y, 128 + 90 * np.sin(x / 3.0 + y / 2.0)], -1)
    return Image.fromarray(np.clip(a + rng.randint(-noise, noise + 1, a.shape), 0, 255).astype(np.uint8))


def done(name, data):
    with open(f"decode/jpegs_{name}.jpg", "wb") as f:
        f.write(data)
    Image.open(io.BytesIO(data)).convert("RGB").save(f"decode/jpegs_{name}.want.png")


def pillow(name, image, **options):
    b = io.BytesIO()
    image.save(b, "JPEG", **options)
    done(name, b.getvalue())


def cjpeg(name, image, *options):
    b = io.BytesIO()
    image.save(b, "PPM")
    done(name, subprocess.run(["cjpeg", *options], input=b.getvalue(), capture_output=True, check=True).stdout)


for quality in (1, 10, 50, 100):
    pillow(f"q{quality}", picture(33, 18), quality=quality, subsampling="4:2:0")
pillow("q1_noise", picture(24, 17, 255), quality=1)
pillow("444_odd", picture(17, 9), quality=80, subsampling="4:4:4")
pillow("422_odd", picture(19, 25), quality=80, subsampling="4:2:2")
pillow("420_one", picture(1, 1), subsampling="4:2:0")
pillow("420_four_wide", picture(4, 31), subsampling="4:2:0")
pillow("422_five_wide", picture(5, 8), subsampling="4:2:2")
pillow("rgb", picture(20, 20), keep_rgb=True, subsampling=0)
pillow("grey", picture(23, 20).convert("L"), quality=40)
pillow("grey_progressive", picture(23, 20).convert("L"), quality=40, progressive=True)
pillow("cmyk_progressive", picture(23, 20).convert("CMYK"), quality=60, progressive=True)
pillow("progressive_420", picture(35, 37), quality=70, progressive=True, subsampling="4:2:0")
pillow("progressive_restart", picture(35, 37), progressive=True, restart_marker_blocks=2)
pillow("restart", picture(60, 37), restart_marker_blocks=1)
pillow("restart_rows", picture(60, 37), optimize=True, restart_marker_rows=1)
cjpeg("440", picture(22, 27), "-sample", "1x2,1x1,1x1")
cjpeg("440_narrow", picture(2, 27), "-sample", "1x2,1x1,1x1")
cjpeg("411", picture(45, 11), "-sample", "4x1,1x1,1x1")
cjpeg("410", picture(45, 21), "-sample", "4x2,1x1,1x1")
cjpeg("mixed", picture(29, 30), "-sample", "2x2,2x1,1x2")
cjpeg("luma_halved", picture(29, 30), "-sample", "1x1,2x2,1x1")
cjpeg("third", picture(29, 13), "-sample", "3x1,1x1,1x1")
cjpeg("large_factors", picture(29, 13), "-sample", "2x1,2x1,2x1")
cjpeg("wide_tables", picture(20, 20), "-quality", "1", "-restart", "3B")
with open("decode/scans.txt", "w") as f:
    f.write("0; 2; 1;")
cjpeg("three_scans", picture(37, 23), "-scans", "decode/scans.txt")
with open("decode/scans.txt", "w") as f:
    f.write("0: 0-0, 0, 2; 1,2: 0-0, 0, 1; 0: 1-9, 0, 3; 0: 10-63, 0, 3; 1: 1-63, 0, 1; 2: 1-63, 0, 0; 0: 1-63, 3, 2;"
            "0: 1-63, 2, 1; 0: 1-63, 1, 0; 1: 1-63, 1, 0; 0: 0-0, 2, 1; 0: 0-0, 1, 0; 1,2: 0-0, 1, 0;")
cjpeg("many_scans", picture(37, 43), "-scans", "decode/scans.txt")
os.remove("decode/scans.txt")

# The sizes and SHA-256 sums of the pixels of all JPEGs at a half, a quarter and an eighth of the size.
with open("scaled.csv", "w") as f:
    for path in sorted(glob.glob("decode/jpeg*.jpg")):
        for shrink in (2, 4, 8):
            image = Image.open(path)
            image.decoderconfig = (shrink, 0)  # what Image.draft sets, for one of the four scales
            image._size = tuple((side + shrink - 1) // shrink for side in image.size)
            image.tile = [image.tile[0]._replace(extents=(0, 0) + image.size)]
            rgb = image.convert("RGB")
            f.write(f"{os.path.basename(path)},{shrink},{rgb.width},{rgb.height},{hashlib.sha256(rgb.tobytes()).hexdigest()}\n")
