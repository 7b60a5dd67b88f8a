package imported

import (
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
)

// A network with values of the fifth power of the batch is refused, and one of the trained ones is not.
func TestGrows(t *testing.T) {
	for file, want := range map[string]string{"grows.onnx": "grow faster than the number of images", "train/small.onnx": "", "train/vit.onnx": ""} {
		n, err := Open("testdata/"+file, "", "")
		if err != nil {
			t.Fatal(err)
		}
		trainable, err := OpenTrainable(n.Path, "", "", "", max(n.Size, 32))
		if err != nil {
			t.Fatal(err)
		}
		if err := trainable.grows(backend(t)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Where onnx-gomlx crashes, the error names the operation.
func TestCrashNamesTheOperation(t *testing.T) {
	defer func(n int) { graph.MinConstValueSizeToKeep = n }(graph.MinConstValueSizeToKeep)
	graph.MinConstValueSizeToKeep = 2
	path := scaled(t, []float32{1, 2, 3}, of("e", 1, 3, 1, 1), do("Pow", "z", []string{"x", "e"}))
	n, err := Open(path, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onGo(t)(n, plain); err == nil || !strings.Contains(err.Error(), "net.onnx: operation Pow") {
		t.Errorf("error %v", err)
	}
}
