package engine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// stdoutSwap guards the moments in which os.Stdout points elsewhere.
var stdoutSwap sync.Mutex

// withoutStdout runs f while os.Stdout is replaced by to.
//
// GoMLX's backend and installer print to standard output from inside library calls, which would corrupt a program
// whose standard output is data. Another goroutine that prints during f is redirected too: open a backend before
// starting the goroutines that print.
func withoutStdout(to *os.File, f func()) {
	stdoutSwap.Lock()
	defer stdoutSwap.Unlock()
	saved := os.Stdout
	os.Stdout = to
	defer func() { os.Stdout = saved }()
	f()
}

// openGo opens the pure-Go backend. The reason, if any, ends its description.
func openGo(options []string, reason string) (Backend, error) {
	c, notice, err := newGo(options)
	if err != nil {
		return Backend{}, err
	}
	notice = join(notice, SlowBuild())
	description := "backend go: pure Go"
	if len(options) > 0 {
		description += " (" + strings.Join(options, ",") + ")"
	}
	if reason != "" {
		description += ", " + reason
	}
	return Backend{
		Compute:     c,
		Name:        "go",
		Description: description,
		Notice:      notice,
		Kind:        Go,
		Settings:    Settings{Backend: "go", Hardware: goHardware(os.Environ())},
	}, nil
}

// SlowBuild returns a sentence if this program was built without the Go backend's vector
// kernels, with the build command that enables them, and "" otherwise. On amd64 a training step
// then takes 8.5 times as long (smallcnn of width 64 at 32 pixels, two cores with AVX-512); on
// arm64 this was not measured.
func SlowBuild() string {
	slow := map[string]string{"amd64": "takes 8 times as long", "arm64": "computes without vectors"}[runtime.GOARCH]
	if builtWithSIMD || slow == "" {
		return ""
	}
	return "built without GOEXPERIMENT=simd, so the Go backend " + slow + ": " +
		"build it again with `GOEXPERIMENT=simd go build -o bin/ledg ./scripts/ledg` (or `GOEXPERIMENT=simd go install ...`)"
}

// join puts two optional sentences into one line.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// inOrder are the Go backend's options for a graph that has one core to itself; see goOptions.
var inOrder = []string{"parallelism=-1", "ops_sequential", "creation_order"}

// goOptions completes the options of GoMLX's pure-Go backend ("ops_sequential", "parallelism=8",
// ...; may be empty) for a number of cores, and returns a notice about a dangerous option.
//
// By default it runs with parallelism=-1. With a limit, graph nodes and the workers inside a
// large matrix product share one pool of slots. Once nodes hold all slots, each waits for one in
// workerspool.(*Pool).Saturate. The default mode of compute v0.1.3, with 2 x GOMAXPROCS slots,
// deadlocked this way. In v0.1.14 a graph's executors leave a slot free (executeParallel), and
// these cases work; for concurrent or nested graphs a free slot is not guaranteed. Unlimited
// parallelism never waits for a slot; ops_sequential is safe too, at about half the speed of two
// cores.
//
// On one core and without options a graph runs in the order of its construction (ops_sequential
// and creation_order), which has better cache locality than a queue of ready nodes. Results are
// identical, bit by bit. A training step takes a tenth less (CEG on smallcnn of width 64 or
// resnet18 of width 16), DDAIG's a fifth.
func goOptions(requested []string, cores int) (options []string, notice string) {
	safe := false
	for _, o := range requested {
		switch key, value, _ := strings.Cut(o, "="); key {
		case "parallelism":
			if value != "0" && !strings.HasPrefix(value, "-") {
				notice = fmt.Sprintf("the Go backend can deadlock with %s; leave it out for parallelism=-1, which cannot", o)
			}
			safe = true
		case "ops_sequential":
			safe = true
		}
	}
	if len(requested) == 0 && cores == 1 {
		return inOrder, ""
	}
	if !safe {
		options = []string{"parallelism=-1"}
	}
	return append(options, requested...), notice
}

// newGo makes GoMLX's pure-Go backend; see goOptions.
func newGo(requested []string) (backend compute.Backend, notice string, err error) {
	options, notice := goOptions(requested, runtime.GOMAXPROCS(0))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, "", fmt.Errorf("opening the Go backend quietly: %w", err)
	}
	defer null.Close()
	notice = join(notice, mapAhead())
	withoutStdout(null, func() { backend, err = gobackend.New(strings.Join(options, ",")) })
	if err != nil {
		return nil, "", fmt.Errorf("opening the Go backend with options %q: %w", options, err)
	}
	return backend, notice, nil
}
