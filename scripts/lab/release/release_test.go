// Package release tests release.py, which makes a release.
package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// The script that makes a release passes its own tests.
func TestScript(t *testing.T) {
	if out, err := exec.Command("python3", "-B", "-m", "unittest", "release_test").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// pythonWheel writes a wheel of a binary into a folder, and prints its name.
const pythonWheel = `
import datetime
import pathlib
import sys

import release

binary, out = map(pathlib.Path, sys.argv[1:])
at = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
assert b"pkg:golang/github.com/gomlx/gomlx@v" in release.sbom("1.2.3", release.build_info(binary), at)
name, data = release.wheel("1.2.3", "any", ("ledg", binary.read_bytes(), True), [], at)
(out / name).write_bytes(data)
print(name)
`

// The built wheel in a fresh environment, without a network: the command, and what the guide
// shows of the module, with NumPy, which is fetched where it is not there.
func TestInstalledWheel(t *testing.T) {
	testall.Need(t, "builds a wheel, installs it and runs Python for half a minute")
	if runtime.GOOS != "linux" {
		t.Skip("the test installs a wheel for Linux")
	}
	python := os.Getenv("LEDG_PYTHON")
	if python == "" {
		python = "python3"
	}
	dir := t.TempDir()
	env := filepath.Join(dir, "env")
	if out, err := exec.Command(python, "-m", "venv", "--system-site-packages", env).CombinedOutput(); err != nil {
		t.Skipf("no environment of Python can be made (%v: %s)", err, out)
	}
	built := filepath.Join(dir, "ledg")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", built, "./scripts/ledg").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	name, err := exec.Command(python, "-B", "-c", pythonWheel, built, dir).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, name)
	}
	file := filepath.Join(dir, strings.TrimSpace(string(name)))
	in := func(name string) string { return filepath.Join(env, "bin", name) }
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(in(name), args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", file)
	os.Remove(built)
	if out := run("ledg", "version"); !strings.HasPrefix(out, "ledg ") {
		t.Errorf("ledg version: %s", out)
	}
	if a, b := run("ledg", "query", "--help"), run("python", "-m", "ledg", "query", "--help"); a != b {
		t.Errorf("python -m ledg is another command: %s", b)
	}
	if err := exec.Command(in("python"), "-c", "import numpy").Run(); err != nil {
		out, _ := exec.Command(in("python"), "-c", "import ledg; ledg.query(n=1, features=[[1.0]])").CombinedOutput()
		if !strings.Contains(string(out), "pip install 'ledg[numpy]'") {
			t.Errorf("without numpy: %s", out)
		}
		if out, err := exec.Command(in("python"), "-m", "pip", "install", "--quiet", "--timeout", "10", "--retries", "0", "--disable-pip-version-check", "numpy").CombinedOutput(); err != nil {
			t.Skipf("the functions are not tried: this Python has no numpy, nor can it be fetched: %s", out)
		}
	}
	for code, want := range map[string]string{
		`ledg.query(n=3, strategy="uniform", features=[[1.0], [2.0]])`:               "LedgError: -n 3: ",
		`ledg.query(n=1, strategy="uniform", feature=[[1.0]])`:                       "TypeError: ",
		`ledg.query(n=1, strategy="nearest", features=[[1.0]])`:                      `LedgError: --strategy "nearest": want one of `,
		`ledg.query(n=1, features=["a"])`:                                            "LedgError: features has values of type ",
		`ledg.query(n=1, strategy="uniform", features=[[1.0], [2.0]], groups=["a"])`: "groups: 1 elements, but",
		`ledg.query(n=2, strategy="kmeans", features=[[1.0], [2.0]], subsample=1)`:   "LedgError: --subsample 1: want at least -n 2",
		`ledg.query(n=1, strategy="uniform", features=[[1.0], [2.0]], subsample=1)`:  "LedgError: --subsample 1: uniform reads pools of any size",
	} {
		out, err := exec.Command(in("python"), "-c", "import ledg; "+code).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := lines[len(lines)-1]; err == nil || !strings.Contains(last, want) {
			t.Errorf("%s: %v, %s, want %s", code, err, last, want)
		}
	}
	networks := fatal.Get(filepath.Abs("../../../ceg"))(t)
	for _, script := range []string{pythonGroups, pythonSubsample, pythonPhotos, pythonNames} {
		cmd := exec.Command(in("python"), "-c", script, networks)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, script)
		}
	}
	var blocks [][][]byte
	for _, page := range []string{"../../../notebooks/guides/python.md", "../../../README.md"} {
		text := fatal.Get(os.ReadFile(page))(t)
		blocks = append(blocks, regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1)...)
	}
	if len(blocks) < 4 {
		t.Fatalf("README and guide show Python %d times", len(blocks))
	}
	for _, b := range blocks {
		for _, m := range regexp.MustCompile(`(?m)^(?:from|import) (sklearn|torch)`).FindAllSubmatch(b[1], -1) {
			if exec.Command(in("python"), "-c", "import "+string(m[1])).Run() != nil {
				t.Logf("not tried, this Python has no %s:\n%s", m[1], b[1])
				b[1] = nil
				break
			}
		}
		if bytes.Contains(b[1], []byte("ledg.train(")) && !hasPretrained(t) {
			t.Logf("not tried, the weights of photos are not in the cache:\n%s", b[1])
			continue
		}
		cmd := exec.Command(in("python"), "-c", string(b[1]))
		cmd.Dir = filepath.Join(dir, "try") // of ledg data example, which pythonPhotos makes
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, b[1], out)
		}
	}
}

