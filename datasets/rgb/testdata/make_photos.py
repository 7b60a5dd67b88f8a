"""Writes photo/: images with an EXIF orientation or with transparency, and for each the RGB
pixels of ImageOps.exif_transpose, composited on white (NAME.want.png). Run it in this folder
with Pillow 13.0.0.
"""
import math
import os
import random

from PIL import Image, ImageOps

os.makedirs("photo", exist_ok=True)
W, H = 21, 13
random.seed(7)
colour, alpha = Image.new("RGB", (W, H)), Image.new("L", (W, H))
for y in range(H):
    for x in range(W):
        p = (40 + 9 * x, 250 - 15 * y, int(128 + 90 * math.sin(x / 3 + y / 2)))
        colour.putpixel((x, y), tuple(min(max(v + random.randint(-9, 9), 0), 255) for v in p))
        alpha.putpixel((x, y), min(max(13 * x - 5, 0), 255))
rgba = Image.merge("RGBA", [*colour.split(), alpha])
palette = colour.quantize(60)
hidden = palette.getpixel((4, 4))


def save(name, image, **options):
    image.save(f"photo/{name}", **options)
    with Image.open(f"photo/{name}") as m:
        m = ImageOps.exif_transpose(m).convert("RGBA")
    white = Image.new("RGBA", m.size, "white")
    Image.alpha_composite(white, m).convert("RGB").save(f"photo/{name.split('.')[0]}.want.png")


def turned(k):
    exif = Image.Exif()
    exif[0x0112] = k
    return exif


for k in range(1, 9):
    save(f"jpeg_{k}.jpg", colour, quality=95, exif=turned(k))
save("jpeg_99.jpg", colour, quality=95, exif=turned(99))
save("png_6.png", colour, exif=turned(6))
save("png_alpha_8.png", rgba, exif=turned(8))
save("tiff_6.tif", colour, tiffinfo={0x0112: 6})
save("webp_6.webp", colour, lossless=True, exif=turned(6))
save("webp_lossy_3.webp", colour, quality=90, exif=turned(3))
save("png_alpha.png", rgba)
save("png_palette.png", palette, transparency=hidden)
save("gif.gif", palette, transparency=hidden)
save("tiff_alpha.tif", rgba)
save("webp_alpha.webp", rgba, lossless=True, exact=True)
save("webp_lossy_alpha.webp", rgba, quality=90)
