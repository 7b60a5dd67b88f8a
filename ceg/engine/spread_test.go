package engine_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
)

// Jobs that name options or a device share what they name. Jobs on Go that take all cores compute
// operations in order, and every backend that they open can be opened.
func TestSpreadOfOne(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	cores := runtime.GOMAXPROCS(0)
	inOrder := "go:parallelism=-1,ops_sequential,creation_order"
	for _, test := range []struct {
		spec string
		jobs int
		want string
	}{
		{"xla:cuda,device=1", 3, "xla:cuda,device=1"},
		{"go:ops_parallel", cores + 1, "go:ops_parallel"},
		{"go", 1, "go"},
		{"go", cores + 1, inOrder},
		{"go", cores + 2, inOrder},
	} {
		got, err := engine.Spread(test.spec, test.jobs)
		if want := slices.Repeat([]string{test.want}, test.jobs); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d jobs on %s: got %v, %v", test.jobs, test.spec, got, err)
		}
	}
	b, err := engine.Open(inOrder)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	if _, err := engine.Spread("metal", 2); err == nil || !strings.Contains(err.Error(), `"metal"`) {
		t.Errorf("got error %v", err)
	}
}