// hasPretrained reports whether the network of photos has its weights in the cache.
func hasPretrained(t *testing.T) bool {
	_, err := pretrained.Open(t.Context(), pretrained.ImageNet, photos.Network, pretrained.Options{Offline: true})
	return err == nil
}

// pythonGroups are 20 patients of five images that are nearly the same, and of noise: names of
// groups do what their numbers do, one image of each is chosen before a second, first of those
// without a label, and copies in other folds do not make a head look right.
const pythonGroups = `
import ledg
import numpy as np

r = np.random.default_rng(1)
x = np.repeat(r.normal(size=(20, 4)), 5, axis=0) + 1e-3 * r.normal(size=(100, 4))
numbers = np.repeat(np.arange(20), 5)
names = np.array([f"patient {k}" for k in numbers])
for strategy in "uniform", "coreset", "typiclust":
    given = dict(strategy=strategy, features=x, labelled_features=x[:1], labelled_labels=[0], classes=2)
    rows = ledg.query(n=19, groups=names, labelled_groups=["patient 0"], **given)
    assert set(numbers[rows]) == set(range(1, 20)), (strategy, rows)
    assert (rows == ledg.query(n=19, groups=numbers, labelled_groups=[0], **given)).all(), strategy
assert len(set(numbers[ledg.query(n=19, strategy="uniform", features=x)])) < 19

class Tensor: # as other libraries' arrays come
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

a, b = (ledg.query(n=19, strategy="coreset", features=f(x), groups=f(numbers)) for f in (Tensor, np.array))
assert (a == b).all(), (a, b)

def best(**groups):
    report = ledg.probe(features=x, labelled_features=x, labelled_labels=numbers % 2, **groups).report
    return max(s["accuracy"] for s in report["tried"])

assert best() > best(labelled_groups=names) + 0.05
assert best(labelled_groups=names) == best(labelled_groups=numbers)
`

// pythonSubsample chooses among a part of the rows, which are drawn by their numbers.
const pythonSubsample = `
import ledg
import numpy as np

x = np.random.default_rng(1).normal(size=(200, 4))
few = [ledg.query(n=10, strategy="kmeans", features=x, subsample=10, seed=s) for s in (1, 1, 2)]
assert all(len(set(rows)) == 10 and max(rows) < 200 for rows in few), few
assert (few[0] == few[1]).all() and set(few[0]) == set(few[2]), few
assert set(few[0]) != set(ledg.query(n=10, strategy="kmeans", features=x, seed=1))
`

