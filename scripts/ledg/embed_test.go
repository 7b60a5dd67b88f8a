package main

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/engine/ort"
)

// Features of glyphs from the command line, and what other commands make of them.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "glyphs.safetensors")
	stdout, stderr, status := call(t, dir, "embed", "--dataset", "glyphs", "--net", "smallcnn", "--width", "4", "--weights", "none",
		"--size", "16", "--views", "2", "--dtype", "float16", "--backend", "go", "--out", file)
	if status != 0 || !strings.Contains(stdout, "2,400 images, 2 views of 4 features") {
		t.Fatalf("status %d, stdout %s, stderr\n%s", status, stdout, stderr)
	}
	run := filepath.Join(dir, "run")
	_, stderr, status = call(t, dir, "train", "--dataset", "features", "--root", file, "--target", "sketch", "--epochs", "2", "--backend", "go", "--out", run)
	if status != 0 {
		t.Fatalf("train: status %d, stderr\n%s", status, stderr)
	}
	stdout, stderr, status = call(t, dir, "query", "--pool", file, "--strategy", "kmeans", "-n", "5")
	if status != 0 || strings.Count(stdout, "\n") < 5 {
		t.Errorf("query: status %d, stdout %s, stderr\n%s", status, stdout, stderr)
	}
	stdout, stderr, status = call(t, dir, "data", "check", "--dataset", "features", "--root", file)
	if status != 0 || !strings.Contains(stdout, "sketch") {
		t.Errorf("data check: status %d, stdout %s, stderr\n%s", status, stdout, stderr)
	}
	for _, args := range [][]string{
		{"predict", run, "--images", photoFolder(t), "--out", filepath.Join(dir, "p.csv")},
		{"export", run, "--out", filepath.Join(dir, "n.onnx")},
		{"calibrate", run},
	} {
		if _, stderr, status := call(t, dir, args...); status != 0 {
			t.Errorf("%q: status %d, stderr %s", args, status, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"train", "--dataset", "features", "--target", "sketch"}, "--root is missing: the .npz, .safetensors or .parquet file"},
		{[]string{"train", "--dataset", "features", "--root", dir, "--target", "sketch"}, "a folder, want the file of the features"},
		{[]string{"train", "--dataset", "features", "--root", file, "--target", "sketch", "--net", "resnet18"}, `--net "resnet18" and --dataset "features" contradict each other`},
		{[]string{"train", "--dataset", "features", "--root", file, "--target", "sketch", "--strategy", "uniform", "--objective", "jigen"}, "it works on the pixels of images"},
		{[]string{"train", "--net", "mlp", "--target", "sketch"}, `--net "mlp" and --dataset "glyphs" contradict each other`},
		{[]string{"embed", "--out", "x.npz"}, "want a name that ends in .safetensors"},
		{[]string{"embed", "--out", "x.safetensors", "--dtype", "int8"}, "want float32 or float16"},
		{[]string{"embed", "--out", "x.safetensors", "--views", "0"}, `argument "0" for "--views" flag: want at least 1`},
		{[]string{"embed", "--out", "x.safetensors", "--views", "9223372036854775807"}, `argument "9223372036854775807" for "--views" flag: want at least 1 and at most 1000`},
		{[]string{"embed", "--out", "x.safetensors", "--net", "mlp"}, "which take images"},
	} {
		if _, stderr, status := call(t, dir, c.args...); status == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, stderr %s, want %q", c.args, status, stderr, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x.safetensors")); err == nil {
		t.Error("a refused command has written a file")
	}
}

