"""Writes decode/: GIF, BMP, TIFF and WebP images, and for each the RGB pixels that
Pillow makes of it (NAME.want.png). Run it in this folder with Pillow 13.0.0 and
numpy; see README.md for the library versions.
"""
import struct

import numpy as np
from PIL import Image, features

W, H = 21, 13  # odd, so that the edges of subsampled chroma matter
y, x = np.mgrid[0:H, 0:W]
rng = np.random.RandomState(5)
rgb = np.stack([40 + 9 * x, 250 - 15 * y, 128 + 90 * np.sin(x / 3.0 + y / 2.0)], -1)
rgb = np.clip(rgb + rng.randint(-12, 13, rgb.shape), 0, 255).astype(np.uint8)
alpha = np.clip(13 * x - 5, 0, 255).astype(np.uint8)
colour = Image.fromarray(rgb)
even = colour.resize((W + 1, H + 1))
grey = colour.convert("L")
rgba = Image.merge("RGBA", [*colour.split(), Image.fromarray(alpha)])
palette = colour.quantize(60)


def save(name, image, **options):
    image.save(f"decode/{name}", **options)
    with Image.open(f"decode/{name}") as m:
        m.convert("RGB").save(f"decode/{name.split('.')[0]}.want.png")


save("gif_palette.gif", palette)
save("gif_transparent.gif", palette, transparency=int(np.asarray(palette)[4, 4]))
save("gif_animated.gif", palette, save_all=True, append_images=[palette.rotate(180)], duration=50)
save("gif_interlaced.gif", palette, interlace=1)
save("bmp_rgb.bmp", colour)
save("bmp_palette.bmp", palette)
save("bmp_rgba.bmp", rgba)
save("tiff_rgb.tif", colour)
save("tiff_lzw.tif", colour, compression="tiff_lzw")
save("tiff_deflate.tif", colour, compression="tiff_deflate")
save("tiff_grey.tif", grey)
save("tiff_palette.tif", palette)
save("tiff_rgba.tif", rgba)
save("tiff_pages.tif", colour, save_all=True, append_images=[colour.rotate(180)])
save("webp_lossless.webp", colour, lossless=True)
save("webp_lossless_alpha.webp", rgba, lossless=True, exact=True)
save("webp_lossy.webp", colour, quality=90)
save("webp_lossy_even.webp", even, quality=60)
save("webp_lossy_alpha.webp", rgba, quality=90)

# A JPEG that says it has to be turned: convert("RGB") takes it as it is stored.
exif = Image.Exif()
exif[0x0112] = 6
save("jpeg_orientation.jpg", colour, quality=95, exif=exif)

# A first frame that does not fill the picture: the rest has the transparent colour.
with open("decode/gif_transparent.gif", "rb") as f:
    data = bytearray(f.read())
data[6:10] = struct.pack("<HH", W + 4, H + 3)
at = data.index(b"\x2c", 13 + (3 << (1 + (data[10] & 7))))
data[at + 1 : at + 5] = struct.pack("<HH", 3, 2)
with open("decode/gif_part.gif", "wb") as f:
    f.write(data)
with Image.open("decode/gif_part.gif") as m:
    m.convert("RGB").save("decode/gif_part.want.png")

print("Pillow", Image.__version__, {n: features.version(n) for n in ("webp", "jpg", "libtiff", "zlib")})
