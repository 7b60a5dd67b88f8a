package imported

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hubServer speaks the hub's protocol for one repository, and counts requests.
func hubServer(t *testing.T, files map[string]string) *int {
	t.Helper()
	const sha = "0123456789abcdef0123456789abcdef01234567"
	asked := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		path := r.URL.Path
		if strings.HasPrefix(path, "/api/models/who/vit/revision/") {
			var list []string
			for name := range files {
				list = append(list, fmt.Sprintf(`{"rfilename": %q}`, name))
			}
			fmt.Fprintf(w, `{"id": "who/vit", "sha": %q, "siblings": [%s], "cardData": {"license": "apache-2.0"}}`, sha, strings.Join(list, ","))
			return
		}
		name, found := strings.CutPrefix(path, "/who/vit/resolve/"+sha+"/")
		file, ok := files[name]
		if !found || !ok {
			http.NotFound(w, r)
			return
		}
		b, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			b = []byte(file)
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", strings.ReplaceAll(name, "/", "-")))
		w.Header().Set("X-Repo-Commit", sha)
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(string(b)))
	}))
	t.Cleanup(s.Close)
	t.Setenv("HF_ENDPOINT", s.URL)
	return asked
}

// A network of the hub comes with its weights, its images' description and its licence, once.
func TestHub(t *testing.T) {
	const images = `{"size": 32, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]}`
	asked := hubServer(t, map[string]string{
		"onnx/model.onnx": "outside.onnx", "onnx/outside.bin": "outside.bin", "preprocessor_config.json": images,
		"README.md": "", "onnx/model_fp16.onnx": "half.onnx",
	})
	var said []string
	h := Hub{Dir: t.TempDir(), Say: func(s string) { said = append(said, s) }}
	f, err := h.Fetch(t.Context(), "hf:who/vit")
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "who/vit@0123456" || f.Licence != "apache-2.0" || len(said) != 1 || !strings.Contains(said[0], "licence apache-2.0") {
		t.Errorf("got %+v, said %q", f, said)
	}
	if _, size, r, err := ReadPreprocessor(f.Path); err != nil || size != 32 || r.Mean[0] != 0.5 {
		t.Errorf("images of %d, %+v, %v", size, r, err)
	}
	for _, beside := range []string{"outside.bin", "model_fp16.onnx"} {
		info, err := os.Lstat(filepath.Join(filepath.Dir(f.Path), beside))
		if wanted := beside == "outside.bin"; wanted != (err == nil) || wanted && !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", beside, info, err)
		}
	}
	if _, err := Open(f.Path, "pooled", ""); err != nil {
		t.Error(err)
	}
	*asked = 0
	again, err := h.Fetch(t.Context(), "hf:who/vit")
	if err != nil || again != f || *asked != 0 || len(said) != 1 {
		t.Errorf("again: %+v, %v, %d requests", again, err, *asked)
	}
	for name, want := range map[string]string{
		"hf:vit":         "want hf:OWNER/NAME",
		"hf:../x":        "want hf:OWNER/NAME",
		"hf:who/other":   "hf:who/other: ",
		"hf:who/vit@x/y": "want hf:OWNER/NAME",
	} {
		if _, err := h.Fetch(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, want)
		}
	}
}

// A repository without a network says what it has instead.
func TestHubWithout(t *testing.T) {
	hubServer(t, map[string]string{"onnx/text_model.onnx": "vit.onnx"})
	_, err := Hub{Dir: t.TempDir()}.Fetch(t.Context(), "hf:who/vit")
	if err == nil || !strings.Contains(err.Error(), "hf:who/vit: it has neither model.onnx nor onnx/model.onnx, but onnx/text_model.onnx") {
		t.Errorf("got %v", err)
	}
}
