package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{"predict", run, "--images", dir, "--out", filepath.Join(dir, "p.csv")},
		{"export", run, "--to", filepath.Join(dir, "n.onnx")},
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
		{[]string{"embed", "--out", "x.safetensors", "--views", "0"}, "--views 0: want 1 or more"},
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
