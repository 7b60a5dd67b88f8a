package imported

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/weights"
)

// TestStepOfNetworks holds a step of the networks in the folder LEDG_NETWORKS against PyTorch's in
// float64, which scripts/lab/yardstick/gradients.py has written there.
func TestStepOfNetworks(t *testing.T) {
	dir := os.Getenv("LEDG_NETWORKS")
	if dir == "" {
		t.Skip("set LEDG_NETWORKS to a folder that scripts/lab/yardstick/gradients.py has written")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .safetensors in %s (%v)", dir, err)
	}
	on := backend(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".safetensors")
		t.Run(name, func(t *testing.T) {
			want, size, images, near := stepFile(t, file)
			n, err := OpenTrainable(strings.TrimSuffix(file, ".safetensors")+".onnx", "", "", "", size)
			if err != nil {
				t.Fatal(err)
			}
			got := stepOn(t, on, n, images, size)
			without := 0
			for k := range got.gradients {
				if want.gradients[k] == nil {
					without++
				}
			}
			f, _ := furthest(map[string][]float32{"": got.features}, map[string][]float32{"": want.features}, 0)
			g, whose := furthest(got.gradients, want.gradients, 1e-2)
			r, _ := furthest(got.running, want.running, 1e-2)
			t.Logf("features %.1e, %d gradients %.1e (%s; PyTorch's float32 %.1e, its float64 of images that were moved %.1e), %d statistics %.1e, %d gradients without counterpart",
				f, len(want.gradients), g, whose, near[0], near[1], len(want.running), r, without)
			if limit := max(1e-3, 1.5*near[0], 1.1*near[1]); !(f <= 1e-3 && g <= limit && r <= 1e-3) {
				t.Errorf("features or statistics above 1e-3, or gradients above %.1e", limit)
			}
		})
	}
}

// furthest is the largest difference of a tensor, as a share of its largest value or of a share of
// that of all, and whose it is.
func furthest(got, want map[string][]float32, share float64) (d float64, whose string) {
	most := map[string]float64{}
	all := 0.0
	for k, w := range want {
		for _, v := range w {
			most[k] = max(most[k], math.Abs(float64(v)))
		}
		all = max(all, most[k])
	}
	for k, w := range want {
		if len(got[k]) != len(w) {
			return math.Inf(1), fmt.Sprintf("%s has %d values, not %d", k, len(got[k]), len(w))
		}
		for i, v := range w {
			if e := math.Abs(float64(got[k][i]-v)) / max(most[k], share*all); !(e <= d) {
				d, whose = e, k
			}
		}
	}
	return d, whose
}

// stepFile reads what gradients.py writes; near is how far PyTorch's own gradients move.
func stepFile(t *testing.T, path string) (want stepped, size int, images []byte, near [2]float64) {
	t.Helper()
	f, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"float32", "moved"} {
		if _, err := fmt.Sscan(f.Metadata[key], &near[i]); err != nil {
			t.Fatalf("%s: %s is %q: %v", path, key, f.Metadata[key], err)
		}
	}
	want.gradients, want.running = map[string][]float32{}, map[string][]float32{}
	for _, x := range f.Tensors {
		kind, name, _ := strings.Cut(x.Name, "/")
		if kind == "images" {
			size, images = x.Shape[1], x.Data
			continue
		}
		v, err := x.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "features":
			want.features = v
		case "gradient":
			want.gradients[name] = v
		case "running":
			want.running[name] = v
		}
	}
	if images == nil || want.features == nil || len(want.gradients) == 0 {
		t.Fatalf("%s has no images, features or gradients", path)
	}
	return want, size, images, near
}