// pythonPhotos goes the road of photos with a tiny network: features, a run on them, predictions,
// a site, progress, and an error.
const pythonPhotos = `
import contextlib
import io
import subprocess

import ledg
import numpy as np

subprocess.run([ledg.find_binary(), "data", "example", "try"], check=True, capture_output=True)
tiny = dict(net="smallcnn", weights="none", width=4, size=16)
said = io.StringIO()
with contextlib.redirect_stderr(said):
    f = ledg.embed("try/photos", labels="try/labels.csv", out="f.safetensors", **tiny)
assert "120 of 120 images" in said.getvalue(), said.getvalue()
assert f.features.shape == (120, 4) and len(f.ids) == 120, f.features.shape
assert f.class_names == ["longsleeve", "pants", "t-shirt"] and f.domain_names == ["home01", "home02", "home03"]
assert f.ids[0].startswith("home01/") and f.domains[0] == 0 and set(f.labels) == {0, 1, 2}
assert (ledg.embed("try/photos", labels="try/labels.csv", progress=False, **tiny).features == f.features).all()

run = ledg.train("f.safetensors", dataset="features", out="run", preset="authors", target="home02", budget=12, epochs=2, progress=False)
assert run["labels"] == 12 and run["target"] == "home02", run
table = ledg.predict("run", "try/new-photos", progress=False)
assert set(table["class"]) <= set(f.class_names) and len(table["path"]) == len(table["class"])
assert table["probability"].dtype == float and (table["probability"] >= 1 / 3).all() and table["calibrated"].dtype == bool
assert table["looks_new"] == [None] * len(table["path"]) or table["looks_new"].dtype == bool
one = ledg.predict("run", [table["path"][0]], progress=False)
assert one["class"] == table["class"][:1] and np.allclose(one["probability"], table["probability"][:1])
import os
import shutil
if os.name == "posix":
    os.makedirs("odd"); shutil.copy("try/new-photos/" + os.listdir("try/new-photos")[0], b"odd/\xff.jpg")
    assert ledg.predict("run", "odd", progress=False)["path"] == [os.fsdecode(b"odd/\xff.jpg")]
from ledg import _run
assert list(_run._column(np, "class", ["007", "7"])) == ["007", "7"] and list(_run._column(np, "second", ["true", "nan"])) == ["true", "nan"]
assert _run._column(np, "looks_new", ["", ""]) == [None, None]
os.makedirs("names")
assert _run._flags({"classes": ["salt, pepper", "sugar"], "set": ["a=1", "b=2"]}, "names") == ["--classes", os.path.join("names", "classes.txt"), "--set", "a=1", "--set", "b=2"]
assert open("names/classes.txt").read() == "salt, pepper\nsugar\n"
report = ledg.site("run", "try/many", out="many", progress=False)
assert report["visits"][0]["images"] > 0, report
try:
    ledg.train("try/photos", out="x", classes=f.class_names, target="nowhere", budget=12, progress=False)
except ledg.LedgError as e:
    assert 'no site "nowhere"' in str(e), e
else:
    raise AssertionError("a target that is no domain")
`

// pythonNames embeds class names beside images, and predicts by them alone what NumPy's cosines say.
const pythonNames = `
import os
import pathlib
import shutil
import sys

import ledg
import numpy as np

at, net = pathlib.Path(sys.argv[1]), pathlib.Path("clip")
net.mkdir()
for tower in "vision_model.onnx", "text_model.onnx":
    shutil.copy(at / "learner/model/testdata/names/clip" / tower, net)
shutil.copy(at / "nets/tokenizer/testdata/clip.json", net / "tokenizer.json")
(net / "preprocessor_config.json").write_text('{"size": 32, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}')
given = dict(net="clip", backend="go", progress=False)
f = ledg.embed("try/photos", labels="try/labels.csv", names="auto", **given)
assert f.text.shape == (3, f.features.shape[1]) and np.allclose((f.text ** 2).sum(1), 1)
assert ledg.embed("try/photos", labels="try/labels.csv", **given).text is None
p = ledg.predict(None, "try/photos", names="auto", classes=f.class_names, **given)
row = {f: i for i, f in enumerate(p["path"])}
p = {name: [p[name][row[os.path.join("try/photos", i)]] for i in f.ids] for name in ("class", "probability")}
cosines = f.features @ f.text.T / np.linalg.norm(f.features, axis=1, keepdims=True)
assert p["class"] == [f.class_names[k] for k in cosines.argmax(1)], p["class"]
assert np.allclose(p["probability"], 1 / np.exp(100 * (cosines - cosines.max(1, keepdims=True))).sum(1), atol=1e-3)
try:
    ledg.predict(None, "try/photos", progress=False, net="clip", classes=["a", "b"])
except ledg.LedgError as e:
    assert "--names and --classes" in str(e), e
else:
    raise AssertionError("a prediction without a run and without names")
`