// Features by a network from an ONNX file: a run on them, and predictions by the same file alone.
func TestEmbedONNX(t *testing.T) {
	dir := t.TempDir()
	net, file := filepath.Join(dir, "vit.onnx"), filepath.Join(dir, "f.safetensors")
	whole, err := os.ReadFile("../../ceg/nets/onnx/imported/testdata/vit.onnx")
	if err == nil {
		err = os.WriteFile(net, whole, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	embed := func(out string, more ...string) []string {
		return append([]string{"embed", "--dataset", "glyphs", "--net", net, "--backend", "go", "--out", out}, more...)
	}
	refused := filepath.Join(dir, "x.safetensors")
	for want, args := range map[string][]string{
		"it has 2 outputs": {},
		"takes images of 32 x 32 pixels, and nothing says how their values are scaled: there is no preprocessor_config.json beside it; add --preprocess with one of " +
			"imagenet, timm, clip, dinov2, dinov3, siglip, vit, raw (see ledg embed --help), such as --net " + net + " --preprocess imagenet --size 32 --output pooled": {"--output", "pooled"},
		"--preprocess inception: want imagenet, timm":             {"--preprocess", "inception", "--output", "pooled"},
		"it has 2 outputs, tokens[":                               {"--preprocess", "siglip"},
		"choose what to take of its tokens":                       {"--preprocess", "siglip", "--output", "tokens", "--size", "32"},
		"takes images of 32 pixels a side, and 64 were requested": {"--preprocess", "siglip", "--output", "pooled", "--size", "64"},
		"--weights does not apply to":                             {"--preprocess", "siglip", "--weights", "none"},
		"--mean 1,2: want three numbers":                          {"--output", "pooled", "--mean", "1,2", "--std", "1,1,1"},
		`filter "box"`:                                            {"--preprocess", "siglip", "--output", "pooled", "--size", "32", "--filter", "box"},
	} {
		if _, stderr, status := call(t, dir, embed(refused, args...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, stderr %s, want %q", args, status, stderr, want)
		}
	}
	if _, err := os.Stat(refused); err == nil {
		t.Error("a refused command has written a file")
	}
	if err := os.WriteFile(filepath.Join(dir, "preprocessor_config.json"), []byte(`{"size": {"shortest_edge": 36}, "crop_size": 32, "resample": 3, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := call(t, dir, embed(file, "--views", "2", "--output", "tokens", "--pool", "cls")...)
	if status != 0 || !strings.Contains(stdout, "2,400 images, 2 views of 16 features") {
		t.Fatalf("status %d, stdout %s, stderr\n%s", status, stdout, stderr)
	}
	run, table := filepath.Join(dir, "run"), filepath.Join(dir, "p.csv")
	images := filepath.Join(dir, "images")
	picture := image.NewRGBA(image.Rect(0, 0, 50, 40))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i * i >> 5)
	}
	var b bytes.Buffer
	if err := errors.Join(os.Mkdir(images, 0o777), png.Encode(&b, picture), os.WriteFile(filepath.Join(images, "a.png"), b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"train", "--dataset", "features", "--root", file, "--target", "sketch", "--epochs", "2", "--backend", "go", "--out", run},
		{"report", run, "--out", filepath.Join(dir, "r.html")},
		{"export", run, "--out", filepath.Join(dir, "head.safetensors")},
	} {
		if _, stderr, status := call(t, dir, args...); status != 0 {
			t.Errorf("%q: status %d, stderr %s", args, status, stderr)
		}
	}
	predict := []string{"predict", run, "--images", images, "--out", table, "--backend", "go", "--quiet"}
	if _, stderr, status := call(t, dir, predict...); status != 0 {
		t.Errorf("predict: status %d, stderr %s", status, stderr)
	}
	if b, err := os.ReadFile(table); err != nil || !strings.Contains(string(b), "a.png,") {
		t.Errorf("predictions %s, %v", b, err)
	}
	if _, stderr, status := call(t, dir, "export", run, "--out", filepath.Join(dir, "n.onnx")); status == 0 || !strings.Contains(stderr, "not joined with the head to one file: export the head with --out NAME.safetensors") {
		t.Errorf("export: status %d, stderr %s", status, stderr)
	}
	if err := os.WriteFile(net, append(whole, 0x32, 0x01, 'x'), 0o666); err != nil { // another description
		t.Fatal(err)
	}
	if _, stderr, status := call(t, dir, predict...); status == 0 || !strings.Contains(stderr, "vit.onnx has changed: its sha256 was ") {
		t.Errorf("changed: status %d, stderr %s", status, stderr)
	}
	if err := os.Remove(net); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := call(t, dir, predict...); status == 0 || !strings.Contains(stderr, net) || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
		t.Errorf("missing: status %d, stderr %s", status, stderr)
	}
}

// ONNX Runtime is fetched with --yes alone; without it, one line says that onnx-gomlx is slow and what to do.
func TestEmbedOffersRuntime(t *testing.T) {
	if _, ok, err := engine.RuntimePlan("auto"); err != nil || !ok && runtime.GOOS != "linux" {
		t.Skip("this machine has ONNX Runtime or a GPU, or there is none for it")
	}
	dir := t.TempDir()
	for key, value := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir, "GOMLX_BACKEND": ""} {
		t.Setenv(key, value)
	}
	// A file in the place of the folder, so that nothing is fetched.
	blocked := filepath.Join(dir, ".local", "lib", "onnxruntime")
	if err := errors.Join(os.MkdirAll(filepath.Dir(blocked), 0o777), os.WriteFile(blocked, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	net, err := filepath.Abs("../../ceg/nets/onnx/imported/testdata/train/resnet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	root := photoFolder(t)
	const line = "ONNX Runtime is not installed, and onnx-gomlx computes the network: it is slow, and may refuse operations or ignore single attributes (GELU's approximation); "
	embed := func(more ...string) string {
		out := filepath.Join(t.TempDir(), "x.safetensors")
		_, stderr, status := call(t, dir, append([]string{"embed", "--dataset", "folder", "--root", root, "--net", net, "--preprocess", "siglip", "--size", "32", "--out", out}, more...)...)
		if status != 0 {
			t.Fatalf("%q: status %d, stderr %s", more, status, stderr)
		}
		return stderr
	}
	if got := embed(); strings.Count(got, line+"to install it, run `ledg backend install onnxruntime` or add --yes (ONNX Runtime (onnxruntime 1.") != 1 {
		t.Errorf("without --yes: stderr %s", got)
	}
	for _, more := range [][]string{{"--backend", "go"}, {"--quiet"}} {
		if got := embed(more...); strings.Contains(got, "ONNX Runtime") {
			t.Errorf("%q: stderr %s", more, got)
		}
	}
	if got := embed("--yes"); strings.Count(got, line+"installing onnxruntime failed: ") != 1 {
		t.Errorf("with --yes: stderr %s", got)
	}
	os.Remove(blocked)
	_, file, _ := strings.Cut(enginetest.Runtime(t), ":")
	library, err := os.ReadFile(file)
	to := filepath.Join(dir, ".local", "lib", "onnxruntime", ort.File())
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o777), os.WriteFile(to, library, 0o777)); err != nil {
		t.Fatal(err)
	}
	if got := embed(); strings.Contains(got, line) || !strings.Contains(got, "backend onnxruntime: ONNX Runtime 1.") {
		t.Errorf("installed: stderr %s", got)
	}
}

// ONNX Runtime computes the features, which is written down, and those of images to predict on.
func TestEmbedRuntime(t *testing.T) {
	runtime := enginetest.Runtime(t)
	dir := t.TempDir()
	net, err := filepath.Abs("../../ceg/nets/onnx/imported/testdata/train/resnet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	run, images := filepath.Join(dir, "run"), filepath.Join(dir, "images")
	var b bytes.Buffer
	if err := errors.Join(os.Mkdir(images, 0o777), png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 50, 40))), os.WriteFile(filepath.Join(images, "a.png"), b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for _, backend := range []string{runtime, "go"} {
		file := filepath.Join(dir, backend[:2]+".safetensors")
		stdout, stderr, status := call(t, dir, "embed", "--dataset", "glyphs", "--net", net, "--preprocess", "siglip", "--size", "32", "--backend", backend, "--out", file)
		if status != 0 || !strings.Contains(stdout, "2,400 images, 1 views of 8 features") {
			t.Fatalf("status %d, stdout %s, stderr\n%s", status, stdout, stderr)
		}
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(written[:4096], []byte(`backend onnxruntime: ONNX Runtime 1.`)); got != (backend == runtime) {
			t.Errorf("%s: ONNX Runtime in the record is %v", backend, got)
		}
		if backend == runtime {
			args := []string{"train", "--dataset", "features", "--root", file, "--target", "sketch", "--epochs", "2", "--out", run, "--backend"}
			if _, stderr, status := call(t, dir, append(args, backend)...); status != 2 || !strings.Contains(stderr, "networks from ONNX files alone") || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
				t.Errorf("training on it: status %d, stderr %s", status, stderr)
			}
			if _, stderr, status := call(t, dir, append(args, "go")...); status != 0 {
				t.Fatalf("status %d, stderr %s", status, stderr)
			}
		}
		table := filepath.Join(dir, "p.csv")
		if _, stderr, status := call(t, dir, "predict", run, "--images", images, "--out", table, "--backend", backend, "--quiet"); status != 0 {
			t.Fatalf("%s: status %d, stderr %s", backend, status, stderr)
		}
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		tables[backend] = string(text)
	}
	if a, b := tables[runtime], tables["go"]; a[:min(len(a), 80)] != b[:min(len(b), 80)] || len(a) == 0 {
		t.Errorf("predictions by ONNX Runtime\n%s\nby Go\n%s", a, b)
	}
}

// A network of bytes, with its preprocessing inside, is embedded with and fine-tuned; features that
// are the same of different images are said.
func TestEmbedBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	net, err := filepath.Abs("../../ceg/nets/onnx/imported/testdata/bytes.onnx")
	if err != nil {
		t.Fatal(err)
	}
	data := []string{"--dataset", "folder", "--root", photoFolder(t), "--net", net, "--backend", "go"}
	_, stderr, status := call(t, dir, append([]string{"embed", "--out", "x.safetensors"}, data...)...)
	if status != 0 || strings.Contains(stderr, "warning") {
		t.Fatalf("embed: status %d, %s", status, stderr)
	}
	train := append([]string{"train", "--target", "night", "--budget", "4", "--epochs", "1", "--image-size", "64", "--objective", "erm", "--out", "run", "--quiet"}, data...)
	stdout, stderr, status := call(t, dir, train...)
	checkError(t, "takes images as bytes, with their preprocessing inside: add --set network.pixels=raw", 2, stdout, stderr, status)
	if _, stderr, status := call(t, dir, append(train, "--set", "network.pixels=raw")...); status != 0 {
		t.Errorf("train: status %d, %s", status, stderr)
	}
	same := filepath.Join(dir, "same", "north")
	if err := os.MkdirAll(same, 0o777); err != nil {
		t.Fatal(err)
	}
	for level, name := range map[png.CompressionLevel]string{png.NoCompression: "a.png", png.BestCompression: "b.png", png.BestSpeed: "c.png"} {
		var b bytes.Buffer
		e := png.Encoder{CompressionLevel: level}
		if err := errors.Join(e.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 40))), os.WriteFile(filepath.Join(same, name), b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, status = call(t, dir, "embed", "--out", "y.safetensors", "--dataset", "folder", "--root", filepath.Dir(same), "--net", net, "--backend", "go")
	if status != 0 || !strings.Contains(stderr, "warning: all 3 images have the same features") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
