package page

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/labels/review"
	"github.com/ledg-go/ledg/internal/fatal"
)

// Near-duplicates are found once for equal features, also by another server in another folder.
func TestCachedPairs(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	want, found := []review.Pair{{A: 0, B: 2, Distance: 0.01}}, 0
	look := func(features ...float32) {
		t.Helper()
		m := head.Matrix{Rows: 3, Cols: 1, Stride: 1, Data: features}
		list, err := cachedPairs(m, func() ([]review.Pair, error) { found++; return want, nil })
		if err != nil || !reflect.DeepEqual(list, want) {
			t.Errorf("%v, %v", list, err)
		}
	}
	look(1, 2, 1)
	t.Chdir(t.TempDir())
	if look(1, 2, 1); found != 1 {
		t.Errorf("found %d times, want once", found)
	}
	if look(1, 2, 3); found != 2 {
		t.Errorf("of other features found %d times, want twice", found)
	}
	files, err := filepath.Glob(filepath.Join(cache, "ledg", "label", "*.pairs"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		fatal.If(t, os.WriteFile(file, []byte(`[{"A":0,"B":3}]`), 0o666))
	}
	if look(1, 2, 1); found != 3 {
		t.Errorf("with a file of another data set found %d times, want three", found)
	}
}
