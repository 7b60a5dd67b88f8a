package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg/nets/weights/hub/hubtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A network on the hub is trained by its name, is exported and goes into an extension under it, and
// is fetched once.
func TestTrainHub(t *testing.T) {
	small := fatal.Get(os.ReadFile("../../ceg/nets/onnx/imported/testdata/train/small.onnx"))(t)
	hubtest.Hub(t, map[string][]byte{"model.onnx": small})
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	run := filepath.Join(dir, "run")
	args := []string{"train", "--target", "photo", "--net", "hf:who/vit", "--image-size", "16", "--objective", "erm", "--epochs", "2", "--head-epochs", "1", "--backend", "go", "--resume", "--out", run}
	says(t, fmt.Sprintf("fetching who/vit@0123456 (model.onnx, %s, licence apache-2.0)", humanize.Bytes(uint64(len(small)))), dir, args...)
	config, err := os.ReadFile(filepath.Join(run, "config.json"))
	for _, want := range []string{`"name": "hf:who/vit"`, `"revision": "` + hubtest.Commit + `"`, `"licence": "apache-2.0"`, `"head_epochs": 1`} {
		if err != nil || !strings.Contains(string(config), want) {
			t.Errorf("config.json lacks %s: %v\n%s", want, err, config)
		}
	}
	model := filepath.Join(dir, "model.onnx")
	for _, more := range [][]string{args, {"export", run, "--out", model}, {"extend", run, "--budget", "90", "--backend", "go"}} {
		if stdout, stderr, status := call(t, dir, more...); status != 0 || strings.Contains(stderr, "fetching") {
			t.Errorf("%q: status %d, stdout %s, stderr\n%s", more, status, stdout, stderr)
		}
	}
	if card, err := os.ReadFile(filepath.Join(dir, "model.md")); err != nil || !strings.Contains(string(card), "apache-2.0 (of the weights that training started from, hf:who/vit)") {
		t.Errorf("the card says %s (%v)", card, err)
	}
	if _, stderr, status := call(t, dir, "train", "--target", "photo", "--net", "hf:vit"); status == 0 || !strings.Contains(stderr, "--net: hf:vit: want hf:OWNER/NAME") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, stderr %s", status, stderr)
	}
}
