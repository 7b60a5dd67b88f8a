package engine

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
)

// parallelProducts executes runs times a graph of independent matrix products, each large enough to ask the backend
// for more workers.
func parallelProducts(b compute.Backend, products, size, runs int) error {
	exec, err := graph.NewExec(b, func(x *graph.Node) *graph.Node {
		var sum *graph.Node
		for i := range products {
			y := graph.ReduceAllSum(graph.Dot(graph.MulScalar(x, float64(i+1)), x).Product())
			if sum == nil {
				sum = y
			} else {
				sum = graph.Add(sum, y)
			}
		}
		return sum
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	x := make([][]float32, size)
	for i := range x {
		x[i] = make([]float32, size)
	}
	for range runs {
		if _, err := exec.Call(x); err != nil {
			return err
		}
	}
	return nil
}

// TestGoDoesNotDeadlock executes, some hundred times, what hung within the first few runs when the backend was opened
// with its own defaults (gobackend.New("") of compute v0.1.3 on 2 cores: 5 of 5 times; v0.1.14: not in 60 runs).
func TestGoDoesNotDeadlock(t *testing.T) {
	b, err := Open("go")
	if err != nil {
		t.Fatal(err)
	}
	runs := 120
	if testing.Short() {
		runs = 30
	}
	done := make(chan error, 1)
	go func() { done <- parallelProducts(b.Compute, 12, 256, runs) }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
	case <-time.After(2 * time.Minute):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the Go backend hangs:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
}

func TestOpenGoPrintsNothing(t *testing.T) {
	saved := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	b, err := Open("go")
	os.Stdout = saved
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if out, _ := io.ReadAll(r); len(out) != 0 {
		t.Errorf("Open printed %q to standard output", out)
	}
	if got := b.Compute.Description(); !strings.Contains(got, "parallelism=-1") {
		t.Errorf("backend %q: want parallelism=-1", got)
	}
	if b.Name != "go" || b.Kind != Go {
		t.Errorf("got Name %q, Kind %v", b.Name, b.Kind)
	}
	if slow := strings.Contains(b.Notice, "GOEXPERIMENT=simd"); slow != (!builtWithSIMD && slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)) {
		t.Errorf("notice %q, built with SIMD %v", b.Notice, builtWithSIMD)
	}
}

func TestOpenGoOptions(t *testing.T) {
	for _, test := range []struct {
		spec, backend, notice, err string
	}{
		{spec: "go:ops_sequential", backend: "parallelism="},
		{spec: "go:parallelism=8", backend: "parallelism=8", notice: "can deadlock with parallelism=8"},
		{spec: "go:parallelism=0", backend: "parallelism=0"},
		{spec: "go:parallelism=many", err: "many"},
		{spec: "go:turbo", err: "turbo"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			b, err := Open(test.spec)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want one that names %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if got := b.Compute.Description(); !strings.Contains(got, test.backend) {
				t.Errorf("got %q, want %q in it", got, test.backend)
			}
			if !strings.Contains(b.Notice, test.notice) {
				t.Errorf("got notice %q, want %q in it", b.Notice, test.notice)
			}
		})
	}
}

// On one core a graph runs in the order of its making, unless options say how.
func TestGoOptionsOnOneCore(t *testing.T) {
	for _, test := range []struct {
		requested string
		cores     int
		want      string
	}{
		{"", 1, "parallelism=-1,ops_sequential,creation_order"},
		{"", 2, "parallelism=-1"},
		{"ops_parallel", 1, "parallelism=-1,ops_parallel"},
		{"ops_sequential", 1, "ops_sequential"},
		{"parallelism=-1", 1, "parallelism=-1"},
	} {
		var requested []string
		if test.requested != "" {
			requested = strings.Split(test.requested, ",")
		}
		options, _ := goOptions(requested, test.cores)
		if got := strings.Join(options, ","); got != test.want {
			t.Errorf("%q on %d cores: got %q, want %q", test.requested, test.cores, got, test.want)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	Backend{}.Close()
	b, err := Open("go")
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	b.Close()
}
