"""Makes what a release consists of from binaries that are built already: archives, wheels for pip, a list of the modules
that are linked, and the sums of all of it.

    python3 scripts/lab/release/release.py --version 0.1.0 --binaries BUILT --time 1763856000 --out dist

Nothing is uploaded, and what it writes depends on the binaries and its flags alone. scripts/release.sh builds the
binaries and calls it; scripts/release has the Python module and the changelog. BUILT has ledg_GOOS_GOARCH files, with
.exe on Windows, of PLATFORMS, and for Linux also ledg_linux_GOARCH_static.
"""

import argparse
import base64
import datetime
import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Platforms and their tags of wheels. For Linux there are two binaries: one needs glibc 2.17 or newer and loads ONNX
# Runtime, which itself needs glibc 2.28; the static one, for musl and empty containers, loads no library. Go 1.27 needs
# macOS 13.
PLATFORMS = {
    "linux_amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "linux_arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "linux_amd64_static": "musllinux_1_1_x86_64",
    "linux_arm64_static": "musllinux_1_1_aarch64",
    "darwin_arm64": "macosx_13_0_arm64",
    "darwin_amd64": "macosx_13_0_x86_64",
    "windows_amd64": "win_amd64",
    "windows_arm64": "win_arm64",
}
CGO = "linux_amd64"  # may be built with cgo, against glibc 2.17

METADATA = """Metadata-Version: 2.4
Name: ledg
Version: %s
Summary: Label-efficient domain generalization: which images to label, and a model that works where nobody labelled
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Keywords: active learning,domain generalization,semi-supervised learning,labelling
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.10
Provides-Extra: numpy
Requires-Dist: numpy>=1.23; extra == "numpy"
Project-URL: Source, https://github.com/ledg-go/ledg
Description-Content-Type: text/markdown

`ledg` chooses which of your images to label, trains on labelled and unlabelled images of
several domains together, and says how well that works on a domain never seen. This package
carries the command, and functions over arrays:

```python
import ledg

rows = ledg.query(n=20, strategy="maxherding", features=pool, labelled_features=known)
```
"""


def suffix(platform):
    return ".exe" if platform.startswith("windows") else ""


def check(platform, info):
    """Refuses a binary that is not of the platform, of a commit, and of files that are all in it."""
    have = {s["Key"]: s.get("Value", "") for s in info.get("Settings", [])}
    os, arch, *static = platform.split("_")
    file = f"ledg_{platform}{suffix(platform)}"
    for key, want in (("GOOS", os), ("GOARCH", arch), ("-trimpath", "true"), ("vcs.modified", "false")):
        if have.get(key, "") != want:
            raise ValueError(f"{file} was built with {key}={have.get(key, '')}, want {want}")
    cgo = have.get("CGO_ENABLED") == "1"
    if cgo and platform != CGO:
        raise ValueError(f"{file} is built with cgo, which is not for {platform}")
    loads = cgo or have.get("-tags") == "onnxruntime"
    if os == "linux" and loads == bool(static):
        raise ValueError(f"{file} can load ONNX Runtime: {loads}, want {not static} (-tags onnxruntime)")
    if not have.get("vcs.revision"):
        raise ValueError(f"{file} does not say what commit it is of: build it with -buildvcs=true")


def sbom(version, info, at):
    """The modules that are linked into a binary, with their sums of go.sum, as CycloneDX 1.5 in JSON."""

    def component(kind, path, version, **more):
        url = f"pkg:golang/{path}@{version}"
        return {"bom-ref": url, "type": kind, "name": path, "version": version, "purl": url, **more}

    parts = [component("library", "std", info["GoVersion"])]
    for d in info["Deps"]:
        total = base64.b64decode(d.get("Sum", "").removeprefix("h1:"))
        if not total:
            raise ValueError(f"{d['Path']} {d['Version']} has no sum")
        parts.append(component("library", d["Path"], d["Version"], hashes=[{"alg": "SHA-256", "content": total.hex()}]))
    main = {**component("application", info["Main"]["Path"], "v" + version), "version": version}
    return json.dumps({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main}, "components": parts,
    }, indent=2).encode()


def zipped(files, at):
    """A .zip file of (name, data, executable) whose bytes depend on these and the time alone."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data, executable in files:
            entry = zipfile.ZipInfo(name, at.timetuple()[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            z.writestr(entry, data)
    return out.getvalue()


def tarred(files, at):
    """The same as a .tar.gz file."""
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, out, 0) as z, tarfile.open(fileobj=z, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name, data, executable in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), 0o755 if executable else 0o644, int(at.timestamp())
            t.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def wheel(version, tag, binary, licences, at):
    """Name and bytes of a wheel (PEP 427) that puts a binary into an environment's scripts, beside the Python module."""
    module, info = ROOT / "scripts/release/python", f"ledg-{version}.dist-info"
    files = [(p.relative_to(module).as_posix(), p.read_bytes(), False) for p in sorted(module.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    files.append((f"ledg-{version}.data/scripts/{binary[0]}", binary[1], True))
    files += [(f"{info}/licenses/{name}", data, False) for name, data, _ in licences]
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    files.append((info + "/METADATA", (METADATA % version).encode(), False))
    files.append((info + "/WHEEL", f"Wheel-Version: 1.0\nGenerator: ledg\nRoot-Is-Purelib: false\n{tags}".encode(), False))
    record = ""
    for name, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(data)}\n"
    files.append((info + "/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
    return f"ledg-{version}-py3-none-{tag}.whl", zipped(files, at)


def build_info(path):
    return json.loads(subprocess.run(["go", "version", "-m", "-json", path], check=True, capture_output=True).stdout)


def make(a):
    """Writes the release into a.out, which must not have one."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+(\+[0-9a-z]+)?)?", a.version):  # what pip, Git tags and Go all take
        raise ValueError(f"version {a.version!r}: want one like 0.1.0")
    if a.out.is_dir() and any(a.out.iterdir()):
        raise ValueError(f"{a.out} is not empty")
    at = datetime.datetime.fromtimestamp(a.time, datetime.timezone.utc)
    beside = [(p.name, p.read_bytes(), False) for p in (ROOT / "LICENSE", ROOT / "scripts/ledg/NOTICE")]
    made = {}
    for platform, tag in PLATFORMS.items():
        path = a.binaries / f"ledg_{platform}{suffix(platform)}"
        binary = ("ledg" + suffix(platform), path.read_bytes(), True)
        info = build_info(path)
        check(platform, info)
        name, end, pack = f"ledg_{a.version}_{platform}", ".tar.gz", tarred
        if platform.startswith("windows"):
            end, pack = ".zip", zipped
        made[name + end] = pack([binary, *beside], at)
        name, made[name] = wheel(a.version, tag, binary, beside, at)
        made.setdefault(f"ledg_{a.version}.cdx.json", sbom(a.version, info, at))
    made["SHA256SUMS"] = "".join(f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(made)).encode()
    a.out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (a.out / name).write_bytes(data)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", required=True, help="version, as in 0.1.0")
    p.add_argument("--binaries", type=pathlib.Path, required=True, help="folder of the binaries")
    p.add_argument("--out", type=pathlib.Path, default="dist", help="folder to write to")
    p.add_argument("--time", type=int, default=0, help="time of all files in archives, in seconds since 1970")
    try:
        make(p.parse_args())
    except (ValueError, OSError) as e:
        sys.exit(f"release: {e}")


if __name__ == "__main__":
    main()
