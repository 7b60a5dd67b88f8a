"""Writes decode/*: small images in many flavours, and for each the RGB pixels
that Pillow makes of it (NAME.want.png). Needs Pillow 9.4 and numpy.

Flavours that Pillow cannot write are put together from chunks here.
"""
import glob
import io
import struct
import zlib

import numpy as np
from PIL import Image

W, H = 21, 13  # odd, so that the edges of subsampled chroma matter
y, x = np.mgrid[0:H, 0:W]
rng = np.random.RandomState(3)
rgb = np.stack([40 + 9 * x, 250 - 15 * y, 128 + 90 * np.sin(x / 3.0 + y / 2.0)], -1)
rgb = np.clip(rgb + rng.randint(-12, 13, rgb.shape), 0, 255).astype(np.uint8)
alpha = np.clip(13 * x - 5, 0, 255).astype(np.uint8)
colour = Image.fromarray(rgb)
grey = colour.convert("L")


def chunk(tag, data):
    return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))


def png(name, depth, kind, rows, interlace=0):
    """Writes a PNG; rows are the raw bytes of each scanline (of each pass)."""
    head = struct.pack(">IIBBBBB", W, H, depth, kind, 0, 0, interlace)
    body = zlib.compress(b"".join(b"\0" + r for r in rows))
    with open(f"decode/{name}", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def adam7(a):
    for y0, dy, x0, dx in ((0, 8, 0, 8), (0, 8, 4, 8), (4, 8, 0, 4), (0, 4, 2, 4), (2, 4, 0, 2), (0, 2, 1, 2), (1, 2, 0, 1)):
        part = a[y0::dy, x0::dx]
        if part.size:
            for row in part:
                yield row.tobytes()


colour.save("decode/rgb8.png")
grey.save("decode/grey8.png")
grey.convert("1").save("decode/grey1.png")
colour.quantize(200).save("decode/palette8.png")
colour.quantize(13).save("decode/palette4.png", bits=4)
colour.quantize(13).save("decode/palette4_trns.png", bits=4, transparency=bytes(range(0, 260, 20)))
colour.quantize(2).save("decode/palette1.png", bits=1)
Image.merge("LA", [grey, Image.fromarray(alpha)]).save("decode/grey_alpha8.png")
Image.merge("RGBA", [*colour.split(), Image.fromarray(alpha)]).save("decode/rgba8.png")
colour.save("decode/rgb8_trns.png", transparency=tuple(int(v) for v in rgb[4, 4]))
grey.save("decode/grey8_trns.png", transparency=int(np.asarray(grey)[4, 4]))

wide = rgb.astype(">u2") * 257 - rng.randint(0, 200, rgb.shape).astype(">u2")
wide = np.minimum(wide, 65535).astype(">u2")
a16 = (alpha.astype(">u2") * 256 + 7).astype(">u2")
png("rgb16.png", 16, 2, [r.tobytes() for r in wide])
png("rgba16.png", 16, 6, [r.tobytes() for r in np.dstack([wide, a16]).astype(">u2")])
png("grey_alpha16.png", 16, 4, [r.tobytes() for r in np.dstack([wide[..., 0], a16]).astype(">u2")])
png("grey16.png", 16, 0, [r.tobytes() for r in wide[..., 0]])
g4 = np.asarray(grey) >> 4
packed = [bytes((int(r[i]) << 4) | (int(r[i + 1]) if i + 1 < W else 0) for i in range(0, W, 2)) for r in g4]
png("grey4.png", 4, 0, packed)
png("rgb8_interlaced.png", 8, 2, list(adam7(rgb)), interlace=1)

for name, sub in (("444", 0), ("422", 1), ("420", 2)):
    colour.save(f"decode/jpeg_{name}.jpg", quality=90, subsampling=sub)
colour.save("decode/jpeg_progressive.jpg", quality=90, progressive=True)
colour.crop((0, 0, 3, 5)).save("decode/jpeg_narrow.jpg", quality=90, subsampling=2)
grey.save("decode/jpeg_grey.jpg", quality=90)
cmyk = Image.fromarray(np.dstack([255 - rgb, (x * 6).astype(np.uint8)]), "CMYK")
cmyk.save("decode/jpeg_cmyk.jpg", quality=90)
b = io.BytesIO()
cmyk.save(b, "JPEG", quality=90)
b = b.getvalue()
i = b.index(b"\xff\xee")
assert b[i + 4:i + 9] == b"Adobe"
n = struct.unpack(">H", b[i + 2:i + 4])[0]
with open("decode/jpeg_cmyk_unmarked.jpg", "wb") as f:
    f.write(b[:i] + b[i + 2 + n:])
# YCCK: the same entropy-coded data, declared as transformed (Adobe transform 2).
with open("decode/jpeg_ycck.jpg", "wb") as f:
    f.write(b[:i + 15] + b"\x02" + b[i + 16:])

for p in sorted(glob.glob("decode/*.png") + glob.glob("decode/*.jpg")):
    if p.endswith(".want.png"):
        continue
    if p == "decode/grey16.png":  # Pillow 9.4 clips these at 255; the high byte is wanted
        want = Image.fromarray((wide[..., 0] >> 8).astype(np.uint8)).convert("RGB")
    else:
        want = Image.open(p).convert("RGB")
    want.save(p[:-4] + ".want.png")
