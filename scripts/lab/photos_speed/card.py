"""From a card of camera traps to the labelling page: seconds and peak memory of ledg label with boxes and events.

python3 card.py --dir CARD [--ledg LEDG] [--bursts 5000] [--rounds 3]; it needs Pillow. It writes JPEGs of 640 x 480
pixels of ten cameras in bursts of three, and MegaDetector's JSON, once; each round has an empty cache.
"""
import argparse, datetime, json, os, random, re, subprocess, tempfile, time, urllib.request
from PIL import Image

p = argparse.ArgumentParser()
for name, default in {"dir": "card", "ledg": "ledg", "bursts": 5000, "rounds": 3}.items():
    p.add_argument("--" + name, default=default, type=type(default))
a = p.parse_args()
card, md = os.path.join(a.dir, "card"), os.path.join(a.dir, "md.json")
if not os.path.exists(md):
    random.seed(1)
    images = []
    for b in range(a.bursts):
        camera, start = f"cam{b % 10:02d}", datetime.datetime(2026, 5, 1) + datetime.timedelta(minutes=20 * (b // 10))
        os.makedirs(os.path.join(card, camera), exist_ok=True)
        for f in range(3):
            name = f"{camera}/IMG_{start + datetime.timedelta(seconds=2 * f):%Y%m%d_%H%M%S}.jpg"
            Image.effect_noise((160, 120), 20 + b % 60).resize((640, 480)).convert("RGB").save(os.path.join(card, name), quality=60)
            boxes = [] if b // 10 % 5 == 4 else [[round(random.uniform(0, 0.7), 4) for _ in "xy"] + [0.25, 0.2] for _ in range(random.choice([1, 1, 1, 2, 2]))]
            images.append({"file": name, "detections": [{"category": "1", "conf": 0.9, "bbox": v} for v in boxes]})
    with open(md, "w") as out:
        json.dump({"images": images, "detection_categories": {"1": "animal"}, "info": {"format_version": "1.3"}}, out)
for _ in range(a.rounds):
    with tempfile.TemporaryDirectory() as at:
        begin = time.time()
        page = subprocess.Popen([a.ledg, "label", "--dataset", "folder", "--root", card, "--layout", "{site}/{name}", "--boxes", md, "--events", "60s", "--classes", "fox,deer",
                                 "--ledger", at, "--by", "me", "--port", "0"], env={**os.environ, "XDG_CACHE_HOME": os.path.join(at, "cache")}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = [next(page.stdout)]
        while not (url := re.search(r"http://\S+", lines[-1])):
            lines.append(next(page.stdout))
        urllib.request.urlopen(url[0]).read()
        seconds, memory = time.time() - begin, re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{page.pid}/status").read())
        page.terminate()
        page.wait()
        print(f"{seconds:.1f} s, {int(memory[1]) / 1000:.0f} MB;", *[v.strip() for v in lines if "box" in v], flush=True)
