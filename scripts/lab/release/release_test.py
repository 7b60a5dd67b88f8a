"""Tests of release.py: python3 -m unittest release_test."""

import argparse
import base64
import datetime
import hashlib
import io
import pathlib
import tarfile
import tempfile
import unittest
import zipfile

import release

AT = datetime.datetime(2026, 1, 2, 3, 4, 6, tzinfo=datetime.timezone.utc)
FILES = [("ledg", b"program", True), ("LICENSE", b"licence", False)]
WHOLE = {"GOOS": "linux", "GOARCH": "amd64", "-trimpath": "true", "vcs.modified": "false", "vcs.revision": "abc", "CGO_ENABLED": "0", "-tags": "onnxruntime"}


def refusal(platform, **settings):
    try:
        release.check(platform, {"Settings": [{"Key": k, "Value": v} for k, v in {**WHOLE, **settings}.items()]})
    except ValueError as e:
        return str(e)
    return ""


class Test(unittest.TestCase):
    def test_same_bytes(self):
        for pack in release.zipped, release.tarred:
            self.assertEqual(pack(FILES, AT), pack(FILES, AT))
        with tarfile.open(fileobj=io.BytesIO(release.tarred(FILES, AT))) as t:
            first = t.next()
        self.assertEqual((first.name, first.mode, first.mtime), ("ledg", 0o755, AT.timestamp()))

    def test_wheel(self):
        """A wheel's list has every file with its checksum."""
        name, data = release.wheel("1.2.3", "manylinux_2_17_x86_64.musllinux_1_1_x86_64", FILES[0], FILES[1:], AT)
        self.assertEqual(name, "ledg-1.2.3-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl")
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            content = {e.filename: z.read(e) for e in z.infolist()}
            for e in z.infolist():
                self.assertEqual(bool(e.external_attr >> 16 & 0o111), "/scripts/" in e.filename, e.filename)
        record = content["ledg-1.2.3.dist-info/RECORD"].decode().splitlines()
        want = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).decode().rstrip('=')},{len(b)}" for n, b in content.items()]
        self.assertEqual(record, want[:-1] + ["ledg-1.2.3.dist-info/RECORD,,"])
        for file in "ledg/__init__.py", "ledg/py.typed", "ledg-1.2.3.data/scripts/ledg", "ledg-1.2.3.dist-info/licenses/LICENSE":
            self.assertIn(file, content)
        self.assertIn(b"Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n", content["ledg-1.2.3.dist-info/WHEEL"])

    def test_refuses(self):
        """What is not fit to be released is refused in one line, and nothing is written."""
        self.assertEqual(refusal("linux_amd64"), "")
        for key, value, want in (
            ("GOARCH", "arm64", "was built with GOARCH=arm64, want amd64"),
            ("-trimpath", "", "was built with -trimpath=, want true"),
            ("vcs.modified", "true", "was built with vcs.modified=true, want false"),
            ("vcs.revision", "", "does not say what commit it is of: build it with -buildvcs=true"),
            ("-tags", "", "can load ONNX Runtime: False, want True (-tags onnxruntime)"),
        ):
            self.assertEqual(refusal("linux_amd64", **{key: value}), "ledg_linux_amd64 " + want)
        with tempfile.TemporaryDirectory() as dir:
            out = pathlib.Path(dir) / "dist"
            for version in "one", "0.1.0":
                with self.assertRaises((ValueError, OSError)):
                    release.make(argparse.Namespace(version=version, out=out, binaries=pathlib.Path(dir), time=0))
            self.assertFalse(out.exists())

    def test_linux(self):
        """A binary with cgo is for one Linux, and wheels of binaries that need glibc are not for musl."""
        for platform, tag in list(release.PLATFORMS.items())[:4]:
            arch = platform.split("_")[1]
            self.assertEqual(refusal(platform, CGO_ENABLED="1", GOARCH=arch) == "", platform == "linux_amd64")
            self.assertEqual("musl" in tag, platform.endswith("static"))


if __name__ == "__main__":
    unittest.main()
