package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// normal is a stream of normally distributed float32.
type normal struct {
	r     *rand.Rand
	scale float64
}

func (n normal) Read(p []byte) (int, error) {
	p = p[:len(p)/4*4]
	for i := 0; i < len(p); i += 4 {
		binary.LittleEndian.PutUint32(p[i:], math.Float32bits(float32(n.scale*n.r.NormFloat64())))
	}
	return len(p), nil
}

// largePool writes a pool of rows x 64 features, 7 classes and 3 domains, and 500 labelled
// samples.
func largePool(t *testing.T, path string, rows int) {
	t.Helper()
	const labelled, dim, classes, domains = 500, 64, 7, 3
	stream := func(seed uint64, scale float64) io.Reader {
		return bufio.NewReaderSize(normal{rand.New(rand.NewPCG(seed, 1)), scale}, 1<<16)
	}
	cycle := func(n, of int) (b []byte) {
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(i%of))
		}
		return b
	}
	f := fatal.Get(os.Create(path))(t)
	defer f.Close()
	fatal.If(t, safetensors.Write(f, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{rows, dim}, From: stream(1, 1)},
		{Name: "class_logits", DType: safetensors.Float32, Shape: []int{rows, classes}, From: stream(2, 3)},
		{Name: "domain_logits", DType: safetensors.Float32, Shape: []int{rows, domains}, From: stream(3, 3)},
		{Name: "domains", DType: safetensors.Int32, Shape: []int{rows}, Data: cycle(rows, domains)},
		{Name: "labelled_features", DType: safetensors.Float32, Shape: []int{labelled, dim}, From: stream(4, 1)},
		{Name: "labelled_labels", DType: safetensors.Int32, Shape: []int{labelled}, Data: cycle(labelled, classes)},
		{Name: "labelled_domains", DType: safetensors.Int32, Shape: []int{labelled}, Data: cycle(labelled, domains)},
	}, nil))
}

// A query of a pool of LEDG_ROWS rows, 3 GB for ten million, stays below 4 GB of memory; it prints
// the time and the memory of each:
//
//	LEDG_ROWS=10000000 go test ./scripts/ledg -run TestQueryLarge -v -timeout 30m
func TestQueryLarge(t *testing.T) {
	rows, _ := strconv.Atoi(os.Getenv("LEDG_ROWS"))
	if rows < 1000 {
		t.Skip("LEDG_ROWS is not set: the number of rows, such as 10000000")
	}
	dir := t.TempDir()
	pool := filepath.Join(dir, "pool.safetensors")
	largePool(t, pool, rows)
	for _, strategy := range []string{"ceg", "ceg-balanced", "bvsb", "entropy", "confidence", "uniform"} {
		cmd := exec.Command(ledg, "query", "--pool", pool, "-n", "100", "--strategy", strategy)
		start := time.Now()
		out, err := cmd.Output()
		if err != nil || strings.Count(string(out), "\n") != 100 {
			t.Fatalf("%s: %v, %d lines", strategy, err, strings.Count(string(out), "\n"))
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
		t.Logf("%-12s %6.1f s, %.2f GB", strategy, time.Since(start).Seconds(), float64(peak)/1e9)
		if peak > 4e9 {
			t.Errorf("%s: %d bytes of memory", strategy, peak)
		}
	}
}
