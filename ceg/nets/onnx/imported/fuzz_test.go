package imported

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzOpen looks for bytes that the reader crashes on: in opening, in mending for the Go backend and in writing for
// ONNX Runtime. Its seeds are exports of PyTorch. An error is one line that names the file.
func FuzzOpen(f *testing.F) {
	for _, pattern := range []string{"testdata/*.onnx", "testdata/train/*.onnx"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, output := range []string{"", "tokens"} {
				f.Add(b, output)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, output string) {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, output, "")
		if err == nil {
			if _, err := parse(n.source()); err != nil {
				t.Errorf("what ONNX Runtime gets is not a network: %v", err)
			}
			n.graph.learning()
			if err = n.mend(); err == nil {
				if _, err := parse(n.graph.encode()); err != nil {
					t.Errorf("what Go gets is not a network: %v", err)
				}
				return
			}
			err = &os.PathError{Op: "mend", Path: path, Err: err}
		}
		if text := err.Error(); !strings.Contains(text, "n.onnx") {
			t.Errorf("the error does not name the file: %s", text)
		}
	})
}
