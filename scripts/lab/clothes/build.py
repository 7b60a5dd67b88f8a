#!/usr/bin/env python3
"""Builds the photographs "clothes" from a clone of github.com/alexeygrigorev/clothing-dataset (CC0 1.0).

    git clone https://github.com/alexeygrigorev/clothing-dataset
    python3 build.py clothing-dataset OUT [natural | capped]

Writes OUT/SITE/CLASS/SENDER_ID.jpg, OUT/photos.csv and OUT/dropped.csv, and prints counts and a digest.
SOURCES.md has the rules. Needs git and Pillow 13.0.0; other versions may compress to other bytes.
"""
import collections
import csv
import hashlib
import io
import pathlib
import subprocess
import sys

from PIL import Image

COMMIT = "7ed86a9cc56763b6acb35e41cb35184e43a5d218"
NO_CLASS = {"Not sure", "Other", "Skip"}
LEAST = 60  # photos of a class, and of a home
SIDE, QUALITY = 256, 85  # longest side in pixels, JPEG quality
BITS, TONES = 12, 8  # near duplicates: differing bits of 256, mean difference of 16 x 16 colours of 0 to 255
CAPPED_CLASSES, CAPPED_HOMES, CAPPED_NEXT, CAP = 8, 4, 10, 100


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], check=True, capture_output=True).stdout


def by_digest(row):
    """Orders photos at random, the same everywhere."""
    return hashlib.sha256(row["image"].encode()).hexdigest()


def gradient(picture):
    """The difference hash: 256 signs of horizontal differences of a 17 x 16 grey picture."""
    grey = picture.convert("L").resize((17, 16), Image.BILINEAR).tobytes()
    bits = (grey[17 * y + x] > grey[17 * y + x + 1] for y in range(16) for x in range(16))
    return sum(bit << i for i, bit in enumerate(bits))


def same_picture(a, b):
    if (a["hash"] ^ b["hash"]).bit_count() > BITS:
        return False
    return sum(abs(x - y) for x, y in zip(a["tones"], b["tones"])) <= TONES * len(a["tones"])


def read(repo):
    """The rows of images.csv with their pictures, without unlabelled ones, copies and near copies; and the rows left out."""
    blobs = {}
    for line in git(repo, "ls-tree", "-r", COMMIT, "images/").decode().splitlines():
        facts, path = line.split("\t")
        blobs[pathlib.PurePath(path).stem] = facts.split()[2]
    rows, dropped, first = [], [], {}
    for row in csv.DictReader(io.StringIO(git(repo, "show", COMMIT + ":images.csv").decode())):
        blob = blobs.get(row["image"])
        if row["label"] in NO_CLASS:
            dropped.append((row, "no class"))
        elif blob is None:
            dropped.append((row, "no file"))
        elif blob in first:
            dropped.append((row, "same bytes as " + first[blob]))
        else:
            first[blob] = row["image"]
            rows.append(row)
    kept = []
    for row in rows:
        picture = Image.open(io.BytesIO(git(repo, "cat-file", "blob", blobs[row["image"]]))).convert("RGB")
        picture.thumbnail((SIDE, SIDE), Image.LANCZOS)
        row |= {"picture": picture, "hash": gradient(picture), "tones": picture.resize((16, 16), Image.BILINEAR).tobytes()}
        copy = next((k["image"] for k in kept if same_picture(k, row)), None)
        if copy:
            dropped.append((row, "near duplicate of " + copy))
        else:
            kept.append(row)
    return kept, dropped


def ranked(rows, key):
    """Values of a column and their number, most frequent first."""
    return sorted(collections.Counter(r[key] for r in rows).items(), key=lambda v: (-v[1], v[0]))


def natural(rows):
    """All classes and homes of LEAST photos, everybody else as `many`; three fifths of each site."""
    classes = {c for c, n in ranked(rows, "label") if n >= LEAST}
    rows = [r for r in rows if r["label"] in classes]
    homes = [s for s, n in ranked(rows, "sender_id") if n >= LEAST]
    sites = collections.defaultdict(list)
    for row in rows:
        row["site"] = f"home{homes.index(row['sender_id']) + 1:02}" if row["sender_id"] in homes else "many"
        sites[row["site"]].append(row)
    return [r for s in sites.values() for r in sorted(s, key=by_digest)[: (3 * len(s) + 4) // 5]]


def capped(rows):
    """The eight most frequent classes; four homes, ten people, everybody else; at most CAP of a class and site."""
    senders = [s for s, _ in ranked(rows, "sender_id")]
    classes = {c for c, _ in ranked(rows, "label")[:CAPPED_CLASSES]}
    cells = collections.defaultdict(list)
    for row in rows:
        if row["label"] in classes:
            place = senders.index(row["sender_id"])
            row["site"] = f"home{place + 1}" if place < CAPPED_HOMES else "ten" if place < CAPPED_HOMES + CAPPED_NEXT else "many"
            cells[row["site"], row["label"]].append(row)
    return [r for c in cells.values() for r in sorted(c, key=by_digest)[:CAP]]


def main(repo, out, variant="natural"):
    kept, dropped = read(repo)
    rows = {"natural": natural, "capped": capped}[variant](kept)
    out = pathlib.Path(out)
    table = []
    for row in rows:
        name = f"{row['site']}/{row['label'].lower()}/{row['sender_id']}_{row['image']}.jpg"
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        row["picture"].save(out / name, quality=QUALITY, optimize=True)
        table.append((name, row["label"].lower(), row["site"], row["sender_id"]))
    table.sort()
    lines = sorted(f"{hashlib.sha256((out / t[0]).read_bytes()).hexdigest()}  {t[0]}\n" for t in table)
    for name, head, body in [
        ("photos.csv", ("path", "class", "site", "person"), table),
        ("dropped.csv", ("image", "sender", "label", "why"), [(r["image"], r["sender_id"], r["label"], why) for r, why in dropped]),
    ]:
        with open(out / name, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([head, *body])
    cells = collections.Counter((t[2], t[1]) for t in table)
    sites, classes = sorted({t[2] for t in table}), sorted({t[1] for t in table})
    print("| site | people |", " | ".join(classes), "| all |\n|", "--- |" * (len(classes) + 3))
    for s in sites:
        counts = [cells[s, c] for c in classes]
        print("|", " | ".join(map(str, [s, len({t[3] for t in table if t[2] == s}), *counts, sum(counts)])), "|")
    totals = [sum(cells[s, c] for s in sites) for c in classes]
    print("|", " | ".join(map(str, ["all", len({t[3] for t in table}), *totals, len(table)])), "|")
    print("left out:", dict(collections.Counter(" ".join(why.split()[:2]) for _, why in dropped)))
    print("SHA-256 over the sorted lines of sha256sum:", hashlib.sha256("".join(lines).encode()).hexdigest())


main(*sys.argv[1:])
