package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub/hubtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// serveHub serves files of testdata, or given contents, by their names in the repository.
func serveHub(t *testing.T, files map[string]string) *int {
	t.Helper()
	contents := map[string][]byte{}
	for name, file := range files {
		b, err := os.ReadFile(filepath.Join("../../nets/onnx/imported/testdata", file))
		if err != nil {
			b = []byte(file)
		}
		contents[name] = b
	}
	return hubtest.Hub(t, contents)
}

// A network of the hub comes with its weights, its images' description and its licence, once.
func TestHub(t *testing.T) {
	const images = `{"size": 32, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]}`
	requests := serveHub(t, map[string]string{
		"onnx/model.onnx": "outside.onnx", "onnx/outside.bin": "outside.bin", "preprocessor_config.json": images,
		"README.md": "", "onnx/model_fp16.onnx": "half.onnx",
	})
	var messages []string
	dir, say := t.TempDir(), func(s string) { messages = append(messages, s) }
	f := fatal.Get(FetchNetwork(t.Context(), "hf:who/vit", dir, false, say))(t)
	if f.Name != "who/vit@0123456" || f.Repository != "who/vit" || f.Commit != hubtest.Commit || f.Licence != "apache-2.0" || len(messages) != 2 || !strings.Contains(messages[0], "licence apache-2.0") || !strings.Contains(messages[1], "weights") {
		t.Errorf("got %+v, said %q", f, messages)
	}
	if _, size, r, err := preprocess.Read(f.Path); err != nil || size != 32 || r.Mean[0] != 0.5 {
		t.Errorf("images of %d, %+v, %v", size, r, err)
	}
	for _, beside := range []string{"outside.bin", "model_fp16.onnx"} {
		info, err := os.Lstat(filepath.Join(filepath.Dir(f.Path), beside))
		if wanted := beside == "outside.bin"; wanted != (err == nil) || wanted && !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", beside, info, err)
		}
	}
	if _, err := imported.Open(f.Path, "pooled", ""); err != nil {
		t.Error(err)
	}
	*requests = 0
	again, err := FetchNetwork(t.Context(), "hf:who/vit", dir, false, say)
	if err != nil || again != f || *requests != 0 || len(messages) != 2 {
		t.Errorf("again: %+v, %v, %d requests", again, err, *requests)
	}
	for name, want := range map[string]string{
		"hf:vit":         "want hf:OWNER/NAME",
		"hf:../x":        "want hf:OWNER/NAME",
		"hf:who/other":   "hf:who/other: ",
		"hf:who/vit@x/y": "want hf:OWNER/NAME",
	} {
		if _, err := FetchNetwork(t.Context(), name, dir, false, say); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, want)
		}
	}
}

// A repository without a network says what it has instead.
func TestHubWithout(t *testing.T) {
	serveHub(t, map[string]string{"onnx/text_model.onnx": "vit.onnx"})
	_, err := FetchNetwork(t.Context(), "hf:who/vit", t.TempDir(), false, nil)
	fatal.Says(t, err, "hf:who/vit: it has none of onnx/vision_model.onnx")
	fatal.Says(t, err, "; there is onnx/text_model.onnx: name")
}
